"""What is neither a matrix nor a table is refused in one sentence, before anything is fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_cases import ITEMS, STARS, USERS, R, frame, small
from pygeco import ImplicitCompletion, MatrixCompletion, cells
from pygeco.estimators._refused_forms import refuse_index

TABLE = frame("user", "item", "rating")
TEXTS = frame("user", "item", "rating", text=True)
COUNTS = TABLE.groupby(["user", "item"]).rating

FORMS = {
    "no table; pandas.DataFrame": [TABLE.to_dict("list"), TABLE.to_dict("records")],
    "a matrix or a table of cells, not a zip": [zip(USERS, ITEMS, STARS, strict=True)],
    "a matrix or a table of cells, not a generator": [(line for line in TABLE.values)],
    "a matrix or a table of cells, not a set": [{1, 2}],
    "a matrix or a table of cells, not None": [None],
    "a Series is one column": [COUNTS.mean(), TABLE.rating, pl.Series([1.0, 2.0])],
    "in its index, 'user', 'item',": [
        COUNTS.mean().to_frame(),
        COUNTS.agg(["mean", "count"]),
        COUNTS.mean().to_frame("mark"),
    ],
    "in its index, 'user',": [TABLE.set_index("user")],
    "in its index, 'item',": [TABLE.set_index("item")],
    "with text, such as 'film ": [TEXTS.values, list(TEXTS.itertuples(index=False, name=None))],
}


@pytest.mark.parametrize("estimator", [small, ImplicitCompletion])
@pytest.mark.parametrize(("said", "X"), [(said, X) for said, forms in FORMS.items() for X in forms])
def test_each_is_told_what_to_give_instead(estimator, said, X) -> None:
    with pytest.raises(ValueError, match=rf"^X: .*{said}"):
        estimator().fit(X)


def test_what_they_are_told_to_give_fits() -> None:
    wanted = small().fit(TEXTS).to_dense()
    triples = list(TEXTS.itertuples(index=False, name=None))
    for given in (
        TEXTS.set_index(["user", "item"]).reset_index(),
        TEXTS.set_index(["user", "item"]).rating.reset_index(),
        pd.DataFrame(TEXTS.to_dict("records")),
    ):
        np.testing.assert_array_equal(small().fit(given).to_dense(), wanted)
    np.testing.assert_array_equal(small().fit(triples, columns=(0, 1, 2)).to_dense(), wanted)


def test_an_index_that_has_no_ids_says_nothing() -> None:
    wide = TABLE.pivot(index="user", columns="item", values="rating")
    both = wide.set_index(np.arange(len(wide)) % 2, append=True)
    for matrix in (wide, both.rename_axis(["user", "half"]), wide.rename_axis(columns=None)):
        np.testing.assert_array_equal(
            small().fit(matrix).to_dense(), small().fit(wide.to_numpy()).to_dense()
        )
    pairs = small().fit(TABLE.set_index("user").assign(user=USERS))  # a column counts
    np.testing.assert_array_equal(pairs.to_dense(), small().fit(TABLE).to_dense())
    refuse_index(TABLE.rename_axis("line"))
    refuse_index(TABLE.rename_axis("user_id"))
    refuse_index(pd.DataFrame(np.eye(3), columns=["age", "value", "rating"]).rename_axis("user"))
    refuse_index(pl.from_pandas(TABLE))
    single = COUNTS.mean().to_frame()
    assert MatrixCompletion(1).fit(single, columns="matrix").model_.shape == (len(single), 1)


def test_lists_of_cells_are_refused_alike() -> None:
    with pytest.raises(ValueError, match=r"^X: the ids are in its index"):
        cells(TABLE.set_index(["user", "item"]))


def test_clicks_in_an_array_of_numbers_are_not_sent_to_where_they_are() -> None:
    pairs = np.column_stack([R.rows, R.cols])
    for given in (pairs, pairs.tolist()):
        with pytest.raises(
            ValueError, match=r"^X: .*pairs .*a click a line; pass columns=\(0, 1\)"
        ):
            ImplicitCompletion().fit(given)
