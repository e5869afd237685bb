"""Model files: `model.save(path)` and `pygeco.load(path)`.

A model is its settings and its fitted attributes. Both become a tree of plain values; arrays go
beside it (see `container`). Only the kinds of object named here are written, and only they are
made again, and losses of the program's own (see `losses.references`): loading runs no other code.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy
import scipy.sparse as sp

from pygeco import losses
from pygeco.algorithm.certificates import Certificate
from pygeco.algorithm.directions import Lanczos, Power, Signs
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Schatten, Trace
from pygeco.algorithm.solver import Solver
from pygeco.arrays.container import Blocks, Contents, Texts, read, read_tree, write
from pygeco.arrays.kinds import foreign, host
from pygeco.arrays.low_rank import LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.average import Average, Draw
from pygeco.bayes.effects import Effect
from pygeco.bayes.evidence import Stage
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.errors import ModelFileError
from pygeco.io.model_checks import Check, Sizes, array, check_attributes, check_types
from pygeco.losses.references import loss_at, reference_of
from pygeco.losses.weighted_squares import Weighing
from pygeco.models.seen import Seen
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

T = TypeVar("T")

_RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Average, AttributeValues, Biases, Certificate, Draw, Effect, Gaussian, Lanczos, LowRank),
        *(Path, Posterior, Power),
        *(Schatten, Seen, Side, Signs, Solver, Stage, Step, Trace, Weighing, losses.Multinomial),
        *losses.LOSSES.values(),
    )
}
_MODELS: dict[str, type[Any]] = {}
_SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}
# Parameters that are functions of the caller's, or where a model was: a file does not keep them.
_DROPPED = ("callback", "observer", "engine")


class Saveable:
    """An estimator that can be written to a file. `pygeco.load(path)` reads it."""

    # The checks of its fitted attributes, in order, and those of them that a file may lack.
    _contents: ClassVar[dict[str, Check]] = {}
    _may_lack: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if cls.__module__.split(".")[0] == "pygeco" and not cls.__name__.startswith("_"):
            _MODELS[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Write the model to one file, whole or not at all; an existing file is replaced.

        It keeps the settings (but for `callback`, `observer`, `engine`, and a `random_state` that
        is not an integer), everything that was fitted, ids, path and versions.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        estimator
            Itself.
        """
        save(self, path)
        return self

    def fitted_attributes(self) -> dict[str, Any]:
        """Gather what a file keeps besides the settings.

        Returns
        -------
        dict
            By name.
        """
        settings = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in settings}

    def _restore(self, fitted: dict[str, Any]) -> None:
        """Take over what a file kept, once it has been checked."""
        for name, value in fitted.items():
            setattr(self, name, value)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; see `Saveable.save`."""
    kind = type(model).__name__
    if _MODELS.get(kind) is not type(model):
        raise TypeError(f"model: only pygeco's own estimators can be saved, not {kind}.")
    arrays: list[Any] = []
    encoder = Encoder(arrays)
    params = {name: _setting(name, it) for name, it in model.get_params(deep=False).items()}
    state = model.fitted_attributes()
    if not state:
        raise ValueError("model: is not fitted, so there is nothing to save; call fit first.")
    tree = {
        "model": kind,
        "versions": _versions(),
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": encoder.mapping(params),
        "fitted": encoder.mapping(state),
    }
    write(path, tree, arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read the model that `save` wrote, with the same predictions to the last bit.

    A file that is cut short, damaged, foreign or too new raises `ModelFileError`, and so does one
    whose parts do not fit each other.

    Parameters
    ----------
    path : path
        Of the file.
    mmap : bool, default=False
        Leave the arrays in the file and read them when used, so that loading takes no time, and
        processes that serve one model share its memory; checksums of the arrays are then not
        compared, and of the arrays only shapes and kinds are checked.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Examples
    --------
    >>> import tempfile, pathlib, pygeco
    >>> from pygeco.data import make_ratings
    >>> model = pygeco.MatrixCompletion(random_state=0).fit(make_ratings((20, 15), 120))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "ratings.model"
    ...     again = pygeco.load(model.save(file) and file)
    >>> bool(again.predict([3], [4]) == model.predict([3], [4]))
    True
    """
    contents = read(path, mapped=mmap)
    name = os.fspath(path)
    tree = contents.tree
    kind = tree.get("model") if isinstance(tree, dict) else None
    if kind not in _MODELS:
        raise ModelFileError(f"{name} holds no model that this pygeco knows, but {kind!r}.")

    def build() -> Any:
        decode = Decoder(contents)
        settings = decode.mapping(tree["settings"])
        check_types(_MODELS[kind].__init__, settings)
        if not isinstance(settings.get("random_state"), int | None):
            raise ValueError("random_state is no integer")
        model = _MODELS[kind](**settings)
        fitted = decode.mapping(tree["fitted"])
        check_attributes(fitted, model._contents, model._may_lack, thorough=not mmap)
        model._restore(fitted)
        return model

    return _guarded(name, build)


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read kind, versions and time of a model file, from its header alone.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    dict
        With the keys "model", "versions" and "saved".
    """
    tree = read_tree(path)
    if not isinstance(tree, dict) or tree.get("model") not in _MODELS:
        raise ModelFileError(f"{os.fspath(path)} holds no model that this pygeco knows.")
    return {name: tree.get(name) for name in ("model", "versions", "saved")}


def save_record(value: Any, path: str | os.PathLike[str]) -> None:
    """Any value that a model may hold, alone in a file."""
    arrays: list[Any] = []
    write(path, {"record": Encoder(arrays)(value)}, arrays)


def load_record(path: str | os.PathLike[str]) -> Any:
    """What `save_record` wrote."""
    contents = read(path)
    return _guarded(os.fspath(path), lambda: Decoder(contents)(contents.tree["record"]))


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
        if sp.issparse(value) and value.format in _SPARSE:
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
            "loss": lambda: loss_at(**self.mapping(content)),
        }
        if tag in readers:
            return readers[tag]()
        if tag in _SPARSE:
            return self._sparse(tag, value)
        fields_of = self.mapping(content)
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
        matrix = _SPARSE[tag](inner, shape=tuple(value["shape"]))
        if tag != "coo":
            matrix.check_format()
        return matrix


def _guarded(name: str, build: Callable[[], T]) -> T:
    """The result, or one sentence about a file whose header lies."""
    try:
        return build()
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"its description makes no sense ({error})"
        raise ModelFileError(f"{name} is damaged: {what}; take another copy.") from error
    except RecursionError as error:
        raise ModelFileError(f"{name} is damaged: its description has no end.") from error


def _parts(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return dict(value._asdict())


def _setting(name: str, value: Any) -> Any:
    if name in _DROPPED:
        return None
    if name == "random_state" and not isinstance(value, (int, np.integer)):
        return None
    return value


def _versions() -> dict[str, str]:
    return {
        "pygeco": version("pygeco"),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
