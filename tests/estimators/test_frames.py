"""Pairs go to the slabs of their users and come back in their order."""

import numpy as np
import pandas as pd
import pytest

from pygeco import MatrixCompletion
from pygeco.estimators._frames import _answer, _join, _split
from table_cases import table


def test_answers_by_slab_are_those_of_the_whole_model() -> None:
    given = table().to_pandas()
    model = MatrixCompletion(2, random_state=0).fit(given)
    asked = given.iloc[:50].reset_index(drop=True)
    asked.loc[3, "user_id"] = 10**9  # nobody
    users = model.row_ids_
    starts = users[[20, 41]]
    pieces = _split(asked, [0, 1], starts)
    assert sorted(np.concatenate([piece.places for piece in pieces])) == list(range(50))
    for t, piece in enumerate(pieces):
        own = piece.table.column(0).to_numpy()
        assert np.all(own >= starts[t - 1] if t else own < starts[0])
    found = [
        _answer(piece, model.model_, users, items=model.column_ids_, names=["user_id", "movieId"],
                std=True, unknown="nan")
        for piece in pieces
    ]  # fmt: skip
    joined = _join(asked, pieces, found, [0, 1])
    whole = model.predict(asked[["user_id", "movieId"]], return_std=True, unknown="nan")
    pd.testing.assert_frame_equal(joined, whole)
    assert not joined.known[3]
    lost = next(piece for piece in pieces if 3 in piece.places)
    settings = {"items": model.column_ids_, "names": ["user_id", "movieId"], "std": False}
    with pytest.raises(ValueError, match=r"^column 'user_id': the id 1000000000 was not fitted"):
        _answer(lost, model.model_, users, unknown="error", **settings)
