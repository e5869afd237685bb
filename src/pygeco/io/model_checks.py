"""Whether the parts of a model from a file fit each other.

Checksums tell damage, not sense: a file may be whole and yet hold ids that are too few, indices
that lead nowhere, or text for numbers. A check is a function of a name, a value and the sizes known
so far; the first array with a size named "m" sets it, all others must agree.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any

import numpy as np


class Sizes(dict[str, int]):
    """The sizes known so far; `thorough` says whether to read every number, or shapes alone."""

    thorough = True

    def without(self, *names: str) -> Sizes:
        """A copy in which these are open again."""
        rest = Sizes((name, found) for name, found in self.items() if name not in names)
        rest.thorough = self.thorough
        return rest


Check = Callable[[str, Any, Sizes], None]
Size = str | int


def array(kinds: str, *dims: Size) -> Check:
    """An array of these kinds of number, finite, of this shape; "m+1" is one more than m."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            _refuse(name, "is not an array of the right kind")
        if value.ndim != len(dims):
            _refuse(name, f"has {value.ndim} dimensions, not {len(dims)}")
        for found, dim in zip(value.shape, dims, strict=True):
            match_size(name, found, dim, sizes)
        if sizes.thorough and value.dtype.kind == "f" and not np.isfinite(value).all():
            _refuse(name, "holds numbers that are not finite")

    return check


def match_size(name: str, found: int, dim: Size, sizes: Sizes) -> None:
    base, _, more = str(dim).partition("+")
    wanted = int(base) if base.isdigit() else sizes.setdefault(base, found - int(more or 0))
    if found != wanted + int(more or 0):
        _refuse(name, f"has length {found}, not {wanted + int(more or 0)}")


def size(dim: Size) -> Check:
    """A whole number that is the size of something else."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        of(int)(name, value, sizes)
        match_size(name, value, dim, sizes)

    return check


def ids(dim: Size) -> Check:
    """Sorted and without repeats: they are searched by halves."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        array("OUiufMb", dim)(name, value, sizes)
        if sizes.thorough and not np.all(value[1:] > value[:-1]):
            _refuse(name, "is not sorted, or repeats an id")

    return check


def names(dim: Size) -> Check:
    return array("OU", dim)


def number(low: float = -np.inf) -> Check:
    """A finite number above `low`."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        of(int, float)(name, value, sizes)
        if not np.isfinite(value) or value < low:
            _refuse(name, f"is {value}, not a finite number{'' if low < 0 else f' ≥ {low:g}'}")

    return check


def of(*kinds: type) -> Check:
    """A value of one of these types; a truth value is no number."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            _refuse(name, f"is a {type(value).__name__}, not a {kinds[0].__name__}")

    return check


def optional(check: Check) -> Check:
    return lambda name, value, sizes: None if value is None else check(name, value, sizes)


def items(kind: type, *checks: Check) -> Check:
    """A list or tuple with a check for each item, in order."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        of(kind)(name, value, sizes)
        match_size(name, len(value), len(checks), sizes)
        for t, (one, item) in enumerate(zip(checks, value, strict=True)):
            one(f"{name}[{t}]", item, sizes)

    return check


def each(kind: type, check: Check, *own: str) -> Check:
    """A list or tuple of any length; sizes called as in `own` are each item's."""

    def check_all(name: str, value: Any, sizes: Sizes) -> None:
        of(kind)(name, value, sizes)
        for t, item in enumerate(value):
            check(f"{name}[{t}]", item, sizes.without(*own))

    return check_all


def parts(kind: type, **checks: Check) -> Check:
    """An object with a check for each of some parts."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        of(kind)(name, value, sizes)
        for part, one in checks.items():
            one(f"{name}.{part}", getattr(value, part), sizes)

    return check


def check_attributes(
    fitted: dict[str, Any], checks: dict[str, Check], may_lack: Sequence[str], *, thorough: bool
) -> None:
    """The fitted attributes of a model, in the order of the checks; all must be there."""
    sizes = Sizes()
    sizes.thorough = thorough
    for name, check in checks.items():
        if name in fitted:
            check(name, fitted[name], sizes)
        elif name not in may_lack:
            _refuse(name, "is missing")


def check_types(kind: Any, values: dict[str, Any]) -> None:
    """Values by the annotations of a record's fields, or of a function's parameters."""
    for name, hint in _hints(kind).items():
        if name in values and not _suits(values[name], hint):
            _refuse(
                name, f"is a {type(values[name]).__name__}, which {kind.__name__} does not take"
            )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return {name: hint for name, hint in typing.get_type_hints(kind).items() if name != "return"}


def _suits(value: Any, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    named = getattr(origin or hint, "__value__", None)  # of `type`, as NumPy's from Python 3.12 on
    if named is not None:
        return _suits(value, named)
    if origin in (typing.Union, types.UnionType):
        return any(_suits(value, one) for one in typing.get_args(hint))
    kind = origin or hint
    if kind in (Any, object) or not isinstance(kind, type):
        return True
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False) or kind.__module__ == "collections.abc":
        return value is None or is_dataclass(value) or callable(value)
    if kind in (list, tuple):
        return isinstance(value, kind) and _items_suit(value, typing.get_args(hint))
    return isinstance(value, kind)


def _items_suit(value: Any, hints: tuple[Any, ...]) -> bool:
    """The items of a list[X], a tuple[X, ...] or a tuple[X, Y]."""
    if len(hints) == 1 or hints[1:] == (...,):
        return all(_suits(item, hints[0]) for item in value)
    return not hints or (len(value) == len(hints) and all(map(_suits, value, hints)))


def _refuse(name: str, what: str) -> typing.NoReturn:
    raise ValueError(f"{name} {what}")
