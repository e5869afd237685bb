"""Numbers of few distinct values, as ratings are: one byte each, and a table of the values.

Passes over all numbers are NumPy's, or those of who has more cores to offer. This room knows no
engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

MAX_LEVELS = 256  # that one byte tells apart
PART = 1 << 16  # numbers that are looked up at once, an even number: they stay in the cache
RUN = 1 << 18  # numbers that a core takes at once
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
        table = self.table.astype(self.dtype if dtype is None else dtype)
        return _OFFERED[0].read_codes(self.codes, table)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many numbers have each value of the table."""
        return _OFFERED[0].count_codes(self.codes)[: len(self.table)]

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
    return decode_values(x)


def decode_values(values: Any) -> Any:
    """The numbers themselves where they are codes; else what is given."""
    return np.asarray(values) if isinstance(values, Coded) else values


class Hashing(NamedTuple):
    """A code in each of the slots: bits are at home in slot bits · factor >> shift."""

    factor: Any
    shift: Any
    slots: NDArray[np.uint8]


class CodeWork:
    """Passes over numbers and their codes, by NumPy."""

    def find_codes(
        self,
        bits: NDArray[Any],
        levels: NDArray[Any],
        hashing: Hashing,
        codes: NDArray[np.uint8],
        wanted: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Write the codes of these runs, each `RUN` numbers; which of them have other levels."""
        strange = np.zeros(len(wanted), bool)
        for k, run in enumerate(wanted.tolist()):
            for part in cut_run(run, len(bits)):
                codes[part] = hashing.slots[(bits[part] * hashing.factor) >> hashing.shift]
                strange[k] |= bool((levels[codes[part]] != bits[part]).any())
        return strange

    def read_codes(self, codes: NDArray[np.uint8], table: NDArray[Any]) -> NDArray[Any]:
        """The number of each code."""
        out = np.empty(len(codes), table.dtype)
        for run in range(-(-len(out) // RUN)):
            for part in cut_run(run, len(out)):
                # No code is beyond the table, so that nothing is clipped: a test would cost more.
                np.take(table, codes[part], out=out[part], mode="clip")
        return out

    def count_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """How often each of the 256 codes is there."""
        whole = len(codes) // 2 * 2  # codes are counted in pairs
        pairs = np.zeros(1 << 16, np.int64)
        for at in range(0, whole, PART):
            two = codes[at : min(at + PART, whole)].view(np.uint16)
            pairs += np.bincount(two, minlength=len(pairs))
        square = pairs.reshape(1 << 8, 1 << 8)
        found: NDArray[np.int64] = square.sum(axis=0) + square.sum(axis=1)
        return found + np.bincount(codes[whole:], minlength=len(found))


_OFFERED: list[CodeWork] = [CodeWork()]


def offer_code_work(work: CodeWork) -> None:
    """Have this one do the passes from now on."""
    _OFFERED[:] = [work]


def encode_values(values: NDArray[Any]) -> Coded | None:
    """The same numbers as codes; None where they have more than 256 values.

    Values are told apart by their bits, which find a code by a product: no sorting.
    """
    word: Any = np.uint32 if values.itemsize == 4 else np.uint64
    bits = np.ascontiguousarray(values).view(word)
    levels = np.unique(bits[:: max(1, len(bits) // PART)])
    hashing = _find_hashing(levels)
    codes = np.empty(len(bits), np.uint8)
    left = np.arange(-(-len(bits) // RUN))
    while hashing is not None and len(left):
        left = left[_OFFERED[0].find_codes(bits, levels, hashing, codes, left)]
        if len(left):  # older codes stay as they are
            more = _find_others(bits, levels, codes, left)
            levels = np.concatenate([levels, more])
            hashing = _find_hashing(levels)
    return None if hashing is None else Coded(codes, levels.view(values.dtype))


def _find_others(
    bits: NDArray[Any], levels: NDArray[Any], codes: NDArray[np.uint8], runs: NDArray[np.int64]
) -> NDArray[Any]:
    """Of each of these runs what is none of the levels, in the first part that has some."""
    found = []
    for run in runs.tolist():
        for part in cut_run(run, len(bits)):
            other = levels[codes[part]] != bits[part]
            if other.any():
                found.append(np.unique(bits[part][other]))
                break
    return np.unique(np.concatenate(found))


def cut_run(run: int, count: int) -> Iterator[slice]:
    """The parts of a run of `count` numbers."""
    stop = min((run + 1) * RUN, count)
    return (slice(at, min(at + PART, stop)) for at in range(run * RUN, stop, PART))


def _find_hashing(levels: NDArray[Any]) -> Hashing | None:
    """One that tells the levels apart; None: too many."""
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
            return Hashing(factor, shift, slots)
    return None
