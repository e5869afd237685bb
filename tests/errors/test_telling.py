"""Warnings stand at the line of the one who called, whatever lies between."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from pygeco import CellKFold, ImplicitCompletion, MatrixCompletion, RobustPCA
from pygeco.errors.telling import warn_caller

RNG = np.random.default_rng(0)
CELLS = pd.DataFrame(
    {"a": np.repeat(list("uvwxyz"), 5), "b": list("ABCDE") * 6, "c": RNG.random(30)}
)
STARS = CELLS.set_axis(["user", "item", "stars"], axis=1)
MATRIX = RNG.random((6, 5))
PLAIN = {"penalty": None, "random_state": 0}


def call_as(module: str, function):
    """The function, called from a line of a module of this name."""
    names = {"__name__": module, "function": function}
    exec(compile("def call(*given):\n    return function(*given)", module, "exec"), names)
    return names["call"]


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        ((), __file__),
        (("pygeco.io.tables",), __file__),
        (("pygeco.estimators.completion", "sklearn.base", "pygeco", "joblib.parallel"), __file__),
        (("pygeco", "someone", "sklearn"), "someone"),
        (("pygeconomy",), "pygeconomy"),
    ],
)
def test_the_innermost_line_that_is_not_the_package_s_is_named(between, wanted) -> None:
    tell = call_as("pygeco.inner", warn_caller)
    for module in between:
        tell = call_as(module, tell)
    with pytest.warns(FutureWarning, match="^so it is$") as told:
        tell("so it is", FutureWarning)
    assert [one.filename for one in told] == [wanted]


@pytest.mark.parametrize(
    "use",
    [
        lambda: MatrixCompletion(1, **PLAIN).fit(CELLS),
        lambda: MatrixCompletion(1, **PLAIN).fit(CELLS).predict(["u", "none"], ["A", "B"]),
        lambda: cross_val_score(MatrixCompletion(1, **PLAIN), CELLS, cv=CellKFold(2)),
        lambda: MatrixCompletion(1, **PLAIN).fit((CELLS.index, CELLS.index, np.ones(30))),
        lambda: MatrixCompletion(1, **PLAIN).fit(np.where(np.eye(6, 5) == 1, MATRIX, np.nan)).score(
            np.where(np.eye(6, 5) == 1, -MATRIX, np.nan)
        ),
        lambda: ImplicitCompletion(random_state=0).fit(STARS),
        lambda: RobustPCA(1, max_iter=1).fit(MATRIX),
    ],
)  # fmt: skip
def test_every_warning_of_an_estimator_is_at_the_line_of_its_user(use) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        use()
    assert told
    assert {one.filename for one in told} == {__file__}
