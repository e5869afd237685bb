"""Settings by held-out clicks: each family climbs from where most data sets are near their best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from pygeco.algorithm.events import ClickTrial
from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.clicks.blends import BLENDS, compare_fames, compare_shares
from pygeco.clicks.judging import Judge, Split, average, score_rows
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.clicks.spectral import (
    Spectrum,
    find_spectrum,
    line_powers,
    make_factors,
    project_rows,
)
from pygeco.clicks.squares import fit_squares
from pygeco.clicks.steps import (
    FAMES,
    POPULARITIES,
    RIDGE_STEP,
    first_rank,
    lighter_backgrounds,
    near_popularities,
    near_ridges,
    neighbors,
    pick_popularity,
    pick_share,
    settings_key,
)
from pygeco.models.seen import Positions

MIN_GAIN = 0.002  # of the nDCG: less is chance, and not worth another step
RANK_GAIN = 0.005  # what a spectral rank twice as high must bring to be kept
# Where searches start: near the best of rating, review and check-in data.
SPECTRAL_START = SpectralSettings(256, 0.3, 0.3, 3.0, 0.0, 0.0)
BACKGROUND_OF_ROW = 1000.0  # α n at the start: that many clicks weigh as much as a row's background
SQUARES_START = SquaresSettings(64, 1.0, 0.005, 0.25, 0.25, 0.0)
POWER_STEP = 0.1
MAX_SPECTRAL_RANK, MAX_SQUARES_RANK = 2048, 256
NARROW_SIDE = 64  # rows or columns: 6 items gained 3 %, 40 items 1 %
MAX_TRIALS = 16  # of a family, ranks apart

Settings = TypeVar("Settings", SpectralSettings, SquaresSettings)


class Found(NamedTuple, Generic[Settings]):
    """The best settings of a family, and factors of the fit without the held-out clicks."""

    settings: Settings
    ndcg: float
    left: Array
    right: Array
    columns: Array  # what the fit of all clicks starts from


# Told of each trial; a true answer ends the search.
Tell = Callable[[ClickTrial], object]


@dataclass(eq=False)
class Search:
    """The search on one split of the clicks, and all that was tried.

    Where few clicks are held out, what is chosen last is chosen by those of `others`, too, whose
    fits start from nothing: columns that were fitted to their held-out clicks would know these.
    """

    split: Split
    seed: int
    tell: Tell = lambda trial: None
    others: tuple[Split, ...] = ()
    trials: list[ClickTrial] = field(default_factory=list)
    tried: set[tuple[float, ...]] = field(default_factory=set)  # of the spectral family
    is_stopped: bool = False
    began: float = field(default_factory=time.perf_counter)

    @cached_property
    def judge(self) -> Judge:
        """Both families have zeros for columns without a fitted click."""
        return self.split.judge.leave_out(host(self.split.fit.counts()[1]) == 0)

    def note(self, family: str, settings: object, ndcg: float, share: float | None = None) -> None:
        seconds = time.perf_counter() - self.began
        trial = ClickTrial(family, settings, ndcg, seconds, share)
        self.trials.append(trial)
        self.is_stopped |= bool(self.tell(trial))

    # ---- the spectral family

    def choose_spectral(self, given: SpectralSettings) -> Found[SpectralSettings]:
        """Powers by steps of a tenth, ridge and popularity at each, then the rank by doubling."""
        m, n = self.split.fit.shape
        start = given.with_defaults(SPECTRAL_START)
        start = replace(start, rank=first_rank(start, given, (m, n)))
        best = self._try_spectral(start, given, None)
        tried = {(start.row_power, start.column_power)}
        improved = True
        while improved and not self.is_stopped:
            improved = False
            for name in ("column_power", "row_power"):
                if getattr(given, name) is not None:
                    continue
                for step in (-POWER_STEP, POWER_STEP):
                    now = best[0].settings
                    value = round(getattr(now, name) + step, 3)
                    asked = replace(now, **{name: value})
                    key = (asked.row_power, asked.column_power)
                    if key in tried or self.is_stopped or len(self.trials) >= MAX_TRIALS:
                        continue
                    tried.add(key)
                    found = self._try_spectral(asked, given, best[1])
                    if found[0].ndcg > best[0].ndcg * (1 + MIN_GAIN):
                        best, improved = found, True
                        break
        if given.rank is None:
            best = self._double_rank(best, given)
        if given.ridge is None and not self.is_stopped:
            best = self._try_ridges(*best)
        if given.fame is None and not self.is_stopped:
            return self._try_fames(*best)
        return best[0]

    def _double_rank(
        self, best: tuple[Found[SpectralSettings], Spectrum], given: SpectralSettings
    ) -> tuple[Found[SpectralSettings], Spectrum]:
        """Ranks twice as high, until two in a row do not pay: gains do not shrink steadily.

        All pairs, too, where they are few: each of a dozen columns may have a say of its own.
        """
        side = min(self.split.fit.shape)
        latest, misses, most = best, 0, min(MAX_SPECTRAL_RANK, side // 2)
        rank = 2 * (best[0].settings.rank or 1)
        while rank <= most and misses < 2 and not self.is_stopped:
            latest = self._try_spectral(replace(best[0].settings, rank=rank), given, latest[1])
            pays = latest[0].ndcg >= best[0].ndcg * (1 + RANK_GAIN)
            best, misses, rank = latest if pays else best, 0 if pays else misses + 1, 2 * rank
        if 1 < side <= NARROW_SIDE and not self.is_stopped:
            latest = self._try_spectral(replace(best[0].settings, rank=side), given, latest[1])
            if latest[0].ndcg >= best[0].ndcg * (1 + RANK_GAIN):
                best = latest
        return best

    def _try_spectral(
        self, asked: SpectralSettings, given: SpectralSettings, start: Spectrum | None
    ) -> tuple[Found[SpectralSettings], Spectrum]:
        """The best ridge and popularity at these powers and this rank."""
        fit = self.split.fit
        before = None if start is None else start.vectors
        spectrum = find_spectrum(fit, asked, seed=self.seed, start=before)
        powers = near_popularities(asked, given, is_first=start is None)
        best, best_ndcg = asked, -1.0
        rows = project_rows(fit, spectrum, asked)
        for ridge in near_ridges(asked, given, is_first=start is None):
            now = replace(best, ridge=ridge, popularity=0.0)
            self.tried.add(settings_key(now))
            factors = make_factors(fit, spectrum, now, rows)
            scores = self.compare_popularities(factors.left, factors.right, powers)
            at = pick_popularity(powers, scores)
            if scores[at] > best_ndcg:
                best, best_ndcg = replace(now, popularity=powers[at]), scores[at]
                powers = powers[at : at + 1]
        self.note("spectral", best, best_ndcg)
        factors = make_factors(fit, spectrum, best, rows)
        found = Found(best, best_ndcg, factors.left, factors.right, spectrum.vectors)
        return found, spectrum

    def _try_ridges(
        self, found: Found[SpectralSettings], spectrum: Spectrum
    ) -> tuple[Found[SpectralSettings], Spectrum]:
        """Ridges next to the best, now that powers and rank are chosen."""
        fit, best, middle = self.split.fit, found, found.settings.ridge or 1.0
        near = (
            replace(found.settings, ridge=x) for x in (middle / RIDGE_STEP, middle * RIDGE_STEP)
        )
        left = [one for one in near if settings_key(one) not in self.tried]
        rows = project_rows(fit, spectrum, found.settings) if left else None
        for now in left:
            factors = make_factors(fit, spectrum, now, rows)
            (ndcg,) = self.compare_popularities(factors.left, factors.right, (0.0,))
            self.note("spectral", now, ndcg)
            if ndcg > best.ndcg * (1 + MIN_GAIN):
                best = Found(now, ndcg, factors.left, factors.right, spectrum.vectors)
        return best, spectrum

    def _try_fames(
        self, found: Found[SpectralSettings], spectrum: Spectrum
    ) -> Found[SpectralSettings]:
        """The least weight of what is popular that does about as well as any."""
        tried = [replace(found.settings, fame=fame) for fame in FAMES]
        told = [compare_fames(self.split.fit, self.judge, spectrum, found.settings)]
        for fit, judge in self.others:
            other = find_spectrum(fit, found.settings, seed=self.seed)
            told.append(compare_fames(fit, judge, other, found.settings))
        scores = average(told)
        for settings, score in zip(tried[1:], scores[1:], strict=True):
            self.note("spectral", settings, score)
        at = pick_popularity(FAMES, scores)
        left, right = make_factors(self.split.fit, spectrum, tried[at])
        return Found(tried[at], scores[at], left, right, found.columns)

    # ---- weighted squares

    def choose_squares(self, given: SquaresSettings) -> Found[SquaresSettings]:
        """One setting after the other by steps, at a low rank; then the rank by doubling."""
        m, n = self.split.fit.shape
        default = replace(SQUARES_START, background=BACKGROUND_OF_ROW / n)
        start = given.with_defaults(default)
        start = replace(start, rank=first_rank(start, given, (m, n)))
        best, tried = self._try_squares(start, given, None), {settings_key(start)}
        for one in lighter_backgrounds(start, given):
            if not self.is_stopped:
                tried.add(settings_key(one))
                found = self._try_squares(one, given, None)
                best = found if found.ndcg > best.ndcg * (1 + MIN_GAIN) else best
        count, improved = 1, True
        while improved and not self.is_stopped:
            improved = False
            for asked in neighbors(best.settings, given):
                for one in asked:
                    if settings_key(one) in tried or self.is_stopped or count >= MAX_TRIALS:
                        continue
                    tried.add(settings_key(one))
                    found, count = self._try_squares(one, given, best.columns), count + 1
                    if found.ndcg > best.ndcg * (1 + MIN_GAIN):
                        best, improved = found, True
                        break
        while given.rank is None and not self.is_stopped:
            rank = 2 * (best.settings.rank or 1)
            if rank > min(MAX_SQUARES_RANK, m // 2, n // 2):
                break
            found = self._try_squares(replace(best.settings, rank=rank), given, best.columns)
            if found.ndcg < best.ndcg:
                break
            best = found
        return best

    def _try_squares(
        self, asked: SquaresSettings, given: SquaresSettings, start: Array | None
    ) -> Found[SquaresSettings]:
        fit = self.split.fit
        factors = fit_squares(fit, replace(asked, popularity=0.0), seed=self.seed, start=start)
        powers = POPULARITIES[:3] if given.popularity is None else (given.popularity,)
        scores = self.compare_popularities(factors.left, factors.right, powers)
        at = pick_popularity(powers, scores)
        settings = replace(asked, popularity=powers[at])
        self.note("squares", settings, scores[at])
        _, popular = line_powers(fit, 0.0, powers[at])
        right = on(popular[:, None], factors.right, factors.right.dtype) * factors.right
        return Found(settings, scores[at], factors.left, right, factors.columns)

    # ---- both

    def choose_share(
        self, spectral: Found[SpectralSettings], squares: Found[SquaresSettings]
    ) -> tuple[float, float]:
        """The share of the squares in the blend that does best, and its nDCG."""
        told = [compare_shares(self.judge, spectral[2:4], squares[2:4])]
        for fit, judge in self.others:
            one = find_spectrum(fit, spectral.settings, seed=self.seed)
            two = fit_squares(fit, squares.settings, seed=self.seed)
            pair = make_factors(fit, one, spectral.settings)
            told.append(compare_shares(judge, pair, two[:2]))
        scores = average(told)
        for share, score in zip(BLENDS, scores, strict=True):
            self.note("both", None, score, share)
        at = pick_share(BLENDS, scores)
        return BLENDS[at], scores[at]

    def compare_popularities(
        self, left: Array, right: Array, powers: tuple[float, ...]
    ) -> list[float]:
        """The nDCG of the scores times the counts of columns to each power."""
        fit = self.split.fit
        steps = np.diff(np.array(powers), prepend=0.0)  # from each to the next, in place
        popular = [on(line_powers(fit, 0.0, step)[1], right, right.dtype) for step in steps]
        scales = [self.judge.take(x) if s else None for x, s in zip(popular, steps, strict=True)]
        right = self.judge.take(right)

        def tables(rows: Positions) -> Iterable[Array]:
            scores = score_rows(left, rows, right)
            for scale in scales:
                if scale is not None:
                    scores *= scale  # what is hidden stays at −∞
                yield scores

        return self.judge.compare(tables, len(powers))
