"""The best columns of rows by products of factors (numba, one thread, no GIL).

Products in single precision screen the columns: each is off by at most its `margin`, so what can be
among the k best is known for certain, and only that is computed again, in double precision and in
one order. Lists are then exact, whatever blocks and threads the screening had.
"""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit

_FAST = {"reassoc", "contract", "nsz"}

CHUNK = 64  # scores that are compared at once
SMALL_CHUNK = 16  # of which the largest alone stands for all, for a first floor


@njit(no_cpython_wrapper=True)
def exact_score(left, i, right, j):
    """⟨left_i, right_j⟩ in double precision: eight sums, in one order on every machine."""
    a = b = c = d = e = f = g = h = 0.0
    r = left.shape[1]
    whole = r - r % 8
    for t in range(0, whole, 8):
        a += np.float64(left[i, t]) * np.float64(right[j, t])
        b += np.float64(left[i, t + 1]) * np.float64(right[j, t + 1])
        c += np.float64(left[i, t + 2]) * np.float64(right[j, t + 2])
        d += np.float64(left[i, t + 3]) * np.float64(right[j, t + 3])
        e += np.float64(left[i, t + 4]) * np.float64(right[j, t + 4])
        f += np.float64(left[i, t + 5]) * np.float64(right[j, t + 5])
        g += np.float64(left[i, t + 6]) * np.float64(right[j, t + 6])
        h += np.float64(left[i, t + 7]) * np.float64(right[j, t + 7])
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for t in range(whole, r):
        total += np.float64(left[i, t]) * np.float64(right[j, t])
    return total


@njit(no_cpython_wrapper=True)
def is_hidden(pointers, indices, row, column):
    """Whether the column is among those of the row, which ascend."""
    low, high = pointers[row], pointers[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low < pointers[row + 1] and indices[low] == column


@njit(no_cpython_wrapper=True)
def raise_floor(heap, filled, low):
    """`low` among the k largest of its row, the least of them at heap[0]; how many there are."""
    k = len(heap)
    if filled < k:  # a leaf that rises
        at = filled
        while at > 0 and heap[(at - 1) >> 1] > low:
            heap[at] = heap[(at - 1) >> 1]
            at = (at - 1) >> 1
        heap[at] = low
        return filled + 1
    if low > heap[0]:  # a root that sinks
        at = 0
        while True:
            child = 2 * at + 1
            if child >= k:
                break
            if child + 1 < k and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= low:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = low
    return filled


@njit(no_cpython_wrapper=True)
def drop_below(columns, tops, count, floor):
    """The candidates that can still be among the best, in front; how many there are."""
    kept = 0
    for t in range(count):
        if tops[t] >= floor:
            columns[kept], tops[kept] = columns[t], tops[t]
            kept += 1
    return kept


@njit(no_cpython_wrapper=True)
def add_candidate(columns, tops, count, floor, column, top):
    """One more candidate; how many there are, −1 where there is no room for it."""
    if count == len(columns):
        count = drop_below(columns, tops, count, floor)
        if count == len(columns):
            return -1
    columns[count], tops[count] = column, top
    return count + 1


@njit(no_cpython_wrapper=True, fastmath=_FAST)
def rest_of_product(left, i, right, j, first):
    """The part of ⟨left_i, right_j⟩ from coordinate `first` on, in the precision of both."""
    total = left.dtype.type(0.0)
    for t in range(first, left.shape[1]):
        total += left[i, t] * right[j, t]
    return total


@njit(no_cpython_wrapper=True, fastmath=_FAST | {"nnan"})
def find_largest_score(scores, line, start, end):
    top = scores[line, start]
    for c in range(start + 1, end):
        top = max(top, scores[line, c])
    return top


@njit(no_cpython_wrapper=True)
def find_floor(scores, line, row, names, pointers, indices, heap):
    """What at least k columns that are not hidden reach, by the largest of each small chunk.

    `heap` has room for k. −∞ where there are too few chunks.
    """
    filled, k, width = 0, len(heap), scores.shape[1]
    for start in range(0, width - SMALL_CHUNK + 1, SMALL_CHUNK):
        top = find_largest_score(scores, line, start, start + SMALL_CHUNK)
        if filled == k and not top > heap[0]:
            continue
        at = start
        while scores[line, at] < top:
            at += 1
        if not is_hidden(pointers, indices, row, names[at]):
            filled = raise_floor(heap, filled, top)
    return heap[0] if filled == k else np.float32(-np.inf)


@njit(no_cpython_wrapper=True, fastmath=_FAST | {"nnan"})
def has_passing(scores, line, start, tail, tails, least):
    """Whether any score of a chunk, with what the other coordinates may add, reaches `least`."""
    passing = np.int32(0)
    for c in range(CHUNK):  # of a fixed length, for the compiler
        passing |= np.int32(scores[line, start + c] + tail * tails[start + c] >= least)
    return passing != 0


@njit(cache=True, nogil=True)
def screen(
    scores, split, left, right, row_tails, tails,
    places, rows, names, margin, pointers, indices,
    heaps, filled, floors, found, tops, counts,
):  # fmt: skip
    """Take in the scores of some columns for some rows, by the first `split` coordinates.

    The others add at most row_tails[t] · tails[c], and are summed where that may be enough.
    Line t of `scores` belongs to row rows[t] of the cells and to place places[t] of the state:
    the k largest lower bounds in `heaps`, the least of them in `floors`, candidates in `found` with
    their upper bounds in `tops`. A count of −1 is a row with more candidates than there is room.
    """
    width, k = scores.shape[1], heaps.shape[1]
    for line in range(len(scores)):
        p = places[line]
        count, heap, own, own_tops = counts[p], heaps[p], found[p], tops[p]
        if count == 0 and filled[p] == 0 and split == left.shape[1]:
            first = find_floor(scores, line, rows[line], names, pointers, indices, heap)
            floors[p] = max(floors[p], first - margin)
        tail, least = row_tails[line], floors[p] - margin
        for start in range(0, width, CHUNK):
            if count < 0:
                break
            end = min(start + CHUNK, width)
            if end - start == CHUNK and not has_passing(scores, line, start, tail, tails, least):
                continue
            for c in range(start, end):
                x = scores[line, c]
                if not x + tail * tails[c] >= least:
                    continue
                x += rest_of_product(left, line, right, c, split)
                if not x >= least or is_hidden(pointers, indices, rows[line], names[c]):
                    continue
                count = add_candidate(own, own_tops, count, floors[p], names[c], x + margin)
                if count < 0:
                    break
                filled[p] = raise_floor(heap, filled[p], x - margin)
                if filled[p] == k:
                    floors[p] = max(floors[p], heap[0])
                    least = floors[p] - margin
        counts[p] = count


@njit(no_cpython_wrapper=True)
def insert(columns, values, length, j, x):
    """Put j with its score into a list that descends; of equals the first column comes first."""
    k = len(columns)
    at = min(length, k - 1)
    if length == k and not (x > values[at] or (x == values[at] and j < columns[at])):
        return length
    while at > 0 and (values[at - 1] < x or (values[at - 1] == x and columns[at - 1] > j)):
        values[at], columns[at] = values[at - 1], columns[at - 1]
        at -= 1
    values[at], columns[at] = x, j
    return min(length + 1, k)


@njit(cache=True, nogil=True)
def finish(left, right, offsets, lines, places, floors, found, tops, counts, columns, values):
    """The lists of some rows from their candidates, by exact scores."""
    for t in range(len(lines)):
        i, p = lines[t], places[t]
        length = 0
        for c in range(counts[p]):
            if tops[p, c] < floors[p]:
                continue
            j = found[p, c]
            x = exact_score(left, i, right, j) + offsets[j]
            length = insert(columns[i], values[i], length, j, x)
        columns[i, length:] = -1
        values[i, length:] = -np.inf


@njit(cache=True, nogil=True)
def score_lines(left, right, offsets, lines, names, rows, pointers, indices, out):
    """Exact scores of some columns for some rows; −∞ where a cell is hidden."""
    for t in range(len(lines)):
        i = lines[t]
        for c in range(len(names)):
            j = names[c]
            out[t, c] = exact_score(left, i, right, j) + offsets[j]
        for e in range(pointers[rows[i]], pointers[rows[i] + 1]):
            at = np.searchsorted(names, indices[e])
            if at < len(names) and names[at] == indices[e]:
                out[t, at] = -np.inf


@njit(cache=True, nogil=True)
def list_first(lines, rows, names, pointers, indices, columns, values):
    """Lists of rows for which all scores are zero: the first columns."""
    for i in lines:
        length, k = 0, columns.shape[1]
        for j in names:
            if length == k:
                break
            if not is_hidden(pointers, indices, rows[i], j):
                columns[i, length], values[i, length] = j, 0.0
                length += 1
        columns[i, length:] = -1
        values[i, length:] = -np.inf
