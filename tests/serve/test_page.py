"""The page loads nothing from elsewhere, and has no script or style inside."""

import html
import json
import re

import numpy as np

from pygeco.serve.page import read_asset, render_page
from serve_cases import move_ids_far, open_values


def test_it_loads_its_own_files_alone(ratings, clicks) -> None:
    for served in (ratings, clicks):
        page = render_page(served).decode()
        assert served.version in page
        assert "$" not in page
        for address in re.findall(r'(?:src|href)="([^"]*)"', page):
            assert re.fullmatch(r"#[\w-]+|page\.(css|js)|openapi\.json|report|data:,", address)
        assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|style=", page)
    text = read_asset("page.js").decode() + read_asset("page.css").decode()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "innerHTML" not in text


def test_it_opens_with_a_user_who_knows_as_much_as_the_median(ratings, clicks) -> None:
    for served in (ratings, clicks):
        text = re.search('data-user="([^"]*)"', render_page(served).decode())[1]
        user = json.loads(html.unescape(text))
        counts = np.diff(served.model.seen.pointers)
        own = int(counts[np.flatnonzero(served.ids[0] == user)[0]])
        positive = counts[counts > 0]
        assert np.mean(positive <= own) >= 0.5
        assert np.mean(positive >= own) >= 0.5


def test_an_id_that_javascript_would_round_is_text(ratings) -> None:
    far = move_ids_far(ratings)
    text = re.search('data-user="([^"]*)"', render_page(far).decode())[1]
    user = json.loads(html.unescape(text), parse_int=float)
    assert user == str(far.ids[0][far.typical_row])


def test_it_knows_what_can_be_given_and_how_much_is_said(clicks, tmp_path) -> None:
    def read(served):
        page = html.unescape(render_page(served).decode())
        found = dict(re.findall(r'data-(levels|bounded|sure)="([^"]*)"', page))
        return json.loads(found["levels"]), found["bounded"], found["sure"]

    assert read(clicks) == ([1], "no", "no")
    assert read(open_values("logistic", tmp_path)) == ([0, 1], "yes", "no")
    ordinal = open_values("ordinal", tmp_path)
    assert read(ordinal) == (ordinal.levels, "yes", "yes")
    assert read(open_values("huber", tmp_path))[1:] == ("no", "yes")


def test_it_says_what_the_numbers_of_a_list_are(ratings, clicks, tmp_path) -> None:
    def read(served):
        return re.search('<p class="hint">(.*?)</p>', render_page(served).decode())[1]

    assert "no unit" in read(clicks)
    assert ("likely the user is to choose" in read(ratings)) == (ratings.model.lists is not None)
    assert "interval" in read(ratings)
    assert "likelier a 1" in read(open_values("logistic", tmp_path))
    assert "need not descend" not in read(ratings)
    assert "need not descend" in read(open_values("ordinal", tmp_path))
