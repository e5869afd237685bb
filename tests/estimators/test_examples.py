"""The examples in the docstrings of estimators."""

import doctest

import pytest

from pygeco.estimators import attributes, imputer, robust


@pytest.mark.parametrize("module", [attributes, imputer, robust])
def test_examples_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
