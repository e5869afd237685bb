"""What a person does on the page of a server, by mouse and by keyboard, and what must follow."""

import json
import re
import time

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


def wait(page, expression: str, arg=None, seconds: float = 20.0) -> None:
    """Until the expression is true; asked from outside, as the page's policy forbids `eval`."""
    last = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < last, expression
        page.wait_for_timeout(20)


def open_page(page, address: str, waits_for=("#try-items li", "#user-items li")) -> None:
    page.goto(address)
    page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    for place in waits_for:
        page.wait_for_selector(place)


def answer_oddly(page, titles: list[str]) -> None:
    """In the place of the server: large numbers, an item that is unlike, nothing for oneself."""
    items = [
        {"item": t, "title": title, "score": 3e11, "deviation": 4e10, "similarity": 0.5 - t}
        for t, title in enumerate(titles)
    ]
    places = [0.1 * t for t in range(len(titles))]
    answers = {
        "recommend": {"user": 1, "known": True, "items": items},
        "fold-in": {"items": []},
        "similar": {"to": 1, "alike": items},
        "map": {"items": places, "titles": titles, "x": places, "y": places, "counts": places},
    }
    for name, answer in answers.items():
        told = {"model": "this"} | answer
        page.route(f"**/v1/{name}", lambda route, _, told=told: route.fulfill(json=told))


def names(page, place: str) -> list[str]:
    return page.locator(f"{place} .name").all_inner_texts()


def wait_for_change(page, place: str, before: list[str]) -> list[str]:
    wait(
        page,
        "([place, before]) => {const now = [...document.querySelectorAll(place + ' .name')]"
        ".map((n) => n.innerText); return now.length && JSON.stringify(now) !== before}",
        arg=[place, json.dumps(before, separators=(",", ":"), ensure_ascii=False)],
    )
    return names(page, place)


def find_user(page, text: str, *, keys: bool) -> None:
    """Another user gets another list, with how sure it is and why."""
    before, field = names(page, "#user-items"), page.locator("#user-text")
    if keys:
        field.focus()
    else:
        field.click()
    field.fill(text)
    wait(
        page,
        "(text) => {const one = document.querySelector('#user-list [role=option] span');"
        " return one && one.innerText.startsWith(text)}",
        arg=text,
    )
    option = page.locator("#user-list [role=option]").first
    wanted = option.locator("span").inner_text()
    if keys:
        page.keyboard.press("ArrowDown")
        assert option.get_attribute("aria-selected") == "true"
        assert field.get_attribute("aria-activedescendant") == option.get_attribute("id")
        page.keyboard.press("Enter")
    else:
        option.click()
    after = wait_for_change(page, "#user-items", before)
    assert page.locator("#user-list").is_hidden()
    assert len(after) == 10
    wait(page, f"document.getElementById('user-status').innerText.includes('user {wanted}.')")


def look_at_items_alike(page, *, keys: bool) -> None:
    """The first recommendation leads to items like it, marked on the map."""
    before, wanted = names(page, "#alike-items"), page.locator("#user-items .name").first
    title = wanted.inner_text()
    if keys:
        wanted.focus()
        page.keyboard.press("Enter")
    else:
        wanted.click()
    after = wait_for_change(page, "#alike-items", before)
    assert title not in after
    assert page.locator("#item-text").input_value() == title
    assert page.locator("#map circle.near").count() > 0


def move_the_map(page, *, keys: bool) -> None:
    """Panned and zoomed, its points are elsewhere; all of it comes back."""
    box = page.locator("#map")
    box.scroll_into_view_if_needed()
    page.locator("#map-all").click()
    home = _places(page)
    if keys:
        box.focus()
        page.keyboard.press("ArrowRight")
        moved = _wait_for_move(page, home)
        page.keyboard.press("+")
    else:
        at = box.bounding_box()
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 20, steps=3)
        page.mouse.up()
        moved = _wait_for_move(page, home)
        page.mouse.wheel(0, -300)
    _wait_for_move(page, moved)
    page.locator("#map-all").click()
    page.wait_for_timeout(100)
    assert _places(page) == home
    if keys:
        box.focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_timeout(50)
        assert re.search(r"\d (ratings|clicks)\.|wheel", page.locator("#map-said").inner_text())


def _places(page) -> str:
    page.wait_for_timeout(60)
    return page.evaluate(
        "[...document.querySelectorAll('#map circle')].slice(0, 20)"
        ".map((n) => n.getAttribute('cx') + n.style.display).join()"
    )


def _wait_for_move(page, before: str) -> str:
    for _ in range(40):
        now = _places(page)
        if now != before:
            return now
    raise AssertionError("the map does not move")


def try_it(page, text: str, *, keys: bool) -> None:
    """An item that is rated or clicked changes the list at once; taken back, it is as before."""
    before, field = names(page, "#try-items"), page.locator("#try-text")
    mine = page.locator("#try-mine li")
    count = mine.count()
    field.click()
    field.fill(text)
    page.wait_for_selector("#try-list [role=option] small")
    wait(
        page,
        "(text) => document.querySelector('#try-list [role=option] span')"
        "?.innerText.toLowerCase().includes(text.toLowerCase())",
        arg=text,
    )
    listed = page.locator("#try-list [role=option] span").all_inner_texts()
    there = mine.locator(".label").all_inner_texts()
    t = next(t for t, name in enumerate(listed) if name not in there)
    if keys:
        for _ in range(t + 1):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        page.locator("#try-list [role=option]").nth(t).click()
    wait(page, f"document.querySelectorAll('#try-mine li').length === {count + 1}")
    button = mine.last.locator("button").last
    if page.locator("body").get_attribute("data-kind") == "ratings":
        if keys:
            button.focus()
            page.keyboard.press("Space")
        else:
            button.click()
    after = wait_for_change(page, "#try-items", before)
    button = mine.last.locator("button").last
    assert button.get_attribute("aria-pressed") == "true"
    assert mine.last.locator(".label").inner_text() not in after
    wait(page, "document.getElementById('try-status').innerText.startsWith('By your 1')")
    page.locator("#try-clear").click()
    wait(page, "document.querySelectorAll('#try-mine [aria-pressed=true]').length === 0")
    wait_for_change(page, "#try-items", after)
    assert names(page, "#try-items") == before


def reach_controls_by_tab(page) -> None:
    """Tab goes through every control in the order of the page, and each has a name."""
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    reached = []
    page.keyboard.press("Tab")
    for _ in range(150):
        place = "document.activeElement.id || document.activeElement.className"
        reached.append(page.evaluate(place))
        if reached[-1] == "try-clear":
            break
        page.keyboard.press("Tab")
    for wanted in ("user-text", "item-text", "map-in", "map", "try-text", "try-clear"):
        assert wanted in reached, (wanted, reached)
    order = [reached.index(name) for name in ("user-text", "item-text", "map", "try-text")]
    assert order == sorted(order)


def do_everything(page, address: str, user: str, item: str, *, keys: bool) -> None:
    open_page(page, address)
    find_user(page, user, keys=keys)
    look_at_items_alike(page, keys=keys)
    move_the_map(page, keys=keys)
    try_it(page, item, keys=keys)
    if keys:
        reach_controls_by_tab(page)
    assert page.locator("#figures dt").count() >= 4
    width = page.evaluate("innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def find_problems(page, axe: str) -> list[str]:
    """What axe-core calls serious or critical on the page as it stands; `axe` is its source."""
    page.evaluate(axe + "; 0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def measure_clicks(page, count: int) -> list[float]:
    """Milliseconds from a click on a rating or an item to the new list, sorted."""
    times = page.evaluate(
        """async (count) => {
          const list = document.getElementById("try-items"), times = [];
          for (let t = 0; t < count; t++) {
            const buttons = document.querySelectorAll("#try-mine button");
            const began = performance.now();
            const changed = new Promise((done) => {
              const watcher = new MutationObserver(() => { watcher.disconnect(); done(); });
              watcher.observe(list, { childList: true, subtree: true, characterData: true });
            });
            buttons[(t * 7) % buttons.length].click();
            await changed;
            times.push(performance.now() - began);
            await new Promise((done) => setTimeout(done, 20));
          }
          return times;
        }""",
        count,
    )
    return sorted(times)
