"""Warnings of RobustPCA about a fit that has not come to rest, or that looks wrong."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from pygeco.algorithm.robust import Fit
from pygeco.errors import OutlierWarning
from pygeco.errors.telling import warn_caller

# Both shares are beyond these: of 4,700 tables of noise, counts, heavy tails and up to 15 % of wild
# cells for 5, 3 of them rightly; for half of the fits that too many wild cells made wrong.
MAX_WILD_SHARE = 0.15
MAX_NOISE_SHARE = 0.3  # of the data's spread
MIN_CUTOFF = 3.0  # deviations: cells beyond a smaller one need not be wild


def warn_of_doubts(fit: Fit, outliers: float, max_iter: int) -> None:
    """Warn where the fit moved to the end, or where its outliers, a share of the cells, and its
    noise are so many and so large that it may have taken the one for the other.
    """
    if not fit.converged:
        warn_caller(
            f"RobustPCA still moved after max_iter={max_iter}; raise max_iter or tol.",
            ConvergenceWarning,
        )
    noise = fit.scale / fit.spread
    if outliers > MAX_WILD_SHARE and noise > MAX_NOISE_SHARE:
        warn_caller(
            f"RobustPCA found outliers in {outliers:.0%} of the cells, and noise of {noise:.2f} of "
            "the data's spread: so many outliers may have passed into the low-rank part; compare "
            "fewer components, fit more rows or columns, or correct or mask wild cells first.",
            OutlierWarning,
        )
