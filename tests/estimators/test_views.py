"""Fitted attributes are views of the model: one value under two names, and none before a fit."""

from dataclasses import replace

import pytest

from pygeco import MatrixCompletion
from pygeco.data import make_ratings
from pygeco.io.model_parts import MODEL_PARTS


def test_attributes_are_the_parts_of_the_model() -> None:
    estimator = MatrixCompletion(2, random_state=0).fit(make_ratings((60, 40), 900))
    for name, part in MODEL_PARTS.items():
        assert getattr(estimator, name) is getattr(estimator.model_, part)
        with pytest.raises(AttributeError, match=f"^{name}: is a part of `model_`, which is froz"):
            setattr(estimator, name, None)
    other = replace(estimator.model_, clips=not estimator.clip_)
    before = estimator.clip_
    estimator.model_ = other
    assert estimator.clip_ is not before


def test_there_are_none_before_a_fit() -> None:
    for name in MODEL_PARTS:
        with pytest.raises(AttributeError, match=f"is not fitted, so it has no '{name}'"):
            getattr(MatrixCompletion(), name)
        assert not hasattr(MatrixCompletion(), name)
