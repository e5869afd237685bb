"""Coders of attributes from plain values, as a file keeps them, checked before they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pygeco.estimators._attribute_coding import (
    Coder,
    Group,
    LevelCoder,
    MatrixCoder,
    NumberCoder,
)
from pygeco.io.model_checks import (
    Check,
    Sizes,
    array,
    check_attributes,
    check_types,
    each,
    names,
    number,
    of,
    optional,
    size,
)
from pygeco.io.model_file import Saveable

FITTED: dict[str, Check] = {
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "id_column_": optional(of(str)),
    "ids_": optional(array("OUiufMb", "m")),
    "dropped_": of(dict),
    "coders": each(list, of(dict)),
}


class _AttributeFile(Saveable, BaseEstimator):  # type: ignore[misc]
    """An encoder of attributes as settings and plain values, and again from those."""

    _contents, _may_lack = FITTED, ("feature_names_in_",)
    _coders: tuple[Coder, ...]
    groups_: tuple[Group, ...]

    def to_state(self) -> dict[str, Any]:
        """Give the settings and what was fitted, as dicts of arrays and of JSON's values.

        Returns
        -------
        dict
        """
        check_is_fitted(self)
        return {"settings": self.get_params(deep=False), "fitted": self.fitted_attributes()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make the encoder whose `to_state` this is; an error where its parts do not fit.

        Parameters
        ----------
        state : dict

        Returns
        -------
        encoder
        """
        check_types(cls.__init__, state["settings"])
        found = cls(**state["settings"])
        check_attributes(state["fitted"], FITTED, cls._may_lack, thorough=True)
        found._restore(state["fitted"])
        return found

    def fitted_attributes(self) -> dict[str, Any]:
        """Gather what a file keeps besides the settings.

        Returns
        -------
        dict
            By name.
        """
        if not self.__sklearn_is_fitted__():
            return {}
        kept = {name: getattr(self, name) for name in FITTED if hasattr(self, name)}
        return kept | {"coders": [coder.state() for coder in self._coders]}

    def _restore(self, fitted: dict[str, Any]) -> None:
        coders = read_coders(fitted)
        groups = tuple(group for coder in coders for group in coder.groups)
        parts = {name: value for name, value in fitted.items() if name != "coders"}
        super()._restore(parts | {"_coders": coders, "groups_": groups})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "groups_")


def read_coders(fitted: dict[str, Any]) -> tuple[Coder, ...]:
    """The coders among the fitted attributes of a file, if they suit each other and the rest."""
    coders = tuple(read_coder(state) for state in fitted["coders"])
    if not any(coder.groups for coder in coders):
        raise ValueError("coders have no groups")
    matrices = [coder for coder in coders if isinstance(coder, MatrixCoder)]
    if matrices and len(coders) > 1:
        raise ValueError("coders are of a matrix and of a table")
    for coder in matrices:
        total, n = sum(group.size for group in coder.groups), fitted["n_features_in_"]
        if coder.kept is None and total != n:
            raise ValueError(f"groups have {total} columns, not {n}")
        if coder.kept is not None and coder.kept.max() >= n:
            raise ValueError("kept leads out of the matrix")
    if not matrices and "feature_names_in_" not in fitted:
        raise ValueError("feature_names_in_ is missing")
    return coders


def read_coder(state: dict[str, Any]) -> Coder:
    """The coder whose `state` this is; an error where its parts do not fit each other."""
    readers: dict[str, Callable[[dict[str, Any]], Coder]] = {
        "number": _read_number,
        "levels": _read_levels,
        "matrix": _read_matrix,
    }
    parts = dict(state)
    kind = parts.pop("coder", None)
    if kind not in readers:
        raise ValueError(f"a coder of kind {kind!r} is not known")
    return readers[kind](parts)


def _check(parts: dict[str, Any], checks: dict[str, Check]) -> None:
    check_attributes(parts, checks, (), thorough=True)
    more = set(parts) - set(checks)
    if more:
        raise ValueError(f"{min(more)} is no part of a coder")


def _read_number(parts: dict[str, Any]) -> Coder:
    _check(parts, {"name": of(str), "mean": number(), "scale": number(np.finfo(float).tiny)})
    return NumberCoder(**parts)


def _read_levels(parts: dict[str, Any]) -> Coder:
    checks = {
        "name": of(str),
        "kind": of(str),
        "levels": names("levels"),
        "has_missing": of(bool),
        "average": array("f", "F"),
    }
    _check(parts, checks)
    levels, kind = parts["levels"].astype(object), parts["kind"]
    if kind not in ("category", "list"):
        raise ValueError(f"levels of kind {kind!r} are not known")
    if len(set(levels)) < len(levels):
        raise ValueError("levels repeat a level")
    if len(parts["average"]) != len(levels) + parts["has_missing"]:
        raise ValueError("average has another length than there are levels")
    return LevelCoder(**parts | {"levels": levels})


def _read_matrix(parts: dict[str, Any]) -> Coder:
    checks = {
        "groups": each(list, of(list)),
        "columns": optional(each(list, of(str))),
        "kept": optional(array("i", "F")),
        "mean": optional(array("f", "F")),
        "scale": optional(array("f", "F")),
    }
    _check(parts, checks)
    groups = tuple(_read_group(*one) for one in parts["groups"])
    columns, given = parts["columns"], [parts[name] is None for name in ("kept", "mean", "scale")]
    total = sum(group.size for group in groups)
    sizes = Sizes(F=total)
    if columns is not None:
        size("F")("columns", len(columns), sizes)
    if any(given) != all(given):
        raise ValueError("mean and scale are not both there")
    if not all(given):
        size("F")("mean", len(parts["mean"]), sizes)
        if np.any(parts["scale"] <= 0):
            raise ValueError("scale is not above zero")
        if np.any(parts["kept"] < 0):
            raise ValueError("kept leads out of the matrix")
    columns = None if columns is None else tuple(columns)
    return MatrixCoder(groups, columns, parts["kept"], parts["mean"], parts["scale"])


def _read_group(name: Any, count: Any, kind: Any) -> Group:
    of(str)("name", name, Sizes())
    of(str)("kind", kind, Sizes())
    number(1)("size", count, Sizes())
    return Group(name, int(count), kind)
