"""The largest numbers of lines, and sums of lines (numba); a part is a block of lines."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread

GROUPS = 4  # for each of the numbers wanted
HALVINGS = 24  # of the range in which a floor is looked for
MOST = np.finfo(np.float32).max


@spread("blocks", ends=1)
def sum_lines(b, blocks, table, rows, pointers, indices, out):
    """The lines of each row's cells, summed four at a time."""
    width = table.shape[1]
    for t in range(blocks[b], blocks[b + 1]):
        first, last = pointers[rows[t]], pointers[rows[t] + 1]
        whole = last - (last - first) % 4
        for e in range(first, whole, 4):
            a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            for r in range(width):
                out[t, r] += (table[a, r] + table[b, r]) + (table[c, r] + table[d, r])
        for e in range(whole, last):
            a = indices[e]
            for r in range(width):
                out[t, r] += table[a, r]


@spread("blocks", ends=1)
def hide_lines(b, blocks, table, rows, pointers, indices):
    """−∞ in line t at the columns of the cells of rows[t]."""
    for t in range(blocks[b], blocks[b + 1]):
        for e in range(pointers[rows[t]], pointers[rows[t] + 1]):
            table[t, indices[e]] = -np.inf


@spread("blocks", ends=1)
def pick_largest(b, blocks, table, columns, found):
    """The largest of each line in the order of their columns; of equals the first are taken.

    What k of the maxima of groups reach, k of all numbers do: with four groups for each of the k, a
    sixth more than k numbers pass such a floor.
    """
    width, k = table.shape[1], columns.shape[1]
    groups = min(width, GROUPS * k)
    maxima, spare = take_memory(groups, table.dtype), take_memory(width + 1, table.dtype)
    places, numbers = take_memory(width + 1, np.int64), take_memory(width + 1, table.dtype)
    for t in range(blocks[b], blocks[b + 1]):
        for g in range(groups):
            maxima[g] = -np.inf
        for start in range(0, width, groups):
            raise_maxima(maxima, table[t, start : start + groups])
        count = gather_above(table[t], find_floor(maxima, k), places, numbers)
        keep_largest(places, numbers, count, spare, columns[t], found[t])
    give_back(maxima)
    give_back(spare)
    give_back(places)
    give_back(numbers)


@njit(no_cpython_wrapper=True)
def raise_maxima(maxima, numbers):
    """The larger one of both, at each place."""
    for g in range(len(numbers)):
        x = numbers[g]
        maxima[g] = x if x > maxima[g] else maxima[g]


@njit(no_cpython_wrapper=True)
def find_floor(numbers, k):
    """A finite number that at least k of these reach and not many more; the least where none is."""
    high = -MOST
    low = MOST
    for x in numbers:
        high = max(high, x)
        low = min(low, x) if x > -np.inf else low
    if count_above(numbers, low) < k:
        return -MOST
    for _ in range(HALVINGS):
        middle = low + (high - low) / np.float32(2)
        count = count_above(numbers, middle)
        if count >= k:
            low = middle
            if count <= k + (k >> 3):
                break
        else:
            high = middle
    return low


@njit(no_cpython_wrapper=True)
def count_above(numbers, floor):
    """How many reach the floor."""
    count = np.int32(0)
    for x in numbers:
        count += np.int32(x >= floor)
    return count


@njit(no_cpython_wrapper=True)
def gather_above(line, floor, places, numbers):
    """Columns and numbers from the floor on, without a branch; how many there are."""
    count = 0
    for j in range(len(line)):
        places[count], numbers[count] = j, line[j]
        count += line[j] >= floor
    return count


@njit(no_cpython_wrapper=True)
def keep_largest(places, numbers, count, spare, columns, found):
    """The largest of `count` numbers, in their order, into `columns` and `found`."""
    k, taken = len(columns), 0
    least, ties = -MOST, k
    if count > k:
        for t in range(count):
            spare[t] = numbers[t]
        least = select(spare, count, count - k)
        for t in range(count):
            ties -= numbers[t] > least
    for t in range(count):
        x = numbers[t]
        if x < least or (x == least and ties == 0):
            continue
        ties -= x == least
        columns[taken], found[taken] = places[t], x
        taken += 1
    for t in range(taken, k):
        columns[t], found[t] = -1, -np.inf


@njit(no_cpython_wrapper=True)
def select(numbers, count, place):
    """What stands at a place once `count` numbers, which are moved, are sorted (Hoare's way).

    numba's `partition` does so too, but takes ten seconds to compile.
    """
    low, high = 0, count - 1
    while low < high:
        pivot = numbers[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while numbers[left] < pivot:
                left += 1
            while numbers[right] > pivot:
                right -= 1
            if left <= right:
                numbers[left], numbers[right] = numbers[right], numbers[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return numbers[place]
