"""One self-contained HTML file that tells what was fitted and how well.

The template needs loops and escaping by default: ids and titles come from files that others wrote.
That is Jinja's autoescape (string.Template has neither). The page also forbids itself, by a content
security policy with the hashes of its own script and style, to run or to load anything else.
"""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from importlib.resources import files
from pathlib import Path
from typing import Any

from pygeco.arrays.whole_file import whole_file
from pygeco.clicks.model import ClickModel
from pygeco.diagnostics.completion import Completion
from pygeco.reports.clicks import gather_click_content
from pygeco.reports.content import Titles, gather_content


def report(
    model: Completion,
    held_out: object = None,
    *,
    output: str | os.PathLike[str] = "report.html",
    titles: Titles = None,
    heading: str | None = None,
) -> Path:
    """Write the report of a fitted `MatrixCompletion` or `ImplicitCompletion` to one HTML file.

    Parameters
    ----------
    model : MatrixCompletion or ImplicitCompletion
        A fitted model.
    held_out : cells as fit takes them, or None, default=None
        Errors, calibration and the worst cells are measured on these. By default the report uses
        cells that the model keeps as held out, or else the fitted cells, and says so. For clicks,
        lists are judged, next to popularity.
    output : path, default="report.html"
        The file to write; it is written completely or not at all.
    titles : dict from id to title, one title per column, or None, default=None
        Names of the columns on the page.
    heading : str or None, default=None
        The title of the page.

    Returns
    -------
    pathlib.Path
        The path of the file.
    """
    if not all(hasattr(model, name) for name in ("factors_", "path_", "seen_", "loss_")):
        raise ValueError(
            f"model: a report needs a fitted MatrixCompletion, not {type(model).__name__}; "
            "call fit first."
        )
    if not model.model_.is_here:
        raise ValueError(
            "model: its rows are on a cluster; call model.to('cpu') first, or load its file."
        )
    model.learn_lists()
    is_of_clicks = isinstance(model.model_, ClickModel)
    gather = gather_click_content if is_of_clicks else gather_content
    page = render(gather(model, held_out, titles, heading))
    path = Path(output)
    with whole_file(path) as file:
        file.write(page.encode())
    return path


def render(values: dict[str, Any]) -> str:
    """The page with these values in it."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the report needs jinja2; run: pip install 'pygeco[report]'", name="jinja2"
        ) from error
    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; "
        f"script-src 'sha256-{_hash(script)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    drawn = {
        name: {key: part for key, part in chart.items() if key != "columns"}
        for name, chart in values["charts"].items()
    }
    template = environment.get_template(values.get("template", "report.html.j2"))
    return template.render(style=style, script=script, policy=policy, drawn=drawn, **values)


def _part(name: str) -> str:
    return files("pygeco.reports").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
