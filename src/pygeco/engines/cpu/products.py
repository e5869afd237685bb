"""Passes over observed cells on the cores of one machine (numba).

Every kernel takes arrays and fills `out`. Work is cut into fixed blocks of rows, balanced by
the number of cells, and each output or partial sum belongs to one block: the result has the same
bits for any number of threads. Sums have a fixed order too, and multiply-adds are fused where it
is said.
Pointers are int64, so more than 2³¹ cells are fine.
"""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.dots import AHEAD as STREAM
from pygeco.engines.cpu.dots import (
    LANES,
    scatter_group,
    sparse_dot,
    sparse_dots_1,
    sparse_dots_2,
    sparse_dots_3,
    sparse_dots_4,
)
from pygeco.engines.cpu.keeping import njit
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.reading import read_value
from pygeco.engines.cpu.residual_simd import residual_group
from pygeco.engines.cpu.vectors import BYTES, fetch, fused

# An unsigned index spares numba's test for a negative one.
_ONE, _GROUP = np.uint64(1), np.uint64(LANES)
AHEAD = 16  # cells


@spread("counts")
def count_majors(b, major, runs, counts):
    """counts[b, i] = how many cells of run b have i as their major index."""
    for e in range(runs[b], runs[b + 1]):
        counts[b, major[e]] += 1


@spread("places")
def put_triplets(b, major, minor, values, runs, places, indices, out):
    """The cells of run b, each at the next of its places, which begin at places[b]."""
    for e in range(runs[b], runs[b + 1]):
        at = places[b, major[e]]
        places[b, major[e]] = at + 1
        indices[at] = minor[e]
        out[at] = values[e]


@njit(cache=True)
def place(rows, cols, values, free, pointers, indices, out):
    """Cells put at the next free place of their row; false where a row has none left."""
    for e in range(len(rows)):
        at = free[rows[e]]
        if at >= pointers[rows[e] + 1]:
            return False
        free[rows[e]] = at + 1
        indices[at] = cols[e]
        out[at] = values[e]
    return True


@spread("places")
def put_transposed(b, pointers, major, values, bounds, places, indices, out):
    """The same of cells in groups: those of run b are of groups bounds[b] … bounds[b + 1] − 1."""
    for i in range(bounds[b], bounds[b + 1]):
        for e in range(pointers[i], pointers[i + 1]):
            at = places[b, major[e]]
            places[b, major[e]] = at + 1
            indices[at] = i
            out[at] = values[e]


@spread("blocks", ends=1)
def matvec(b, pointers, indices, data, blocks, scale, x, out):
    """Out = scale · S x for the sparse S. O(|E|)."""
    for i in range(blocks[b], blocks[b + 1]):
        out[i] = scale * sparse_dot(indices, data, x, pointers[i], pointers[i + 1])


@spread("runs", ends=1)
def scatter(b, pointers, indices, data, runs, x, out):
    """out[b] = Sᵀ x over the groups of run b. O(|E|); the indices of a group are distinct."""
    total = out[b]
    total[:] = 0.0
    for i in range(runs[b], runs[b + 1]):
        weight = np.float64(x[i])
        e, stop = np.uint64(pointers[i]), np.uint64(pointers[i + 1])
        while e + _GROUP <= stop:
            fetch(indices, np.int64(e) + STREAM, 1)
            fetch(data, np.int64(e) + STREAM, 1)
            scatter_group(total, indices, data, np.int64(e), weight)
            e += _GROUP
        while e < stop:
            total[np.uint32(indices[e])] += data[e] * weight
            e += _ONE


@spread("parts")
def add_runs(b, sums, scale, size, parts, out):
    """Out = scale times the sum of the rows of `sums`, from the first to the last."""
    first, last = np.uint64(b * size), np.uint64(min((b + 1) * size, len(out)))
    for j in range(first, last):
        out[j] = 0.0
    for r in range(np.uint64(len(sums))):
        for j in range(first, last):
            out[j] += sums[r, j]
    for j in range(first, last):
        out[j] *= scale


@spread("blocks", ends=1)
def matmat(
    b, pointers, indices, data, blocks, scale, X, width, own, pull, shift, out, wide, there, weight,
    P, sums,
):  # fmt: skip
    """out = scale · diag(own) S X − pull shiftᵀ for the sparse S and a few columns. O(|E| k).

    No numbers of `own` are ones, and none of `pull` zeros; `shift` has all. It goes to `wide`, of
    float64, where it has rows, and to `out`, of the dtype of the data, else: one function for both.

    Runs of cells are summed in the precision of X, and their sums in float64. The rows of X, of the
    dtype of the data, are flat and padded to `width` numbers each.

    With rows of P, `weight` P is added. Where `sums` has columns, each row is weighed by `there`,
    if it has numbers, summed with `pull`, and then multiplied by `own` once more.
    """
    lanes = BYTES // X.itemsize
    total = take_memory(width, np.float64)
    whole = width // (4 * lanes) * (4 * lanes)
    rest = (width - whole) // lanes
    columns, b = np.uint64(out.shape[1]), np.uint64(b)
    for k in range(np.uint64(sums.shape[1])):
        sums[b, k] = 0.0
    for i in range(np.uint64(blocks[b]), np.uint64(blocks[b + _ONE])):
        start, stop = pointers[i], pointers[i + _ONE]
        for q in range(0, whole, 4 * lanes):
            sparse_dots_4(X, width, q, indices, data, start, stop, total)
        if rest == 3:
            sparse_dots_3(X, width, whole, indices, data, start, stop, total)
        elif rest == 2:
            sparse_dots_2(X, width, whole, indices, data, start, stop, total)
        elif rest == 1:
            sparse_dots_1(X, width, whole, indices, data, start, stop, total)
        factor = scale * own[i] if len(own) else scale
        pulled = np.float64(pull[i]) if len(pull) else 0.0
        for k in range(columns):
            total[k] = factor * total[k] - pulled * shift[k]
        if len(P):
            for k in range(columns):
                total[k] += weight * P[i, k]
        if sums.shape[1]:
            weighed = np.float64(there[i]) if len(there) else 1.0
            for k in range(columns):
                sums[b, k] += pulled * (weighed * total[k])
                total[k] *= weighed * factor
        if len(wide):
            for k in range(columns):
                wide[i, k] = total[k]
        else:
            for k in range(columns):
                out[i, k] = total[k]
    give_back(total)


@njit(inline="always")
def _take_room():
    """Room for the residuals of a group of cells, and for sums of each place in it, which begin."""
    room = take_memory(3 * LANES, np.float64)
    for t in range(3 * LANES):
        room[t] = 0.0
    return room


@njit(inline="always")
def _ask_ahead(indices, e, Q, s):
    """Ask for the partners of a group of cells that comes later."""
    for t in range(LANES):
        later = np.uint64(min(e + AHEAD + t, len(indices) - 1))
        fetch(Q, np.int64(np.uint32(indices[later])) * s, s)


@njit(inline="always")
def _add_places(room, b, out):
    """The sums over all places to out[b]; the room is given back."""
    for k in range(2):
        total = 0.0
        for t in range(LANES):
            total += room[(k + 1) * LANES + t]
        out[b, k] = total
    give_back(room)


@spread("blocks", ends=1)
def residuals(b, pointers, indices, values, weights, blocks, P, Q, out, sums):
    """Out = w (z − y) with z = ⟨P_i, Q_j⟩; per block Σ w (z − y)² and Σ w (z − y) z. O(|E| s)."""
    s, room = P.shape[1], _take_room()
    for i in range(blocks[b], blocks[b + 1]):
        stop = pointers[i + 1]
        for e in range(pointers[i], stop, LANES):
            _ask_ahead(indices, e, Q, s)
            residual_group(P, i * s, Q, s, indices, values, weights, e, stop - 1, room)
            for t in range(min(LANES, stop - e)):
                out[np.uint64(e + t)] = room[np.uint64(t)]
    _add_places(room, b, sums)


@spread("blocks", ends=1)
def fresh_products(b, pointers, indices, values, weights, blocks, P, Q, scale, X, out, sums):
    """Out = scale · S X, where S holds the residuals, which are made and forgotten cell by cell."""
    s, columns = P.shape[1], np.uint64(X.shape[1])
    total, room = take_memory(X.shape[1], X.dtype), _take_room()
    for i in range(blocks[b], blocks[b + 1]):
        stop = pointers[i + 1]
        for k in range(columns):
            total[k] = 0
        for e in range(pointers[i], stop, LANES):
            _ask_ahead(indices, e, Q, s)
            residual_group(P, i * s, Q, s, indices, values, weights, e, stop - 1, room)
            for t in range(min(LANES, stop - e) if columns else 0):
                j, d = np.uint32(indices[np.uint64(e + t)]), X.dtype.type(room[np.uint64(t)])
                for k in range(columns):
                    total[k] = fused(d, X[j, k], total[k])
        for k in range(columns):
            out[np.uint64(i), k] = scale * total[k]
    give_back(total)
    _add_places(room, b, sums)


@spread("blocks", ends=1)
def cross_grams(b, pointers, indices, weights, blocks, X, x, out):
    """out_j = Σ_{i ∈ E_j} w x_i X_i: what a new column adds to the Grams. O(|E| s)."""
    s = np.uint64(X.shape[1])
    for j in range(np.uint64(blocks[b]), np.uint64(blocks[b + 1])):
        for k in range(s):
            out[j, k] = 0.0
        for e in range(np.uint64(pointers[j]), np.uint64(pointers[j + _ONE])):
            i = np.uint32(indices[e])
            c = x[i] * weights[e] if len(weights) else x[i]
            for k in range(s):
                out[j, k] = fused(c, X[i, k], out[j, k])


@spread("sides")
def row_systems(t, pointers, indices, values, weights, first, offset, V, grams, sides):
    """grams_i = Σ w v_j v_jᵀ and sides_i = Σ w (y − offset_j) v_j for rows first, first + 1, …"""
    s = np.uint64(V.shape[1])
    grams[t, :, :] = 0.0
    sides[t, :] = 0.0
    for e in range(np.uint64(pointers[first + t]), np.uint64(pointers[first + t + 1])):
        j = np.uint32(indices[e])
        w = weights[e] if len(weights) else 1.0
        y = w * (read_value(values, e) - offset[j])
        for k in range(s):
            sides[t, k] = fused(y, V[j, k], sides[t, k])
            c = w * V[j, k]
            for q in range(k + _ONE):
                grams[t, k, q] = fused(c, V[j, q], grams[t, k, q])
    for k in range(s):
        for q in range(k):
            grams[t, q, k] = grams[t, k, q]
