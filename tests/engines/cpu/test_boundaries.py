"""Arrays that do not fit are refused by every pass, each too short or too long in its turn."""

import numpy as np
import pytest

from pygeco.engines import choose_engine
from pygeco.engines.values import LineScales, Ridges, Vectors
from pygeco.losses import Huber

M, N, S = 7, 5, 3
ENGINE = choose_engine("cpu")
RNG = np.random.default_rng(0)
SEEN = np.nonzero(RNG.random((M, N)) < 0.7)
CELLS, OTHER = ENGINE.both_orders(*SEEN, RNG.standard_normal(len(SEEN[0])), None, (M, N))
DATA = np.ones(CELLS.size)


def ridges(partner=N, bias=N, variance=N, ridge=M, shift=M, noise=M):
    return Ridges(
        partner=np.ones((partner, S)), bias=np.ones(bias), variance=np.ones((variance, S)),
        bias_variance=np.ones(variance), ridge=np.ones(ridge), prior=np.eye(S + 1),
        shift=np.ones((shift, S + 1)), tau=1.0, jitter=0.0, noise=np.ones((noise, S + 1)),
        offsets=True,
    )  # fmt: skip


def solve(m=M, bias=M, **sizes):
    start = Vectors(np.ones((m, S)), np.ones(bias))
    ENGINE.solve_side(CELLS, start, ridges(**sizes), variances=True)


def sweep(m=M, n=N, background=M):
    some = Ridges(
        partner=np.ones((n, S)), bias=None, variance=None, bias_variance=None, ridge=np.ones(M),
        prior=np.eye(S), shift=np.zeros(S), tau=1.0, jitter=0.0, noise=None, offsets=False,
        background=np.ones(background), spectrum=np.ones(S),
    )  # fmt: skip
    ENGINE.half_sweep(CELLS, np.ones((m, S)), some, variances=False)


def scaled(data=CELLS.size, n=N, own=M, other=N, pull=M, shift=2):
    scales = LineScales(np.ones(own), np.ones(other), np.ones(pull), np.ones(shift))
    ENGINE.scaled_products(CELLS, np.ones(data), np.ones((n, 2)), scales)


def with_factors(name, *more):
    def run(m=M, n=N, s=S):
        getattr(ENGINE, name)(CELLS, *more[:1], np.ones((m, s)), np.ones((n, S)), *more[1:])

    return run


# A pass, and what it is given as arguments of these names: their right sizes are the defaults.
PASSES = {
    "product": lambda data=CELLS.size, n=N: ENGINE.product(CELLS, np.ones(data), 1.0, np.ones(n)),
    "transposed": lambda data=CELLS.size, m=M, size=N: ENGINE.transposed_product(
        CELLS, np.ones(data), 1.0, np.ones(m), size
    ),
    "products": lambda data=CELLS.size, n=N: ENGINE.products(
        CELLS, np.ones(data), 1.0, np.ones((n, 2))
    ),
    "scaled products": scaled,
    "residuals": with_factors("residuals"),
    "fresh products": lambda m=M, n=N, s=S, x=N: ENGINE.fresh_products(
        CELLS, np.ones((m, s)), np.ones((n, S)), 1.0, np.ones((x, 2))
    ),
    "cross grams": lambda n=N, x=N: ENGINE.cross_grams(CELLS, np.ones((n, S)), np.ones(x)),
    "moments": lambda n=N: ENGINE.moments(CELLS, np.ones((n, S))),
    "total": with_factors("total", Huber(1.0)),
    "slopes": with_factors("slopes", Huber(1.0)),
    "systems": with_factors("systems", Huber(1.0), S),
    "solve side": solve,
    "background": sweep,
    "row systems": lambda offset=N, n=N: ENGINE.row_systems(
        CELLS, slice(0, M), np.ones(offset), np.ones((n, S))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_an_array_that_is_too_short_is_refused(name) -> None:
    run = PASSES[name]
    run()
    names = run.__code__.co_varnames[: run.__code__.co_argcount]
    found = run.__defaults__
    sizes = dict(zip(names, found, strict=True)) if found else {}
    if name == "solve side":
        sizes |= {"partner": N, "variance": N, "ridge": M, "shift": M, "noise": M}
    assert sizes
    for argument, size in sizes.items():
        sentence = r"^(data|groups|indices|factors|shift): .*\.$"
        with pytest.raises(ValueError, match=sentence):
            run(**{argument: size - 1})
        if size == M or argument == "s":  # rows of the groups: of others there may be more
            with pytest.raises(ValueError, match=sentence):
                run(**{argument: size + 1})


def test_sizes_and_parts_beyond_are_refused() -> None:
    P, Q = np.ones((M, S)), np.ones((N, S))
    with pytest.raises(ValueError, match=r"^size: must be at most 3, the columns of Q, not 4\.$"):
        ENGINE.systems(CELLS, Huber(1.0), P, Q, S + 1)
    for part in (slice(0, M + 1), slice(-1, M), slice(3, 2)):
        with pytest.raises(ValueError, match=rf"^part: .* is not among {M} groups of cells"):
            ENGINE.row_systems(CELLS, part, np.ones(N), Q)


def test_cells_know_the_size_of_the_other_side() -> None:
    assert (CELLS.groups, CELLS.others, OTHER.groups, OTHER.others) == (M, N, N, M)
