"""Clicks to a model: settings by held-out clicks, then both families on all clicks, blended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from pygeco.algorithm.events import ClickTrial
from pygeco.arrays.kinds import contiguous, inner, times, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.clicks.attributes import Told
from pygeco.clicks.cluster import ClickClusterModel
from pygeco.clicks.cold import Given, choose_attributes, start_attributes
from pygeco.clicks.counts import find_counts, weigh_counts
from pygeco.clicks.empty_rows import settle_factors
from pygeco.clicks.informing import inform
from pygeco.clicks.judging import hold_out_clicks, hold_out_more
from pygeco.clicks.lines import SpectralPart, SquaresPart
from pygeco.clicks.model import ClickModel
from pygeco.clicks.search import (
    BACKGROUND_OF_ROW,
    SPECTRAL_START,
    SQUARES_START,
    Found,
    Search,
)
from pygeco.clicks.settings import GivenAttributes, SpectralSettings, SquaresSettings
from pygeco.clicks.spectral import (
    SpectralFactors,
    Spectrum,
    find_encoder,
    find_spectrum,
    line_powers,
    make_factors,
    measure_spread,
)
from pygeco.clicks.squares import SquaresFactors, fit_squares, make_objective
from pygeco.losses import Squared
from pygeco.models.seen import Positions, keep_cells
from pygeco.models.slab_arrays import is_in_slabs
from pygeco.models.updating import merge_cells
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases

AnyClickModel = ClickModel | ClickClusterModel

DEFAULT_SHARE = 0.5  # where no click can be held out to choose it
DEFAULT_FAME = 1.0  # likewise: rows of one click each say little but what is popular


class Chosen(NamedTuple):
    """Settings of both families, and what a fit of all clicks starts from."""

    spectral: SpectralSettings | None
    squares: SquaresSettings | None
    share: float
    spectral_start: Array | None = None
    squares_start: Array | None = None


class FittedClicks(NamedTuple):
    """The model, and all that was tried for its settings."""

    model: AnyClickModel
    trials: tuple[ClickTrial, ...]
    is_stopped: bool


def fit_clicks(
    entries: Entries,
    *,
    spectral: SpectralSettings | None = SpectralSettings(),  # noqa: B008
    squares: SquaresSettings | None = SquaresSettings(),  # noqa: B008
    share: float | None = None,
    seed: int = 0,
    tell: Callable[[ClickTrial], object] = lambda trial: None,
    told: Told = (None, None),
    attributes: Given = (GivenAttributes(), GivenAttributes()),  # noqa: B008
) -> FittedClicks:
    """The model of clicks, whose weights are the values of the entries.

    None for a family leaves it out, and None within its settings, or for the share of the squares
    in the scores, leaves that to held-out clicks. `told` are attributes of rows and of columns, and
    `attributes` how much these count.
    """
    search = _start_search(entries, spectral, squares, share, seed, tell)
    wishes = start_attributes(told, attributes)
    if search is None:
        chosen = _take_defaults(entries, spectral, squares, share)
    else:
        chosen, parts = _choose(search, spectral, squares, share)
        if any(values is not None for values in told):
            product, _ = _blend(*parts, chosen.share)
            wishes = choose_attributes(
                search,
                entries,
                product.svd(product.U.dtype),
                told,
                lambda some: fit_chosen(some, chosen, seed).factors,
                attributes,
            )
    model = fit_chosen(entries, chosen, seed)
    if isinstance(model, ClickModel):
        model = inform(model, told, wishes)
    trials = () if search is None else tuple(search.trials)
    return FittedClicks(model, trials, search is not None and search.is_stopped)


def refit(model: ClickModel, new: Entries, places: tuple[Positions, Positions]) -> ClickModel:
    """The model of its clicks and counts of new ones, by the same settings, from where it is."""
    known = model.seen._replace(values=find_counts(model.seen.values, model.count_rule))
    entries = merge_cells(known, model.loss, new, places, "sum")
    entries = weigh_counts(entries, model.count_rule)
    starts: list[Array | None] = [None, None]
    for k, old in enumerate(
        (
            None if model.spectral is None else model.spectral.vectors,
            None if model.squares is None else model.squares.columns,
        )
    ):
        if old is not None:
            wide = np.zeros((entries.shape[1], old.shape[1]), old.dtype)
            wide[places[1]] = old
            starts[k] = wide
    chosen = Chosen(model.spectral_settings, model.squares_settings, model.share, *starts)
    told = tuple(
        None if values is None else values.widen(size, place)
        for values, size, place in zip(
            (model.row_attributes, model.column_attributes), entries.shape, places, strict=True
        )
    )
    wishes = tuple(
        None if one is None else one.settings for one in (model.row_map, model.column_map)
    )
    after = fit_chosen(entries, chosen, seed=0)
    assert isinstance(after, ClickModel)
    after = replace(after, count_rule=model.count_rule)
    return inform(after, (told[0], told[1]), (wishes[0], wishes[1]))


def fit_chosen(entries: Entries, chosen: Chosen, seed: int) -> AnyClickModel:
    """Both families with these settings on all clicks, as one matrix of scores."""
    one, spectrum = _fit_spectral(entries, chosen, seed)
    two = None
    if chosen.squares is not None and chosen.share > 0:
        two = fit_squares(entries, chosen.squares, seed=seed, start=chosen.squares_start)
    product, weights = _blend(one, two, chosen.share)
    factors = settle_factors(product, entries)
    nothing = Biases(0.0, *(zeros(size, entries.kind, entries.dtype) for size in entries.shape))
    kind = ClickClusterModel if is_in_slabs(entries.kind) else ClickModel
    return kind(
        factors=factors,
        biases=nothing,
        loss=Squared(),
        seen=keep_cells(entries),
        offsets=(),
        penalty=None,
        total_weight=entries.total_weight,
        levels=(1.0, 1.0),
        bounds=(0.0, 1.0),
        clips=False,
        spectral_settings=chosen.spectral,
        squares_settings=chosen.squares,
        share=chosen.share,
        spectral=None
        if one is None or spectrum is None
        else _keep_spectral(entries, chosen, spectrum, one, weights[0], factors),
        squares=None if two is None else _keep_squares(entries, chosen, two, weights[1], factors),
    )


class _Pair(Protocol):
    """Scores as `left` `right`ᵀ."""

    @property
    def left(self) -> Array: ...

    @property
    def right(self) -> Array: ...


def _blend(one: _Pair | None, two: _Pair | None, share: float) -> tuple[LowRank, list[float]]:
    """The scores of both families as one product, and the weight of each in it."""
    weights = [
        part_share / measure_spread(part.left, part.right) if part is not None else 0.0
        for part_share, part in ((1 - share, one), (share, two))
    ]
    lefts = [w * part.left for w, part in zip(weights, (one, two), strict=True) if part is not None]
    rights = [part.right for part in (one, two) if part is not None]
    left, right = np.concatenate(lefts, axis=1), np.concatenate(rights, axis=1)
    return LowRank.product(left, right), weights


def _start_search(
    entries: Entries,
    spectral: SpectralSettings | None,
    squares: SquaresSettings | None,
    share: float | None,
    seed: int,
    tell: Callable[[ClickTrial], object],
) -> Search | None:
    """A search; None where nothing is left to choose, or where there is nothing to choose by."""
    given = [part for part in (spectral, squares) if part is not None]
    if not given:
        raise ValueError("spectral: both families are switched off; leave one of them on.")
    if all(part.is_complete for part in given) and (share is not None or len(given) == 1):
        return None
    split = hold_out_clicks(entries, seed)
    return None if split is None else Search(split, seed, tell, hold_out_more(entries, seed, split))


def _take_defaults(
    entries: Entries,
    spectral: SpectralSettings | None,
    squares: SquaresSettings | None,
    share: float | None,
) -> Chosen:
    n, most = entries.shape[1], min(entries.shape)
    one = replace(SPECTRAL_START, rank=min(SPECTRAL_START.rank or 1, most))
    if spectral is not None and not spectral.is_complete:  # no row has a click to be held out
        one = replace(one, fame=DEFAULT_FAME)
    two = replace(
        SQUARES_START, rank=min(SQUARES_START.rank or 1, most), background=BACKGROUND_OF_ROW / n
    )
    alone = 0.0 if squares is None else 1.0 if spectral is None else None
    return Chosen(
        None if spectral is None else spectral.with_defaults(one),
        None if squares is None else squares.with_defaults(two),
        alone if alone is not None else DEFAULT_SHARE if share is None else share,
    )


def _choose(
    search: Search,
    spectral: SpectralSettings | None,
    squares: SquaresSettings | None,
    share: float | None,
) -> tuple[Chosen, tuple[_Pair | None, _Pair | None]]:
    """What held-out clicks chose, and the scores of each family that has a share, without those."""
    one: Found[SpectralSettings] | None = None
    two: Found[SquaresSettings] | None = None
    if spectral is not None:
        one = search.choose_spectral(spectral)
    if squares is not None and not (search.is_stopped and one is not None):
        two = search.choose_squares(squares)
    if one is None:
        share = 1.0
    elif two is None:
        share = 0.0
    elif share is None:
        share, _ = search.choose_share(one, two)
    chosen = Chosen(
        None if one is None else one.settings,
        None if two is None else two.settings,
        share,
        None if one is None else one.columns,
        None if two is None else two.columns,
    )
    return chosen, (one if share < 1 else None, two if share > 0 else None)


def _fit_spectral(
    entries: Entries, chosen: Chosen, seed: int
) -> tuple[SpectralFactors | None, Spectrum | None]:
    settings = chosen.spectral
    if settings is None or chosen.share >= 1:
        return None, None
    spectrum = find_spectrum(entries, settings, seed=seed, start=chosen.spectral_start)
    return make_factors(entries, spectrum, settings), spectrum


def _keep_spectral(
    entries: Entries,
    chosen: Chosen,
    spectrum: Spectrum,
    part: SpectralFactors,
    weight: float,
    factors: LowRank,
) -> SpectralPart:
    assert chosen.spectral is not None
    turn = weight * inner(part.right, factors.V).astype(float)
    encoder = find_encoder(entries, spectrum, chosen.spectral)
    return SpectralPart(contiguous(times(encoder, turn.astype(encoder.dtype))), spectrum.vectors)


def _keep_squares(
    entries: Entries, chosen: Chosen, part: SquaresFactors, weight: float, factors: LowRank
) -> SquaresPart:
    assert chosen.squares is not None
    objective = make_objective(entries, chosen.squares)
    turn = weight * inner(part.right, factors.V).astype(float)
    level, _ = line_powers(entries, chosen.squares.row_power or 0.0, 0.0)
    return SquaresPart(
        part.columns, turn.astype(part.columns.dtype), objective.kappa, float(level.mean())
    )
