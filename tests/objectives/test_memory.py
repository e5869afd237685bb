"""Cells that are used where they are, and gradients that keep nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries, MatrixCompletion, Solver, minimize
from pygeco.arrays.low_rank import LowRank


def sparse(seed: int = 0, dtype: type = np.float32, form: str = "csr") -> sp.sparray:
    rng = np.random.default_rng(seed)
    X = sp.random_array((37, 23), density=0.3, rng=rng, dtype=float).astype(dtype)
    return X.asformat(form)


def some(seed: int = 1, rank: int = 3) -> LowRank:
    rng = np.random.default_rng(seed)
    return LowRank(rng.standard_normal((37, rank)), np.ones(rank), rng.standard_normal((23, rank)))


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sorted_matrix_is_not_copied_and_means_the_same(form, dtype):
    X = sparse(0, dtype, form)
    X.sort_indices()
    shared, copied = Entries.from_sparse(X), Entries(*X.tocoo().coords, X.tocoo().data, X.shape)
    own = shared.by_row if form == "csr" else shared.by_col
    assert np.shares_memory(own.values, X.data)
    assert np.shares_memory(own.indices, X.indices)
    for side in ("by_row", "by_col"):
        for one, other in zip(getattr(shared, side)[:5], getattr(copied, side)[:5], strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_is_not_sorted_repeats_or_is_long_is_copied():
    X = sparse()
    turned = X.copy()
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        turned.indices[row], turned.data[row] = X.indices[row][::-1], X.data[row][::-1]
    turned.has_sorted_indices = turned.has_canonical_format = False
    long = sp.csr_array(X)
    long.indices = long.indices.astype(np.int64)
    for Y in (turned, long):
        entries = Entries.from_sparse(Y)
        assert not np.shares_memory(entries.by_row.values, Y.data)
        zero = LowRank.zero(X.shape)
        found = entries.gradient(zero).to_sparse().toarray()
        np.testing.assert_allclose(found, -2 * X.toarray() / X.nnz, rtol=1e-6)
    twice = sp.csr_array((np.ones(2), np.zeros(2, np.int32), np.array([0, 2])), (1, 1))
    with pytest.raises(ValueError, match="more than once"):
        Entries.from_sparse(twice)


def test_an_unknown_setting_is_refused_copied_or_not():
    for X in (sparse(), sparse(form="coo")):
        with pytest.raises(TypeError, match="duplicate"):
            Entries.from_sparse(X, duplicate="mean")


def test_a_memory_mapped_matrix(tmp_path):
    X = sparse()
    parts = {}
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
        parts[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    mapped = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), X.shape)
    core = Solver(correction="core")  # arrays that cannot be written to have kernels of their own
    A, B = (minimize(Entries.from_sparse(Y), 3, core, random_state=0)[-1].A for Y in (mapped, X))
    np.testing.assert_array_equal(A.to_dense(), B.to_dense())


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda X: X.indices.__setitem__(3, 99), "outside 0 … 22"),
        (lambda X: X.indices.__setitem__(3, -1), "outside 0 … 22"),
        (lambda X: X.data.__setitem__(5, np.nan), "NaN or infinity"),
        (lambda X: X.indptr.__setitem__(4, X.indptr[-1] + 5), "index pointers|index"),
    ],
)
def test_a_broken_matrix_is_refused(break_it, message):
    X = sparse()
    assert X.has_canonical_format  # scipy remembers that it was
    break_it(X)
    with pytest.raises(ValueError, match=message):
        Entries.from_sparse(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_lean_gradient_is_the_gradient(weighted):
    X = sparse(2, np.float64).tocoo()
    weight = np.random.default_rng(3).random(X.nnz) if weighted else None
    fat, lean = (
        Entries(*X.coords, X.data, X.shape, sample_weight=weight, lean=lean)
        for lean in (False, True)
    )
    A, rng = some(), np.random.default_rng(4)
    row, col, P = rng.random(37), rng.random(23), rng.standard_normal((23, 4))
    pairs = [
        (fat.gradient(A), lean.gradient(A)),
        (fat.shifted(row, col).gradient(A), lean.gradient_beyond(A, row, col)),
        (fat.shifted(row, col).gradient(A), fat.gradient_beyond(A, row, col)),
    ]
    for G, H in pairs:
        assert H.value == pytest.approx(G.value, rel=1e-12)
        assert H.inner == pytest.approx(G.inner, rel=1e-9)
        for t in (0, slice(None)):
            x = P[:, t]
            y = np.random.default_rng(5).standard_normal((37, 4))[:, t]
            forward, back = ("matvec", "rmatvec") if t == 0 else ("matmat", "rmatmat")
            np.testing.assert_allclose(getattr(H, forward)(x), getattr(G, forward)(x), atol=1e-12)
            np.testing.assert_allclose(getattr(H, back)(y), getattr(G, back)(y), atol=1e-12)


def test_a_lean_path_is_the_path():
    X = sparse(6, np.float64).tocoo()
    fat, lean = (
        minimize(Entries(*X.coords, X.data, X.shape, lean=lean), 4, random_state=0)
        for lean in (False, True)
    )
    for a, b in zip(fat, lean, strict=True):
        assert b.objective == pytest.approx(a.objective, rel=1e-6)


def test_a_model_does_not_follow_changes_of_what_it_was_fitted_to():
    X = sparse(7)
    model = MatrixCompletion(2, random_state=0).fit(X)
    assert not np.shares_memory(model.seen_.indices, X.indices)
    assert not np.shares_memory(model.seen_.values, X.data)
    before = model.recommend([0, 1], 3)
    X.indices[:] = 0
    X.data[:] = 0
    after = model.recommend([0, 1], 3)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
