"""Numbers of few distinct values, as ratings are: one byte each, and a table of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

MAX_LEVELS = 256  # that one byte tells apart
PART = 1 << 16  # numbers that are looked up at once: they stay in the cache
SLOTS = 16  # bits of a number's place in the table by which codes are found
FIRST_FACTOR = {4: 0x9E3779B1, 8: 0x9E3779B97F4A7C15}  # odd, of bits that are well mixed


class Coded(NDArrayOperatorsMixin):
    """A one-dimensional array that holds codes[e] for table[codes[e]].

    Every entry of the table is in use. A formula of one such array and of numbers is one of its
    table. All else, parts included, sees a plain array, which is made for the purpose.
    """

    ndim = 1

    def __init__(self, codes: NDArray[np.uint8], table: NDArray[Any]) -> None:
        self.codes, self.table = codes, table

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.table.dtype

    @property
    def shape(self) -> tuple[int]:
        return (len(self.codes),)

    @property
    def size(self) -> int:
        return len(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, key: Any) -> Any:
        return self.table[self.codes[key]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.table.astype(self.dtype if dtype is None else dtype)[self.codes]

    def __array_function__(self, function: Any, kinds: Any, args: Any, options: Any) -> Any:
        return function(*map(_plain, args), **{key: _plain(x) for key, x in options.items()})

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        is_plain = method == "__call__" and function.signature is None and not options
        if is_plain and all(x is self or np.ndim(x) == 0 for x in inputs):
            return Coded(self.codes, function(*(self.table if x is self else x for x in inputs)))
        return getattr(function, method)(*map(_plain, inputs), **options)

    def astype(self, dtype: Any, **_: Any) -> Coded:
        return Coded(self.codes, self.table.astype(dtype))

    def copy(self) -> NDArray[Any]:
        return np.asarray(self)

    def reshape(self, *shape: Any) -> NDArray[Any]:
        return np.asarray(self).reshape(*shape)

    def min(self) -> Any:
        return self.table.min()

    def max(self) -> Any:
        return self.table.max()

    def sum(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self).sum(*args, **options)

    def mean(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self).mean(*args, **options)


def _plain(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_plain, x))
    return np.asarray(x) if isinstance(x, Coded) else x


def decode_values(values: Any) -> Any:
    """The numbers themselves where they are codes; else what is given."""
    return np.asarray(values) if isinstance(values, Coded) else values


def encode_values(values: NDArray[Any]) -> Coded | None:
    """The same numbers as codes; None where they have more than 256 values.

    Values are told apart by their bits, which find a code by a product: no sorting.
    """
    word: Any = np.uint32 if values.itemsize == 4 else np.uint64
    bits = values.view(word)
    levels = np.unique(bits[:: max(1, len(bits) // PART)])
    found = _find_slots(levels)
    codes = np.empty(len(bits), np.uint8)
    for at in range(0, len(bits), PART):
        part = bits[at : at + PART]
        while found is not None:
            factor, slots = found
            own = slots[(part * factor) >> word(8 * word().itemsize - SLOTS)]
            strange = part[levels[own] != part]
            if not len(strange):
                codes[at : at + PART] = own
                break
            levels = np.concatenate([levels, np.unique(strange)])  # older codes stay as they are
            found = _find_slots(levels)
        if found is None:
            return None
    return Coded(codes, levels.view(values.dtype))


def _find_slots(levels: NDArray[Any]) -> tuple[Any, NDArray[np.uint8]] | None:
    """A factor whose products tell the levels apart, and the code in each slot; None: too many."""
    if len(levels) > MAX_LEVELS:
        return None
    word = levels.dtype.type
    shift = word(8 * levels.itemsize - SLOTS)
    first = FIRST_FACTOR[levels.itemsize]
    for turn in range(1, 1 << 12, 2):
        factor = word(first * turn % (1 << 8 * levels.itemsize))
        places = (levels * factor) >> shift
        if len(np.unique(places)) == len(levels):
            slots = np.zeros(1 << SLOTS, np.uint8)
            slots[places] = np.arange(len(levels))
            return factor, slots
    return None
