"""The page: markup, a script and a style of its own; what comes from data is escaped."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files
from string import Template

import msgspec
import numpy as np

from pygeco.serve.served import Served


def render_page(served: Served) -> bytes:
    """The page of the model in service."""
    word = "click" if served.is_of_clicks else "rating"
    m, n = served.model.shape
    counts = ((m, "user"), (n, "item"), (served.known, word))
    model = served.model
    is_bounded = model.clips or model.likelihood is not None
    values = {
        "kind": "clicks" if served.is_of_clicks else "ratings",
        "levels": msgspec.json.encode([1] if served.is_of_clicks else served.levels).decode(),
        "bounded": "yes" if is_bounded else "no",
        "sure": "yes" if model.posterior is not None and not served.is_of_labels else "no",
        "version": served.version,
        "explains": "yes" if served.explains else "no",
        "summary": ", ".join(f"{k:,} {one}{'s' if k != 1 else ''}" for k, one in counts) + ".",
        "user": msgspec.json.encode(served.name(0, np.array([served.typical_row]))[0]).decode(),
        "verb": "Click" if served.is_of_clicks else "Rate",
        "hint": _describe_lists(served),
        "act": "click" if served.is_of_clicks else "rate",
    }
    safe = {name: html.escape(value) for name, value in values.items()}
    return Template(read_asset("page.html").decode()).substitute(safe).encode()


@cache
def read_asset(name: str) -> bytes:
    """A file of the page's, by a name that this program gives."""
    return files("pygeco.serve").joinpath(name).read_bytes()


def _describe_lists(served: Served) -> str:
    """What the numbers of a list are, and its order, for one who sees them for the first time."""
    model = served.model
    if served.is_of_clicks:
        return "Scores order the items and have no unit; the first is the likeliest next click."
    if served.is_of_labels:
        said = "Beside each item is its prediction: the larger, the likelier a 1."
    elif model.posterior is not None:
        said = "Beside each item are the predicted rating and the interval that holds nine of ten."
    else:
        said = "Beside each item is the predicted rating."
    if not model.loss.regression and served.explains:
        from pygeco.diagnostics.judging import describe_scale

        said += f" What speaks for it is {describe_scale(model.loss)}."
    if model.likelihood is not None:
        said += " The order leaves out how sure each is, so that numbers need not descend."
    lists = model.lists
    if lists is None or not np.isfinite(lists.power):
        return said
    return f"{said} The order also counts how likely the user is to choose the item."
