"""A model file keeps every part of a model, and an old one says the rest by its settings."""

from dataclasses import fields

import numpy as np
import pytest

from pygeco import MatrixCompletion, Ridge
from pygeco.data import make_ratings
from pygeco.estimators._completion_file import (
    DERIVED,
    describe_model,
    restore_model,
)
from pygeco.io.model_parts import MODEL_PARTS
from pygeco.models import FittedModel


def test_every_part_has_a_name_in_the_file() -> None:
    assert set(MODEL_PARTS.values()) == {field.name for field in fields(FittedModel)}
    assert not set(DERIVED) & set(MODEL_PARTS)


@pytest.mark.parametrize("settings", [{}, {"penalty": Ridge(1e-3), "biases": True}])
def test_what_a_file_keeps_is_the_model_again(settings) -> None:
    estimator = MatrixCompletion(2, random_state=0, **settings).fit(make_ratings((30, 20), 300))
    kept = describe_model(estimator, vars(estimator))
    assert "model_" not in kept
    model = restore_model(estimator, kept)["model_"]
    np.testing.assert_array_equal(model.to_dense(), estimator.to_dense())
    for part in MODEL_PARTS.values():
        assert getattr(model, part) is getattr(estimator.model_, part)
    # A file of an earlier version lacks what is newer.
    old = {name: kept[name] for name in kept if name not in ("held_out_", "levels_", "offsets_")}
    again = restore_model(estimator, old)["model_"]
    assert again.held_out is None
    assert again.offsets == model.offsets
    assert again.levels == pytest.approx(model.levels)
