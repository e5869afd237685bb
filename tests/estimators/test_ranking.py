"""Lists as tables."""

import pickle

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.data import make_ratings


@pytest.fixture(scope="module")
def model():
    data = make_ratings((120, 90), 2500, 3, 0.4, 0)
    return MatrixCompletion(random_state=0).fit(tuple(data)), data


@pytest.mark.parametrize("rows", [None, 4, [4, 0], [[1, 2], [3, 4]]])
def test_a_ranking_as_a_table(model, rows) -> None:
    fitted, _ = model
    found = fitted.recommend(rows, 3)
    table, frame = found.to_arrow(), found.to_pandas()
    assert table.column_names == list(frame) == ["row", "place", "column", "prediction"]
    asked = np.arange(120) if rows is None else np.reshape(rows, -1)
    assert frame.row.tolist() == np.repeat(asked, 3).tolist()
    assert frame.place.tolist() == [1, 2, 3] * len(asked)
    assert frame.column.tolist() == found.columns.reshape(-1).tolist()
    np.testing.assert_array_equal(frame.prediction, found.scores.reshape(-1))
    again = pickle.loads(pickle.dumps(found))
    assert again.to_arrow().equals(table)


def test_short_lists_have_short_tables(model) -> None:
    fitted, data = model
    frame = fitted.recommend([4, 5], 90).to_pandas()
    unseen = [90 - (data.rows == row).sum() for row in (4, 5)]
    assert frame.groupby("row").size().tolist() == unseen
    assert np.isfinite(frame.prediction).all()
