"""What held-out clicks chose, and all that they were asked about."""

from __future__ import annotations

from typing import Any, NamedTuple

from pygeco.algorithm.events import ClickTrial
from pygeco.arrays.short_repr import show_fields
from pygeco.clicks.settings import AttributeSettings, SpectralSettings, SquaresSettings
from pygeco.io.tables import pyarrow


class ClickChoice(NamedTuple):
    """The settings that held-out clicks chose, and all trials.

    Attributes
    ----------
    spectral, squares : SpectralSettings and SquaresSettings or None
        The settings of each family; None for one that is switched off.
    share : float
        The share of the squares in the scores; the spectral family has the rest.
    trials : tuple of ClickTrial
        In the order in which they were tried, with their nDCG@20 and the seconds since the start.
        None are left after `partial_fit`, which keeps the settings.
    row_attributes, column_attributes : AttributeSettings or None
        How much attributes count: `weight` for new rows or columns, `pull` for those with clicks;
        zero means "not used". None if the fit had no attributes.
    """

    spectral: SpectralSettings | None
    squares: SquaresSettings | None
    share: float
    trials: tuple[ClickTrial, ...]
    row_attributes: AttributeSettings | None = None
    column_attributes: AttributeSettings | None = None

    def __repr__(self) -> str:
        return show_fields(self)

    def to_pandas(self) -> Any:
        """Return the trials as a table.

        Returns
        -------
        pandas.DataFrame
        """
        every = (*vars(SquaresSettings()), "fame", "share")
        if any(isinstance(t.settings, AttributeSettings) for t in self.trials):
            every = (*every, "weight", "pull")
        lines: dict[str, list[Any]] = {"family": [t.family for t in self.trials]}
        for name in every:
            lines[name] = [
                t.share if name == "share" else getattr(t.settings, name, None) for t in self.trials
            ]
        lines |= {name: [getattr(t, name) for t in self.trials] for name in ("ndcg", "seconds")}
        return pyarrow().table(lines).to_pandas()
