"""What a model file must hold of clicks, and of what rows choose; see `model_checks`."""

from __future__ import annotations

from typing import Any

from pygeco.algorithm.events import ClickTrial
from pygeco.clicks.attributes import AttributeMap
from pygeco.clicks.lines import COUNT_RULES, SpectralPart, SquaresPart
from pygeco.clicks.settings import AttributeSettings, SpectralSettings, SquaresSettings
from pygeco.io.model_checks import Check, Sizes, array, each, number, of, optional, parts
from pygeco.models.list_scores import ListWeights

LISTS = parts(
    ListWeights,
    vectors=array("f", "n", "list rank"),
    inward=array("f", "n"),
    outward=array("f", "n"),
    shrink=array("f", "list rank"),
    power=of(int, float),
    threshold=number(),
    deviation=number(0),
)


def attribute_map(size: str) -> Check:
    """Where attributes put rows, or columns."""
    return parts(
        AttributeMap,
        center=array("f", size),
        level=array("f", "r"),
        weights=array("f", size, "r"),
        settings=of(AttributeSettings),
    )


def count_rule(name: str, value: Any, sizes: Sizes) -> None:
    """What counts are as weights."""
    if value not in COUNT_RULES:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(COUNT_RULES)}")


CLICK_CHECKS: dict[str, Check] = {
    "spectral_settings_": optional(of(SpectralSettings)),
    "squares_settings_": optional(of(SquaresSettings)),
    "share_": number(0),
    "spectral_": optional(
        parts(SpectralPart, encoder=array("f", "n", "r"), vectors=array("f", "n", "vectors"))
    ),
    "squares_": optional(
        parts(
            SquaresPart,
            columns=array("f", "n", "d"),
            turn=array("f", "d", "r"),
            weights=array("f", "n"),
            row_level=number(0),
        )
    ),
    "trials_": each(tuple, of(ClickTrial)),
    "row_map_": optional(attribute_map("row attributes")),
    "column_map_": optional(attribute_map("column attributes")),
    "count_rule_": optional(count_rule),
}
