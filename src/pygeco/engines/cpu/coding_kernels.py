"""Passes over numbers of few values and their codes; see `coding`."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread

CODES = 256
TABLES = 4  # of counts that take turns: a count waits for the one before in the same place


@spread("wanted")
def find_codes(b, bits, levels, hashing, slots, wanted, size, codes, strange):
    """The codes of run wanted[b], and whether some of its numbers are none of the levels."""
    factor, shift = hashing[0], hashing[1]
    first = np.uint64(wanted[b] * size)
    last = np.uint64(min((wanted[b] + 1) * size, len(bits)))
    is_strange = False
    for e in range(first, last):
        place = bits.dtype.type(bits[e] * factor)  # numba's products are of 64 bits
        own = slots[np.uint64(place >> shift)]
        codes[e] = own
        is_strange |= levels[own] != bits[e]
    strange[b] = is_strange


@spread("parts")
def read_codes(b, codes, table, size, parts, out):
    """The number of each code of a part."""
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(codes)))):
        out[e] = table[codes[e]]


@spread("counts")
def count_codes(b, codes, size, counts):
    """counts[b, c] = how often code c is there in a part."""
    own = take_memory(TABLES * CODES, np.int64)
    for k in range(TABLES * CODES):
        own[k] = 0
    turn = np.uint64(0)
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(codes)))):
        own[turn + codes[e]] += 1
        turn = (turn + np.uint64(CODES)) % np.uint64(TABLES * CODES)
    for k in range(CODES):
        counts[b, k] = 0
        for t in range(TABLES):
            counts[b, k] += own[t * CODES + k]
    give_back(own)
