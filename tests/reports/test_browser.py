"""The report in a real browser: Chromium, driven by Playwright."""

import re
import shutil
from itertools import pairwise

import numpy as np
import pytest

import pygeco
from pygeco import MatrixCompletion
from report_cases import by_attributes, by_evidence, by_path, ratings

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=True)

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVIL = (
    '<img src="http://127.0.0.1:9/x" onerror="document.title=1"></script><script>alert(1)</script>'
)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    evil = MatrixCompletion(2, penalty=None, random_state=0).fit(ratings()[0])
    evil.row_ids_ = evil.column_ids_ = [EVIL] * 120
    models = {"evidence": by_evidence(), "path": by_path(), "evil": evil}
    pages = {
        name: pygeco.report(model, ratings()[1], output=folder / f"{name}.html").as_uri()
        for name, model in models.items()
    }
    told = pygeco.report(by_attributes(), output=folder / "attributes.html").as_uri()
    return pages | {"attributes": told}


@pytest.fixture
def opened(browser, reports):
    """Opens a report; at the end nothing may have complained, and nothing left the page."""
    complaints, requests, contexts = [], [], []

    def open_(name, **settings):
        contexts.append(browser.new_context(reduced_motion="reduce", **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(reports[name])
        page.wait_for_selector("[data-chart=path] svg polyline")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len(requests) == len(contexts)


@pytest.mark.parametrize("name", ["evidence", "path"])
def test_every_chart_is_drawn(opened, name) -> None:
    page = opened(name)
    for figure in page.locator("[data-chart]").all():
        assert figure.locator("svg circle, svg rect").count() > 0
    colors = page.evaluate(
        "[...document.querySelectorAll('[data-chart=path] polyline')]"
        ".map((n) => getComputedStyle(n).stroke)"
    )
    assert len(set(colors)) == 2


def test_the_chart_answers_to_the_mouse(opened) -> None:
    page = opened("path")
    figure = page.locator("[data-chart=path]")
    plot, said = figure.locator(".plot"), figure.locator(".said")
    hint = said.inner_text()
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert said.inner_text().startswith("rank: 3, ")
    assert figure.locator(".cursor").count() == 1
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 0.5 * box["height"])
    assert said.inner_text().startswith("rank: 5, ")
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert "held" in said.inner_text()
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 0.5 * box["height"])
    assert said.inner_text().startswith("rank: 3, ")
    assert figure.locator("tr.on th").text_content() == "3"
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.locator("h1").click()
    page.locator("h1").hover()
    assert said.inner_text() == hint
    assert figure.locator("tr.on").count() == 0


def test_the_chart_answers_to_the_keyboard(opened) -> None:
    page = opened("path")
    figure = page.locator("[data-chart=path]")
    plot, said = figure.locator(".plot"), figure.locator(".said")
    plot.focus()
    for key, rank in [
        ("Home", 1),
        ("ArrowRight", 2),
        ("End", 5),
        ("ArrowRight", 5),
        ("ArrowLeft", 4),
    ]:
        page.keyboard.press(key)
        assert said.inner_text().startswith(f"rank: {rank}, ")
        assert plot.get_attribute("aria-valuenow") == str(rank)
        assert plot.get_attribute("aria-valuetext").startswith(f"rank: {rank}, ")
    page.keyboard.press("Enter")
    assert "held" in said.inner_text()
    page.keyboard.press("Escape")
    assert "rank:" not in said.inner_text()


def test_every_control_is_reached_by_tab_and_has_a_name(opened) -> None:
    page = opened("evidence")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    names = page.evaluate(
        "[...document.querySelectorAll('[tabindex], summary, nav a')].map("
        "(n) => n.getAttribute('aria-label') || n.textContent.trim())"
    )
    assert all(names)
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((n) => +n.tagName[1])")
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def contrast(page, selector: str) -> float:
    """WCAG's ratio of the text's color to the nearest background behind it."""
    return page.evaluate(
        """(selector) => {
          const light = (text) => {
            const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
              const c = v / 255;
              return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          let node = document.querySelector(selector);
          const ink = getComputedStyle(node).color;
          const behind = () => getComputedStyle(node).backgroundColor;
          while (behind() === "rgba(0, 0, 0, 0)") node = node.parentElement;
          const [a, b] = [light(ink), light(behind())];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }""",
        selector,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(opened, scheme) -> None:
    page = opened("evidence", color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(v) for v in dark[4:-1].split(",")) < 128 * 3) == (scheme == "dark")
    for selector in ("p", "h1", ".tiles dt", ".tiles small", ".readout", "nav a", "footer p", "td"):
        assert contrast(page, selector) >= 4.5, selector
    page.emulate_media(media="print")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(v) for v in paper[4:-1].split(",")) > 240 * 3


def test_a_phone_shows_it_without_scrolling_sideways(opened) -> None:
    page = opened("evidence", viewport={"width": 390, "height": 844}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    width = page.locator("[data-chart=path] .plot svg").bounding_box()["width"]
    assert 280 <= width <= 390
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg text')].map((n) => n.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 11
    plot = page.locator("[data-chart=path] .plot")
    plot.tap()
    assert "components:" in page.locator("[data-chart=path] .said").inner_text()
    page.set_viewport_size({"width": 800, "height": 600})
    page.wait_for_function(
        "document.querySelector('[data-chart=path] .plot svg').clientWidth > 500"
    )


@pytest.mark.parametrize("name", ["evidence", "path", "attributes"])
def test_no_table_is_cut(opened, name) -> None:
    page = opened(name, viewport={"width": 320, "height": 844})
    for width in (320, 390, 1200):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(f"document.documentElement.scrollWidth === {width}")
        cut = page.evaluate(
            "[...document.querySelectorAll('table, .wide')].filter((n) => n.offsetParent && "
            "(n.scrollWidth > n.clientWidth + 1 || n.getBoundingClientRect().right > innerWidth))"
            ".map((n) => n.textContent.trim().slice(0, 60))"
        )
        assert cut == [], width


def test_a_perfect_fit_has_no_negative_zeros(browser, tmp_path) -> None:
    X = np.outer(np.arange(1.0, 13.0), np.arange(1.0, 9.0))
    model = MatrixCompletion(1, penalty=None, random_state=0).fit(X)
    page = browser.new_page()
    page.goto(pygeco.report(model, output=tmp_path / "r.html").as_uri())
    page.wait_for_selector("[data-chart=residuals] svg rect")
    texts = page.evaluate("[...document.querySelectorAll('svg text')].map((n) => n.textContent)")
    assert not [text for text in texts if re.fullmatch(r"[-−]0[.0]*", text)]
    page.close()


def shown(browser, tmp_path, X, **settings):
    """The report of a small dense table."""
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(X)
    page = browser.new_page(**settings)
    page.goto(pygeco.report(model, output=tmp_path / "r.html").as_uri())
    return page


def test_bars_of_uneven_levels_stand_apart(browser, tmp_path) -> None:
    levels = np.array([1.0, 2.0, 5.0, 100.0])
    X = levels[np.random.default_rng(0).integers(0, 4, (12, 10))]
    page = shown(browser, tmp_path, X)
    page.wait_for_selector("[data-chart=values] svg rect")
    bars = page.evaluate(
        "[...document.querySelectorAll('[data-chart=values] svg rect')]"
        ".map((n) => n.getBoundingClientRect()).map((r) => [r.left, r.right])"
    )
    assert len(bars) == 4
    assert all(a[1] < b[0] for a, b in pairwise(bars))
    page.close()


def test_numbers_of_large_values_do_not_run_into_each_other(browser, tmp_path) -> None:
    X = 4e9 * np.random.default_rng(0).standard_normal((14, 12))
    page = shown(browser, tmp_path, X, viewport={"width": 360, "height": 800})
    page.wait_for_selector("[data-chart=residuals] svg rect")
    together = page.evaluate(
        """[...document.querySelectorAll(".plot svg")].flatMap((svg) => {
          const all = [...svg.querySelectorAll("text")].map((n) => n.getBoundingClientRect());
          return all.flatMap((a, i) => all.slice(i + 1).filter((b) => a.left < b.right &&
            b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom));
        }).length"""
    )
    assert together == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.close()


def test_names_of_either_direction_leave_what_stands_beside_them(browser, tmp_path) -> None:
    X = np.random.default_rng(0).standard_normal((6, 5))
    model = MatrixCompletion(1, penalty=None, random_state=0).fit(X)
    path = pygeco.report(
        model, output=tmp_path / "r.html", titles=["\u202eevil \u05e9 (1)" * 40] * 5
    )
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto(path.as_uri())
    loose = page.evaluate(
        "[...document.querySelectorAll('.name, td.text')].filter((n) => n.textContent.includes("
        "'evil') && !n.querySelector('bdi')?.textContent.includes('evil')).length"
    )
    assert loose == 0
    assert page.locator("bdi", has_text="evil").count() > 5
    assert all(one.bounding_box()["height"] < 120 for one in page.locator(".name").all())
    before = "getComputedStyle(document.querySelector('.none .name'), '::before').content"
    assert page.evaluate(before) == "none"  # what says that the list is empty has no number
    page.close()


def test_without_a_script_the_page_says_so_first_and_leaves_no_holes(browser, tmp_path) -> None:
    X = np.random.default_rng(0).standard_normal((6, 5))
    page = shown(browser, tmp_path, X, java_script_enabled=False)
    assert page.locator("main > :first-child").inner_text().startswith("The charts need JavaScript")
    assert page.locator("[data-chart=path]").bounding_box()["height"] < 130
    assert not page.locator("[data-chart=path] .readout").is_visible()
    page.close()


def test_a_title_cannot_run(opened) -> None:
    page = opened("evil")
    assert "127.0.0.1" in page.locator("#worst ~ .wide").inner_text()
    assert page.title().startswith("Matrix completion")
    assert page.locator("img").count() == 0
