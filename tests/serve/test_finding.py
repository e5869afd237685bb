"""Names by a part of them."""

from dataclasses import replace

import numpy as np

from pygeco.serve.finding import build_index, name_matches


def test_what_begins_with_the_text_comes_first_then_the_best_known(ratings) -> None:
    index = build_index(ratings, 1)
    names = [f"film {j + 1} <b>&amp; #m{j + 1:02d}" for j in range(60)]
    counts = ratings.counts[1]
    for text in ("film 3", "m3", "<B>", "  FILM  4 ", "nothing", "0 <"):
        asked = " ".join(text.lower().split())
        inside = [j for j in range(60) if asked in names[j]]
        order = sorted(inside, key=lambda j: (not names[j].startswith(asked), -counts[j], j))
        assert index.find(text, 60) == order
        assert index.find(text, 3) == order[:3]
    best = np.argsort(-counts, kind="stable")[:5].tolist()
    assert index.find(" ", 5) == best
    found = name_matches(ratings, 1, best)
    assert [one["count"] for one in found] == counts[best].tolist()


def test_users_by_id(ratings) -> None:
    index = build_index(ratings, 0)
    found = name_matches(ratings, 0, index.find("7", 80))
    assert {one["id"] for one in found} == {i for i in range(1, 81) if "7" in str(i)}
    assert found[0]["title"] is None


def test_accents_case_and_width_may_be_left_out(ratings) -> None:
    titles = [
        *(
            "Amélie",
            "Ame\u0301lie 2",
            "Straße",
            "İstanbul",
            "ｆｕｌｌ",
            "한국 영화",
            "日本語",
            "שלום",
        ),
        *(f"film {j}" for j in range(52)),
    ]
    index = build_index(replace(ratings, titles=titles), 1)
    for text, places in (
        *(("amelie", [0, 1]), ("AMÉLIE", [0, 1]), ("strasse", [2]), ("istanbul", [3])),
        *(("full", [4]), ("한국", [5]), ("日本", [6]), ("שלום", [7]), ("é\n", [0, 1])),
    ):
        found = index.find(text, 60)
        assert set(places) <= set(found), text
        assert len(found) == len(places) or text == "é\n"
    assert index.find("\u0301", 3) == index.find("", 3)
