"""ImplicitCompletion: every form of clicks, lists, files, updates, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

import pygeco
from pygeco import ImplicitCompletion, SpectralSettings, SquaresSettings
from pygeco.errors import ClicksWarning
from pygeco.estimators._click_fits import read_attribute_settings, read_settings
from pygeco.objectives.entries import observed

FIXED = {
    "spectral": SpectralSettings(8, 0.3, 0.3, 1.0, 0.0),
    "squares": SquaresSettings(4, 0.2, 0.01, 0.0, 0.0, 0.0),
    "share": 0.5,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    group, kind = rng.integers(4, size=120), np.arange(40) % 4
    clicked = rng.random((120, 40)) < np.where(kind == group[:, None], 0.5, 0.03)
    clicked[:, 0] |= ~clicked.any(1)
    return (*np.nonzero(clicked), group)


@pytest.fixture(scope="module")
def model(pairs):
    return ImplicitCompletion(**FIXED).fit(pairs[:2])


def frame(pairs):
    return pd.DataFrame({"user": [f"u{i:03d}" for i in pairs[0]], "item": pairs[1] + 100})


@pytest.mark.parametrize(
    "form", ["counts", "sparse", "dense", "table", "cells", "pairs of a table"]
)
def test_every_form_gives_the_same_model(pairs, model, form):
    rows, cols, _ = pairs
    table = sp.coo_array((np.ones(len(rows)), (rows, cols)), shape=(120, 40))
    given = {
        "counts": (rows, cols, np.ones(len(rows)), (120, 40)),
        "sparse": table.tocsr(),
        "dense": table.toarray(),
        "table": frame(pairs),
        "cells": pygeco.cells((rows, cols, np.ones(len(rows)), (120, 40))),
        "pairs of a table": frame(pairs).assign(when=pd.Timestamp("2020-01-01")),
    }[form]
    found = ImplicitCompletion(**FIXED).fit(given)
    assert np.array_equal(found.factors_.to_dense(), model.factors_.to_dense())


def test_lists_are_of_the_own_group_and_new(pairs):
    rows, cols, group = pairs
    model = ImplicitCompletion(random_state=0).fit((rows, cols))
    best = model.recommend(k=3)
    assert np.mean(best.columns % 4 == group[:, None]) > 0.9
    known = set(zip(rows.tolist(), cols.tolist(), strict=True))
    assert not any((i, j) in known for i, line in enumerate(best.columns) for j in line.tolist())
    assert model.choice_.trials
    assert len(model.choice_.to_pandas()) == model.n_iter_ == len(model.choice_.trials)
    assert model.choice_.to_pandas().fame.max() > 0


def test_the_same_seed_gives_the_same_bits(pairs):
    one, other = (ImplicitCompletion(random_state=3).fit(pairs[:2]) for _ in range(2))
    assert np.array_equal(one.factors_.V, other.factors_.V)
    assert one.choice_.share == other.choice_.share


def test_ids_in_and_out(pairs):
    model = ImplicitCompletion(**FIXED).fit(frame(pairs))
    best = model.recommend(["u003"], k=2)
    assert set(best.columns.ravel()) <= set(range(100, 140))
    assert model.similar(100, k=3).columns.min() >= 100
    reasons = model.explain("u003", int(best.columns[0, 0]))
    assert set(reasons.columns) <= set(range(100, 140))


def test_counts_are_summed_and_heavy_tails_told(pairs):
    rows, cols, _ = pairs
    counts = np.ones(len(rows))
    counts[:5] = 500
    with pytest.warns(ClicksWarning, match="log₂"):
        model = ImplicitCompletion(**FIXED).fit((rows, cols, counts))
    assert model.seen_.values.max() == pytest.approx(np.log2(501))
    plain = ImplicitCompletion(**FIXED, counts="plain").fit((rows, cols, counts))
    assert plain.seen_.values.max() == 500
    twice = ImplicitCompletion(**FIXED, counts="plain").fit(
        (np.repeat(rows, 2), np.repeat(cols, 2))
    )
    assert np.all(twice.seen_.values == 2)


def test_counts_of_many_clicks_which_are_kept_as_codes(pairs, monkeypatch):
    rows, cols, _ = pairs
    counts = 1.0 + np.arange(len(rows)) % 4
    models = []
    for least in (1 << 40, 1):
        monkeypatch.setattr(observed, "MIN_CODED_CELLS", least)
        models.append(ImplicitCompletion(**FIXED).fit((rows, cols, counts)))
    one, other = models
    np.testing.assert_array_equal(one.seen_.values, other.seen_.values)
    for a, b in zip(one.recommend([0, 1, 2], k=5), other.recommend([0, 1, 2], k=5), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_same_bits_for_any_number_of_threads():
    rows, cols = np.nonzero(np.random.default_rng(0).random((900, 700)) < 0.1)
    settings = FIXED | {"spectral": SpectralSettings(96, 0.3, 0.3, 1.0)}
    found = []
    for threads in (1, 2):
        with ThreadpoolController().limit(limits=threads, user_api="blas"):
            model = ImplicitCompletion(n_jobs=threads, **settings).fit((rows, cols))
            found.append(model.recommend(np.arange(50), k=20))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_column_of_counts_is_found_and_one_of_ratings_is_not_used(pairs):
    table = frame(pairs)
    model = ImplicitCompletion(**FIXED).fit(table.assign(plays=2 + np.arange(len(table)) % 2))
    assert set(model.seen_.values) == {2.0, 3.0}
    with pytest.warns(ClicksWarning, match="rating"):
        model = ImplicitCompletion(**FIXED).fit(table.assign(rating=3.5))
    assert set(model.seen_.values) == {1.0}


def test_new_rows(pairs, model):
    rows, cols, _ = pairs
    found = model.transform((rows, cols))
    assert np.allclose(found, model.factors_.left, atol=1e-4 * np.abs(found).max())
    alone = model.transform(sp.csr_array(([1.0, 1.0], ([0, 0], [1, 5])), shape=(1, 40)))
    scores = alone @ model.components_
    assert np.all(np.sort(np.argsort(-scores[0])[:6] % 4) == 1)


def test_a_file_holds_all_of_it(pairs, tmp_path):
    model = ImplicitCompletion(random_state=0, rank=4).fit(frame(pairs))
    model.save(tmp_path / "m.geco")
    again = pygeco.load(tmp_path / "m.geco")
    assert np.array_equal(again.recommend().columns, model.recommend().columns)
    assert again.choice_ == model.choice_
    asked = sp.csr_array(([1.0], ([0], [7])), shape=(1, 40))
    assert np.array_equal(again.transform(asked), model.transform(asked))


def test_new_clicks_rows_and_columns(pairs):
    table = frame(pairs)
    model = ImplicitCompletion(**FIXED).fit(table)
    more = pd.DataFrame({"user": ["new", "new", "u003"], "item": [101, 105, 999]})
    model.partial_fit(more)
    assert model.factors_.shape == (121, 41)
    assert set(model.recommend(["new"], k=5).columns.ravel() % 4) == {1}
    fresh = ImplicitCompletion(**FIXED).partial_fit(pairs[:2])
    assert fresh.factors_.shape == (120, 40)
    new = np.zeros((121, 40))
    new[120, [1, 5]] = 1
    for form in (sp.csr_array(new), new, (np.array([120, 120]), np.array([1, 5]))):
        other = copy.copy(fresh).partial_fit(form)
        assert other.factors_.shape == (121, 40)
        assert set(other.recommend(120, k=5).columns % 4) == {1}


def test_score_is_the_ndcg_of_lists(pairs):
    rows, cols, _ = pairs
    test = np.random.default_rng(0).random(len(rows)) < 0.2
    model = ImplicitCompletion(**FIXED).fit(
        (rows[~test], cols[~test], np.ones((~test).sum()), (120, 40))
    )
    held = rows[test], cols[test], np.ones(test.sum()), (120, 40)
    assert model.score(held) == pygeco.evaluate(model, held, protocol="all", k=20).ndcg[20]
    assert model.score(held) > 0.4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rank": 0}, "rank: rank must be"),
        ({"squares": {"size": 3}}, "squares: unknown settings"),
        ({"squares": False, "spectral": False}, "both families"),
        ({"share": 2}, "share: expected"),
        ({"counts": "some"}, "counts: unknown"),
        ({"spectral": 3}, "spectral: expected"),
        ({"attribute_settings": {"pull": -1}}, "attribute_settings: pull must be ≥ 0"),
        ({"attribute_settings": {"size": 1}}, "attribute_settings: unknown settings"),
        ({"attribute_settings": (1, 2, 3)}, "attribute_settings: expected one, or a pair"),
    ],
)
def test_bad_settings_are_named(pairs, settings, words):
    with pytest.raises(ValueError, match=words):
        ImplicitCompletion(**settings).fit(pairs[:2])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ((np.array([0]), np.array([1]), np.array([-1.0])), "counts of clicks must be ≥ 0"),
        (np.zeros((3, 3)), "no click"),
        ((np.array([0]), np.array([1]), np.array([np.nan])), "."),
        ("clicks.csv", "^X: clicks in files"),
    ],
)
def test_bad_clicks_are_refused_and_nothing_changes(model, X, words):
    before = model.model_
    with pytest.raises(ValueError, match=words):
        model.fit(X)
    assert model.model_ is before


@pytest.fixture(scope="module")
def described(pairs):
    """Users and items with ids, of whom one each has no click, and what is known of them."""
    users = pd.DataFrame({"user": [f"u{i:03d}" for i in range(121)]})
    users["taste"] = [f"t{k}" for k in [*pairs[2], 2]]
    items = pd.DataFrame({"item": np.arange(100, 141), "kind": [f"k{j % 4}" for j in range(41)]})
    return users, items


@pytest.fixture(scope="module")
def informed(pairs, described):
    model = ImplicitCompletion(**FIXED)
    return model.fit(frame(pairs), row_attributes=described[0], column_attributes=described[1])


def test_ids_without_clicks_are_placed_by_attributes(pairs, informed, model):
    assert informed.factors_.shape == (121, 41)
    assert informed.row_ids_[-1] == "u120"
    best = informed.recommend("u120", k=5)
    assert set((best.columns - 100) % 4) == {2}
    dense = informed.factors_.to_dense()[:120, :40]
    assert np.allclose(dense, model.factors_.to_dense(), atol=0.05 * np.abs(dense).max())


def test_settings_may_come_from_an_array():
    """As a search goes through np.array([True, False])."""
    off, on = np.array([False, True])
    assert read_settings("squares", off, SquaresSettings) is None
    assert read_settings("squares", on, SquaresSettings) == SquaresSettings()
    assert read_attribute_settings(off) == read_attribute_settings(False)


def test_attributes_count_as_much_as_is_said(pairs, described):
    wanted = {"weight": 0.2, "pull": 5.0}
    model = ImplicitCompletion(attribute_settings=(wanted, False), **FIXED)
    model.fit(frame(pairs), row_attributes=described[0], column_attributes=described[1])
    choice = model.choice_
    assert (choice.row_attributes.weight, choice.row_attributes.pull) == (0.2, 5.0)
    assert (choice.column_attributes.weight, choice.column_attributes.pull) == (0.0, 0.0)
    assert model.model_.column_map.is_silent


def test_new_rows_and_columns_are_listed_by_attributes(informed):
    users = pd.DataFrame({"user": ["new", "other"], "taste": ["t1", "t3"]})
    best = informed.recommend(k=4, new_rows=users)
    assert best.rows.tolist() == ["new", "other"]
    assert np.array_equal((best.columns - 100) % 4, [[1] * 4, [3] * 4])
    items = pd.DataFrame({"item": [900, 901, 902, 903], "kind": ["k0", "k1", "k2", "k3"]})
    alone = informed.recommend(k=1, items=[], new_columns=items)
    assert len(alone.columns) == 121
    both = informed.recommend("new", k=1, items=[], new_rows=users, new_columns=items)
    assert both.columns.tolist() == [901]
    wide = informed.recommend("u003", k=45, new_columns=items)
    assert set(items["item"]) <= set(wide.columns.tolist())
    assert best.to_pandas().columns.tolist() == ["user", "place", "item", "score"]


def test_rows_by_clicks_and_attributes(pairs, informed):
    x = np.zeros((1, 41))
    placed = informed.transform(x, attributes={"taste": "t2"})
    assert np.allclose(placed, informed.model_.factors.left[120], atol=1e-5)
    with pytest.raises(ValueError, match="have 2 lines, but X has 1 rows"):
        informed.transform(x, attributes={"taste": ["t2", "t1"]})


def test_attributes_in_a_file_and_after_new_clicks(pairs, informed, tmp_path):
    informed.save(tmp_path / "m.geco")
    again = pygeco.load(tmp_path / "m.geco")
    asked = {"taste": ["t1", "t2"]}
    before = informed.recommend(k=3, new_rows=asked).columns
    assert np.array_equal(again.recommend(k=3, new_rows=asked).columns, before)
    assert again.choice_ == informed.choice_
    again.partial_fit(pd.DataFrame({"user": ["u120", "zz"], "item": [100, 101]}))
    assert again.factors_.shape == (122, 41)
    found = again.recommend(k=3, new_rows=asked).columns
    assert np.array_equal((found - 100) % 4, [[1] * 3, [2] * 3])


def test_lines_by_attributes_need_a_fit_with_some(model, informed, described):
    with pytest.raises(ValueError, match="new_rows: the model was fitted without row_attributes"):
        model.recommend(new_rows={"taste": "t1"})
    with pytest.raises(ValueError, match="need a column of ids"):
        informed.recommend("u003", new_columns={"kind": ["k1"]})
