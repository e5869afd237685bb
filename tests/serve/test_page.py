"""The page loads nothing from elsewhere, and has no script or style inside."""

import re

from pygeco.serve.page import read_asset, render_page


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
