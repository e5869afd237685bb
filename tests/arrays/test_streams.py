"""Random streams: none of the package's is one that a user may have drawn the data from."""

import ast
from itertools import product
from pathlib import Path as File

import numpy as np
import pytest

import pygeco
from pygeco import Entries, LowRank, Stop, Trace, duality_gap, minimize, rivals, trace_path
from pygeco.arrays.streams import Purpose, stream
from pygeco.data import split_cells
from pygeco.estimators import MatrixCompletion
from sources import parse_files

SEEDS = (0, 1, 2, 7, 2**31 - 1, 2**32, 2**32 + 1, 2**63 - 1)
KEYS = ((), (0,), (1,), (5,))


def first(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def test_no_stream_coincides_with_one_of_a_user() -> None:
    theirs = {first(np.random.default_rng(seed)) for seed in SEEDS}
    for seed, k in product(SEEDS, (*range(64), *SEEDS)):
        theirs |= {first(np.random.default_rng(words)) for words in ([seed, k], [k, seed])}
        theirs.add(first(np.random.default_rng([seed, k, 0])))
    for seed in SEEDS:
        children = np.random.SeedSequence(seed).spawn(64)
        theirs |= {first(np.random.default_rng(child)) for child in children}
    ours = [first(stream(p, seed, *keys)) for p, seed, keys in product(Purpose, SEEDS, KEYS)]
    assert not theirs & set(ours)
    assert len(set(ours)) == len(ours)


def test_a_stream_is_the_same_each_time() -> None:
    one, other = (stream(Purpose.PATH, 3, 2).standard_normal(5) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_only_the_module_of_streams_makes_generators() -> None:
    """But for data that are defined by a recipe which anyone can repeat."""
    recipes = {
        "arrays/streams.py",
        "data/synthetic.py",
        "data/movielens.py",
        "experiments/tasks.py",
    }
    package = File(pygeco.__file__).parent
    makers = {"default_rng", "SeedSequence", "PCG64", "Philox", "MT19937", "SFC64"}
    found = {
        file.relative_to(package).as_posix()
        for file, tree in parse_files(package, *makers)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in makers
    }
    assert found <= recipes
    assert "arrays/streams.py" in found


def hidden(words: int | list[int], weak: float, strong: float, shape: tuple[int, int]) -> Entries:
    """All cells of a matrix whose strong pair a start at the user's first draw never meets."""
    rng = np.random.default_rng(words)
    n = shape[1]
    x, z = (rng.standard_normal(n) for _ in range(2))
    x /= np.linalg.norm(x)
    z -= x * (x @ z)
    Y = np.zeros(shape)
    Y[0], Y[1] = weak * x, strong * z / np.linalg.norm(z)
    rows, cols = np.indices(shape).reshape(2, -1)
    return Entries(rows, cols, Y.ravel(), shape)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("words", [lambda s: s, lambda s: [s, 0], lambda s: [s, 1]])
@pytest.mark.parametrize("shape", [(30, 40), (70, 20)])
def test_data_and_fit_may_share_a_seed(seed: int, words, shape: tuple[int, int]) -> None:
    entries = hidden(words(seed), 1.0, 22.0, shape)
    scale = 2 / entries.size  # ∇R(0) = −scale · Y
    zero, penalty = LowRank.zero(shape), Trace(10 * scale)
    path = minimize(entries, 3, penalty=penalty, random_state=seed)
    assert path.stop is not Stop.OPTIMAL or path.A.rank == 1
    best = trace_path(entries, alphas=[10 * scale], random_state=seed)[0].objective
    assert (
        duality_gap(entries, zero, penalty, random_state=seed).gap
        >= entries.value(zero) - best - 1e-12
    )
    top = trace_path(entries, count=1, random_state=seed)[0].alpha
    assert top == pytest.approx(22 * scale, rel=1e-5)
    for rival in (rivals.r1mp, rivals.admira):
        step = rival(entries, 1, random_state=seed)[-1]
        residual = step.A.to_dense() - entries.by_row.values.reshape(shape)
        sigma = scale * np.linalg.svd(residual, compute_uv=False)[0]
        assert step.certificate.upper >= sigma * (1 - 1e-9)


def test_cells_are_held_out_by_no_number_of_the_users() -> None:
    theirs = np.random.default_rng(0).random(1000)
    held = split_cells(1000, 0.5, 0)
    assert abs(np.corrcoef(theirs, held)[0, 1]) < 0.15
    assert not np.array_equal(held, theirs < 0.5)


def test_a_seed_may_be_any_state() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 15))
    for state in (5, np.int64(5), np.random.default_rng(5), np.random.RandomState(5), None):
        model = MatrixCompletion(1, random_state=state).fit(table)
        assert model.path_.seed >= 0
    with pytest.raises(ValueError, match="random_state: expected an integer ≥ 0"):
        MatrixCompletion(1, random_state=-1).fit(table)
