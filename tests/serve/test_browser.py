"""The page in a real browser, against a real server: by mouse and keyboard, wide and narrow.

`make soak` does everything in all combinations, on MovieLens-1M with titles where PYGECO_DATA has
it, with models of its own or those in the folder PYGECO_SERVE_MODELS (ratings.geco, clicks.geco).
Where PYGECO_AXE names a file axe.min.js of axe-core, it looks at every page; PYGECO_SHOTS is a
folder for pictures.
"""

import logging
import os
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from page_flows import (
    FLAGS,
    answer_oddly,
    do_everything,
    find_problems,
    find_user,
    look_at_items_alike,
    measure_clicks,
    names,
    open_page,
    wait,
)
from pygeco import MatrixCompletion
from serve_cases import PROGRAM, make_table, open_values, run_server, write_titles
from soak import SOAK
from waiting import wait_until

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=True)

LOG = logging.getLogger(__name__)  # shown by -o log_cli=true --log-cli-level=INFO
MOVIES = Path(os.environ.get("PYGECO_DATA", "none"), "ml-1m")
CASES = [("ratings", "light", 1400, True), ("clicks", "dark", 380, False)]
if SOAK:
    CASES = list(product(("ratings", "clicks"), ("light", "dark"), (1400, 380), (True, False)))
CLICKS = 60  # whose answers are timed, in the long form
MAX_MILLISECONDS = 100  # from a click to the new list: what feels immediate


@pytest.fixture(scope="module")
def model_files(request, tmp_path_factory):
    """The folder of both models, their titles, and whether they are MovieLens'."""
    if not (SOAK and MOVIES.is_dir()):
        request.getfixturevalue("models")
        folder = request.getfixturevalue("model_folder")
        return folder, write_titles(folder), False
    given = os.environ.get("PYGECO_SERVE_MODELS")
    folder = Path(given) if given else tmp_path_factory.mktemp("movies")
    for kind, more in (("ratings", ()), ("clicks", ("--implicit",))):
        if not (folder / f"{kind}.geco").exists():
            command = [*PROGRAM, "fit", str(MOVIES / "ratings.dat"), *more, "-o"]
            subprocess.run([*command, str(folder / f"{kind}.geco")], check=True)
    return folder, MOVIES / "movies.dat", True


@pytest.fixture(scope="module")
def open_server(model_files):
    """The address of a server of a kind of model, started once."""
    folder, titles, _ = model_files
    servers, logs, addresses = [], [], {}

    def open_one(kind):
        if kind not in addresses:
            server = run_server(folder / f"{kind}.geco", "--titles", str(titles))
            addresses[kind], _, log = server.__enter__()
            servers.append(server)
            logs.append(log)
        return addresses[kind]

    yield open_one
    for server in servers:
        server.__exit__(None, None, None)
    for log in logs:
        assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize(("kind", "scheme", "width", "keys"), CASES)
def test_everything_on_the_page(
    open_server, model_files, browser, kind, scheme, width, keys
) -> None:
    complaints, elsewhere = [], []
    address, is_movies = open_server(kind), model_files[2]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: elsewhere.append(request.url))
    wait_until(lambda: _try(page, address))
    do_everything(page, address, "7", "toy story" if is_movies else "film 3", keys=keys)
    assert page.locator("#user-items b, #user-items img").count() == 0  # titles are text
    if not is_movies:
        assert "<b>&amp;" in page.locator("#user-items .name").first.inner_text()
    _take_picture(page, f"{kind}-{scheme}-{width}-{'keys' if keys else 'mouse'}")
    if os.environ.get("PYGECO_AXE"):
        axe = Path(os.environ["PYGECO_AXE"]).read_text(encoding="utf-8")
        assert find_problems(page, axe) == []
    if SOAK:
        times = measure_clicks(page, CLICKS)
        middle, late = times[len(times) // 2], times[int(0.95 * len(times))]
        LOG.info("click to list, ms: median %.0f, p95 %.0f", middle, late)
        assert middle < MAX_MILLISECONDS
    context.close()
    assert complaints == []
    assert [url for url in elsewhere if not url.startswith((address, "data:"))] == []


def _pick(page, text: str, *keys: str) -> str:
    """The user that is chosen by typing and by keys, one right after the other."""
    field = page.locator("#user-text")
    field.fill(text)
    for key in keys:
        page.keyboard.press(key)
    wait(page, "document.getElementById('user-list').hidden")
    return field.input_value()


def test_enter_takes_the_first_match_of_what_is_typed(open_server, browser) -> None:
    """Also before the matches are there, and whatever was marked among those of another text."""
    page = browser.new_page()
    open_page(page, open_server("ratings"))
    find_user(page, "7", keys=True)

    def wait_for_it(route) -> None:
        page.wait_for_timeout(200)
        route.continue_()

    page.route("**/v1/find?*", wait_for_it)
    page.locator("#user-text").fill("")
    page.wait_for_selector("#user-list [role=option] span")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert _pick(page, "12", "Enter") == "12"
    wait(page, "document.getElementById('user-status').innerText.includes('user 12.')")
    page.keyboard.press("Enter")  # nothing is asked
    page.close()


def test_a_server_that_is_gone_is_named(open_server, browser) -> None:
    page = browser.new_page()
    open_page(page, open_server("ratings"))
    said = "The server does not answer; try again when it runs."
    page.route("**/v1/*", lambda route: route.abort())
    page.locator("#user-text").fill("1")
    wait(page, "(text) => document.getElementById('user-list').innerText === text", said)
    page.keyboard.press("Escape")
    page.locator("#user-items .name").first.click()
    wait(page, "(text) => document.getElementById('alike-status').innerText === text", said)
    page.unroute("**/v1/*")
    page.route("**/v1/*", lambda route: route.fulfill(status=502, body="<html>"))
    page.locator("#try-mine button").first.click()
    wait(page, "document.getElementById('try-status').innerText.endsWith('status 502.')")
    page.close()


def test_another_model_in_service_is_told(open_server, browser) -> None:
    page = browser.new_page()
    open_page(page, open_server("clicks"))
    assert page.locator("#changed").is_hidden()
    page.route(
        "**/v1/similar", lambda route: route.fulfill(json={"model": "other", "to": 1, "alike": []})
    )
    page.locator("#user-items .name").first.click()
    page.wait_for_selector("#changed")
    assert page.locator("#alike-status").inner_text().startswith("The model knows of no item like")
    page.unroute("**/v1/similar")
    page.locator("#reload").click()
    page.wait_for_selector("#user-items li")
    assert page.locator("#changed").is_hidden()
    page.close()


def test_what_is_very_long_or_missing_stays_in_the_page_of_a_phone(open_server, browser) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    titles = ["\U0001f3ac" * 90, "x" * 900]
    answer_oddly(page, titles)
    open_page(page, open_server("ratings"), waits_for=("#user-items li", "#map text"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert all(one.bounding_box()["height"] < 100 for one in page.locator(".name").all())
    assert names(page, "#alike-items") == titles[:1]  # the other is unlike
    labels = page.locator("#map text").all_text_contents()
    assert any(
        one[0] == titles[0][0] and set(one) == {one[0], "…"} for one in labels
    )  # none is cut
    assert "none is left" in page.locator("#try-status").inner_text()
    answer_oddly(page, [])
    _pick(page, "12", "Enter")
    wait(page, "document.getElementById('user-status').innerText.includes('rated all items')")
    page.close()


def test_focus_goes_to_what_a_title_opens(open_server, browser) -> None:
    page = browser.new_page()
    open_page(page, open_server("clicks"))
    for place in ("#user-items", "#alike-items", "#try-items"):
        page.locator(f"{place} .name").first.focus()
        page.keyboard.press("Enter")
        wait(page, "document.activeElement.id === 'alike-title'")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "item-text"
    page.close()


def test_ids_that_javascript_would_round(browser, tmp_path) -> None:
    table = make_table()
    users = pa.array([10**19 + one for one in table["user"].to_pylist()], pa.uint64())
    items = pa.array([2**53 + int(one[1:]) for one in table["item"].to_pylist()])
    table = table.set_column(0, "user", users).set_column(1, "item", items)
    MatrixCompletion(2, random_state=0).fit(table).save(tmp_path / "far.geco")
    with run_server(tmp_path / "far.geco") as (address, _, _):
        page = browser.new_page()
        open_page(page, address)
        first = page.locator("#user-text").input_value()
        assert first.startswith("10000000000000000")
        assert f"for user {first}." in page.locator("#user-status").inner_text()
        find_user(page, str(10**19 + 46), keys=True)
        listed = [int(name) for name in names(page, "#user-items")]
        asked = httpx.get(f"{address}/v1/recommend?user={10**19 + 46}&k=10").json()
        assert listed == [int(one["item"]) for one in asked["items"]]
        look_at_items_alike(page, keys=True)
        alike = httpx.get(f"{address}/v1/similar?item={listed[0]}&k=12").json()
        assert names(page, "#alike-items") == [one["item"] for one in alike["alike"]]
        page.close()


def test_values_of_any_size_can_be_given_and_are_seen(browser, tmp_path) -> None:
    open_values("small", tmp_path)
    complaints = []
    with run_server(tmp_path / "small.geco") as (address, _, _):
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        open_page(page, address)
        buttons = page.locator("#try-mine li").first.locator("button")
        assert len(set(buttons.all_inner_texts())) == 5
        for button in (buttons.first, buttons.last):
            with page.expect_response("**/fold-in") as answer:
                button.click()
            assert answer.value.ok
        page.wait_for_function("document.querySelector('#try-status').textContent.includes('By')")
        shown = re.compile(r"(\S+), 90 %: (\S+) to (\S+)")
        for text in page.locator("#try-items .number").all_inner_texts():
            score, low, high = map(float, shown.fullmatch(text).groups())
            assert low < score < high
        alike = page.locator("#alike-items .number").all_inner_texts()
        assert all(re.fullmatch(r"cosine -?\d\.\d\d", text) for text in alike)
        page.close()
    assert complaints == []


def test_names_of_any_kind_stay_in_their_place(browser, tmp_path) -> None:
    names = ["x" * 300, "\u202eevil", "\u05e9\u05dc\u05d5\u05dd (1999)", "<b>&amp;", "\U0001f600"]
    table = make_table()
    items = [
        names[int(one[1:]) % 5] + one * (int(one[1:]) > 5) for one in table["item"].to_pylist()
    ]
    table = table.set_column(1, "item", [items])
    MatrixCompletion(2, random_state=0).fit(table).save(tmp_path / "names.geco")
    with run_server(tmp_path / "names.geco") as (address, _, _):
        page = browser.new_page(viewport={"width": 360, "height": 800})
        open_page(page, address)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        why = page.locator("#user-items .why").all_inner_texts()
        reasons = page.locator("#user-items .why bdi").all_inner_texts()
        assert sum(text.count(" (+") for text in why) == len(reasons) > 0
        page.close()


def _take_picture(page, name: str) -> None:
    folder = os.environ.get("PYGECO_SHOTS")
    if folder:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=str(Path(folder, f"{name}.png")), full_page=True)


def _try(page, address) -> bool:
    try:
        return page.goto(f"{address}/ready").ok
    except sync_api.Error:
        return False
