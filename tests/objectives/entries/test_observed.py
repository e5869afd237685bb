"""Cells as they are given: used where they are, merged, or refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from entries_cases import sparse
from pygeco import Entries, LowRank, MatrixCompletion, Solver, minimize
from pygeco.arrays.coded import Coded
from pygeco.engines.cpu.products import cross_grams, fresh_products, matvec, residuals
from pygeco.objectives.entries import observed

KERNELS = (matvec, residuals, fresh_products, cross_grams)


@pytest.mark.parametrize(
    ("loss", "values", "words"),
    [
        ("logistic", [0.0, 1.0, 2.0], "values: the logistic loss needs labels"),
        ("smoothed-hinge", [1.0, 2.0, 3.0], "values: the smoothed-hinge loss needs labels"),
        ("poisson", [0.0, -1.0, 2.0], "values: the poisson loss needs counts"),
        ("ordinal", [2.0, 2.0, 2.0], "values: the ordinal loss needs at least two"),
        ("hubber", [0.0, 1.0, 2.0], "loss: unknown name 'hubber'"),
    ],
)
def test_values_outside_the_domain(loss, values, words):
    with pytest.raises(ValueError, match=words):
        Entries([0, 1, 2], [0, 1, 0], values, (3, 2), loss=loss)


def test_repeated_cells_are_merged_before_they_become_targets():
    stars = Entries(
        [0, 0, 1, 2], [0, 0, 1, 1], [1.0, 3.0, 5.0, 2.0], loss="ordinal", duplicates="mean"
    )
    assert stars.loss.levels == (2.0, 5.0)
    np.testing.assert_array_equal(stars.by_row.values, [0, 1, 0])


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
        found = entries.gradient(zero).matmat(np.eye(entries.shape[1]))
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
    found, compiled = [], []
    for Y in (X, mapped):
        entries = Entries.from_sparse(Y)
        found.append(minimize(entries, 3, Solver(correction="core"), random_state=0)[-1].A)
        compiled.append([len(kernel.compiled.signatures) for kernel in KERNELS])
    np.testing.assert_array_equal(found[0].to_dense(), found[1].to_dense())
    assert not entries.by_row.values.flags.writeable  # it is not copied
    assert compiled[0] == compiled[1]  # nor are there kernels of its own


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


@pytest.mark.parametrize("form", ["coo", "csr"])
def test_ratings_kept_as_codes_give_the_same_bits(monkeypatch, form):
    X = sparse(0, np.float32, form)
    X.data = np.round(2 * X.data).astype(np.float32) / 2
    made = []
    for least in (1 << 40, 0):
        monkeypatch.setattr(observed, "MIN_CODED_CELLS", least)
        made.append((Entries.from_sparse(X), Entries.from_sparse(X, lean=True)))
    plain, short = made
    assert isinstance(short[0].by_row.values, Coded)
    assert isinstance(short[0].standardize(1.0, 2.0, np.float32).by_col.values, Coded)
    A = LowRank.product(*(np.random.default_rng(1).standard_normal((k, 3)) for k in X.shape))
    for one, other in zip(plain, short, strict=True):
        for side in ("by_row", "by_col"):
            for a, b in zip(getattr(one, side)[:5], getattr(other, side)[:5], strict=True):
                np.testing.assert_array_equal(a, b)
        assert one.value(A) == other.value(A)
        for cells in (one.by_row, other.by_row):  # as numbers of a sparse matrix
            found = cells.engine.products(cells, cells.values, 1.0, A.V.astype(np.float32))
            np.testing.assert_allclose(found, X @ A.V, rtol=1e-4, atol=1e-5)
        x = np.arange(X.shape[1], dtype=float)
        np.testing.assert_array_equal(one.gradient(A).matvec(x), other.gradient(A).matvec(x))
        np.testing.assert_array_equal(
            one.half_sweep(A.V, A.U, side="row", ridge=0.1),
            other.half_sweep(A.V, A.U, side="row", ridge=0.1),
        )
        np.testing.assert_array_equal(
            minimize(one, 2, random_state=0).A.to_dense(),
            minimize(other, 2, random_state=0).A.to_dense(),
        )


def test_the_default_fit_of_ratings_kept_as_codes_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((120, 60)) < 0.4)
    stars = np.clip(
        np.round(3 + rng.standard_normal(120)[rows] + rng.standard_normal(60)[cols]), 1, 5
    )
    found = []
    for least in (1 << 40, 0):
        monkeypatch.setattr(observed, "MIN_CODED_CELLS", least)
        found.append(MatrixCompletion(posterior=3, random_state=0).fit((rows, cols, stars)))
    plain, short = found
    np.testing.assert_array_equal(plain.predict(rows, cols), short.predict(rows, cols))
    assert plain.path_[-1].certificate == short.path_[-1].certificate
    assert type(short.seen_.values) is np.ndarray
    np.testing.assert_array_equal(plain.seen_.values, short.seen_.values)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_codes_are_those_of_the_numbers(weighted, monkeypatch):
    monkeypatch.setattr(observed, "MIN_CODED_CELLS", 1)
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((50, 40)) < 0.5)
    y, w = rng.integers(1, 11, len(rows)) / 2, rng.random(len(rows)) + 0.5
    data = Entries(rows, cols, y, sample_weight=w if weighted else None)
    assert isinstance(data.by_row.values, Coded)
    w = w if weighted else np.ones(len(y))
    expected = np.sum(w * (y - 2.2)), np.sum(w * (y - 2.2) ** 2)
    np.testing.assert_allclose(data.moments(2.2), expected, rtol=1e-12)
