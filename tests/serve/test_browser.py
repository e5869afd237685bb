"""The page in a real browser, against a real server: by mouse and keyboard, wide and narrow."""

import shutil

import pytest

from page_flows import FLAGS, do_everything
from serve_cases import run_server, wait_until, write_titles

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def address(models, model_folder):
    titles = str(write_titles(model_folder))
    with run_server(model_folder / "ratings.geco", "--titles", titles) as (found, _, log):
        yield found
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize(("scheme", "width", "keys"), [("light", 1400, True), ("dark", 380, False)])
def test_everything_on_the_page(address, browser, scheme, width, keys) -> None:
    complaints, elsewhere = [], []
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: elsewhere.append(request.url))
    wait_until(lambda: _try(page, address))
    do_everything(page, address, "7", "film 3", keys=keys)
    assert page.locator("#user-items b, #user-items img").count() == 0  # titles are text
    assert "<b>&amp;" in page.locator("#user-items .name").first.inner_text()
    context.close()
    assert complaints == []
    assert [url for url in elsewhere if not url.startswith((address, "data:"))] == []


def _try(page, address) -> bool:
    try:
        return page.goto(f"{address}/ready").ok
    except sync_api.Error:
        return False
