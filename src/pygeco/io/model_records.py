"""Values of a model as a tree of plain ones, with arrays beside it, and back.

Only the kinds of object named here are written, and only they are made again, and losses of the
program's own (see `losses.references`): reading runs no other code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy  # its parts are imported when used

from pygeco import losses
from pygeco.algorithm.certificates import Certificate
from pygeco.algorithm.directions import Lanczos, Power, Signs
from pygeco.algorithm.events import ClickTrial
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Schatten, Trace
from pygeco.algorithm.solver import Solver
from pygeco.arrays.container import Blocks, Contents, Texts
from pygeco.arrays.kinds import foreign, host
from pygeco.arrays.low_rank import LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.average import Average, Draw
from pygeco.bayes.column_codes import NumberCode, ValueCode
from pygeco.bayes.drift import Drift, PeriodOffsets
from pygeco.bayes.effects import Effect
from pygeco.bayes.likelihoods.counts import Counts
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.levels import Levels
from pygeco.bayes.mixed_table import MixedTable
from pygeco.bayes.periods import Periods
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.stages import Stage
from pygeco.bayes.table_gaussian import TableGaussian
from pygeco.clicks.attributes import AttributeMap
from pygeco.clicks.lines import SpectralPart, SquaresPart
from pygeco.clicks.settings import AttributeSettings, SpectralSettings, SquaresSettings
from pygeco.io.column_kinds import Columns
from pygeco.io.model_checks import Sizes, array, check_types
from pygeco.io.typed_columns import Field
from pygeco.losses.references import loss_at, reference_of
from pygeco.losses.weighted_squares import Weighing
from pygeco.models.list_scores import ListWeights
from pygeco.models.seen import Seen
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

_RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Average, AttributeValues, Biases, Certificate, Draw, Effect, Gaussian, Lanczos, LowRank),
        *(Counts, Labels, Levels),
        *(Drift, ListWeights, Path, PeriodOffsets, Periods, Posterior, Power),
        *(Columns, Field, MixedTable, NumberCode, TableGaussian, ValueCode),
        *(ClickTrial, SpectralPart, SpectralSettings, SquaresPart, SquaresSettings),
        *(AttributeMap, AttributeSettings),
        *(Schatten, Seen, Side, Signs, Solver, Stage, Step, Trace, Weighing, losses.Multinomial),
        *losses.LOSSES.values(),
    )
}
# What fields were called in files of earlier versions.
_RENAMED = {
    ("Solver", "tolerance"): "tol",
    ("Signs", "tolerance"): "tol",
    ("Gaussian", "centre"): "center",
    **{(name, "iterations"): "max_iter" for name in ("Lanczos", "Power", "Signs")},
}
_SPARSE = {"csr": "csr_array", "csc": "csc_array", "coo": "coo_array"}  # of scipy.sparse


class Encoder:
    """Values to plain JSON; arrays go to a list, each once."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.seen: dict[int, int] = {}

    def mapping(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self._named(name, value) for name, value in values.items()}

    def _named(self, name: str, value: Any) -> Any:
        try:
            return self(value)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None

    def __call__(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, (int, np.integer)):
            return int(value)
        if isinstance(value, (float, np.floating)):
            return float(value) if np.isfinite(value) else {"$": "float", "is": str(float(value))}
        if isinstance(value, Blocks):
            return self._kept(value)
        if isinstance(value, Texts):
            ends, joined = (self._kept(part) for part in value)
            return _text(ends, joined, value.ends.shape, np.dtype(object))
        if isinstance(value, np.ndarray) or foreign(value):
            return self._array(host(value))
        if isinstance(value, Stop):
            return {"$": "Stop", "is": value.name}
        if scipy.sparse.issparse(value) and value.format in _SPARSE:
            return self._sparse(value)
        return self._compound(value)

    def _compound(self, value: Any) -> Any:
        kind = type(value)
        if _RECORDS.get(kind.__name__) is kind:
            return {"$": kind.__name__, "is": self.mapping(_parts(value))}
        if kind is list:
            return [self(item) for item in value]
        if kind is tuple:
            return {"$": "tuple", "is": [self(item) for item in value]}
        if kind is dict and all(isinstance(key, str) for key in value):
            return {"$": "dict", "is": self.mapping(value)}
        if kind is dict:
            return {"$": "pairs", "is": [[self(key), self(item)] for key, item in value.items()]}
        if isinstance(value, losses.Loss):
            return {"$": "loss", "is": self.mapping(reference_of(value)._asdict())}
        raise TypeError(f"a {kind.__name__} cannot be kept in a model file.")

    def _array(self, value: Any) -> Any:
        return self._texts(value) if value.dtype.kind in "OU" else self._kept(value)

    def _kept(self, value: Any) -> Any:
        if id(value) not in self.seen:
            self.seen[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {"$": "array", "is": self.seen[id(value)]}

    def _texts(self, value: Any) -> Any:
        """Strings one after the other, and where each ends."""
        if not all(isinstance(item, str) for item in value.flat):
            raise TypeError("an array of objects other than text cannot be kept in a model file.")
        raw = [item.encode() for item in value.flat]
        ends = np.cumsum([len(item) for item in raw], dtype=np.int64)
        joined = np.frombuffer(b"".join(raw), np.uint8)
        return _text(self._array(ends), self._array(joined), value.shape, value.dtype)

    def _sparse(self, value: Any) -> Any:
        parts = value.coords if value.format == "coo" else (value.indices, value.indptr)
        arrays = [self._array(part) for part in (value.data, *parts)]
        return {"$": value.format, "is": arrays, "shape": list(value.shape)}


def _text(ends: Any, joined: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return {"$": "text", "is": [ends, joined], "shape": list(shape), "kind": dtype.str}


class Decoder:
    """The way back, from known tags to known kinds."""

    def __init__(self, contents: Contents) -> None:
        self.arrays = contents.arrays

    def mapping(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self(value) for name, value in values.items()}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag, content = value["$"], value["is"]
        readers: dict[str, Callable[[], Any]] = {
            "float": lambda: float(content),
            "array": lambda: self.arrays[content],
            "text": lambda: self._texts(value),
            "Stop": lambda: Stop[content],
            "tuple": lambda: tuple(self(item) for item in content),
            "dict": lambda: self.mapping(content),
            "pairs": lambda: {self(key): self(item) for key, item in content},
            "loss": lambda: loss_at(**self.mapping(content)),
        }
        if tag in readers:
            return readers[tag]()
        if tag in _SPARSE:
            return self._sparse(tag, value)
        found = self.mapping(content)
        fields_of = {_RENAMED.get((tag, name), name): value for name, value in found.items()}
        check_types(_RECORDS[tag], fields_of)
        return _RECORDS[tag](**fields_of)

    def _texts(self, value: Any) -> Any:
        ends, joined = (self(part) for part in value["is"])
        array("i", "texts")("text", ends, Sizes())
        array("u", "bytes")("text", joined, Sizes())
        raw, at, found = joined.tobytes(), 0, []
        for end in ends.tolist():
            if not at <= end <= len(raw):
                raise ValueError("text is out of order")
            found.append(raw[at:end].decode())
            at = end
        if at != len(raw):
            raise ValueError("text goes on after its end")
        # Not by the length that the file claims: it may be any.
        out = np.array(found, dtype=str if value["kind"].startswith("<U") else object)
        return out.reshape(value["shape"])

    def _sparse(self, tag: str, value: Any) -> Any:
        data, *parts = (self(part) for part in value["is"])
        for part in parts:
            array("i", "indices")(f"{tag} matrix", part, Sizes())
        inner = (data, tuple(parts)) if tag == "coo" else (data, *parts)
        matrix = getattr(scipy.sparse, _SPARSE[tag])(inner, shape=tuple(value["shape"]))
        if tag != "coo":
            matrix.check_format()
        return matrix


def _parts(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return dict(value._asdict())
