"""`verbose` and `n_jobs` of every estimator."""

import re

import numpy as np
import pytest
from sklearn.base import clone

import pygeco
from pygeco import (
    LowRankClassifier,
    LowRankImputer,
    MatrixCompletion,
    QuadraticClassifier,
    QuadraticRegressor,
    ReducedRankRegressor,
    RobustPCA,
    Solver,
    engines,
)
from pygeco.data import make_ratings
from pygeco.engines.cpu import threads
from pygeco.estimators import _progress

RNG = np.random.default_rng(5)
X = RNG.standard_normal((120, 2)) @ RNG.standard_normal((2, 9)) + RNG.standard_normal((120, 9)) / 9
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
LABELS = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
CELLS = make_ratings((60, 40), 1200, rank=2)
CASES = {
    "evidence": (MatrixCompletion(random_state=0), (CELLS,), r"sweep \d+, rank \d+, noise"),
    "posterior": (MatrixCompletion(2, posterior=3, random_state=0), (CELLS,), r"draw \d+ of \d+,"),
    "path": (MatrixCompletion(2, penalty=None, random_state=0), (CELLS,), r"rank 2, objective"),
    "held out": (
        MatrixCompletion(penalty=None, refit=False, random_state=0),
        (CELLS,),
        r"trying rank \d+, held-out loss",
    ),
    "robust": (RobustPCA(2, random_state=0), (HOLES,), r"sweep \d+, rank 2, scale .*, moved by"),
    "table": (LowRankImputer(random_state=0), (HOLES,), r"sweep \d+, rank \d+, noise"),
    "imputer": (LowRankImputer(2, random_state=0), (HOLES,), r"rank \d, objective"),
    "imputer by the evidence": (
        LowRankImputer(random_state=0),
        (HOLES,),
        r"sweep \d+, rank 8, noise",
    ),
    "wide imputer": (LowRankImputer(random_state=0), (HOLES.T,), r"sweep \d+, rank \d+, noise"),
    "classifier": (LowRankClassifier(2, random_state=0), (X, LABELS), r"rank \d, objective"),
    "regressor": (ReducedRankRegressor(2, random_state=0), (X, X[:, :3]), r"rank \d, objective"),
    "forms": (QuadraticClassifier(2, random_state=0), (X, LABELS), r"rank \d, objective"),
    "form": (QuadraticRegressor(2, random_state=0), (X, X[:, 0] ** 2), r"rank \d, objective"),
}


def numbers(model) -> dict[str, np.ndarray]:
    """Everything fitted that is an array."""
    fitted = model.fitted_attributes().items()
    found = {name: value for name, value in fitted if isinstance(value, np.ndarray)}
    assert found
    return found


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def test_silence_lines_threads_and_bits(case, capsys, monkeypatch) -> None:
    """The threads that are asked for are those of the fit, and nothing else changes."""
    plain, data, words = case
    quiet = clone(plain).fit(*data)
    assert capsys.readouterr() == ("", "")
    limits = []

    def record(n_jobs):
        limits.append(n_jobs)
        return threads.limit_threads(n_jobs)

    monkeypatch.setattr(_progress, "limit_threads", record)
    all_threads = threads.get_num_threads()
    loud = clone(plain).set_params(verbose=2, n_jobs=1).fit(*data)
    out, told = capsys.readouterr()
    assert limits == [1]
    assert threads.get_num_threads() == all_threads
    assert out == ""
    lines = told.splitlines()
    assert all(line.startswith(f"{type(plain).__name__}: ") for line in lines)
    assert all(re.search(r", \d+\.\d s$", line) for line in lines)
    assert re.search(words, told)
    for name, value in numbers(quiet).items():
        np.testing.assert_array_equal(numbers(loud)[name], value, err_msg=name)


def test_one_is_the_last_line_of_a_short_fit(case, capsys, monkeypatch) -> None:
    plain, data, _ = case
    monkeypatch.setattr(_progress, "NOTE_SECONDS", 1e9)
    clone(plain).set_params(verbose=True).fit(*data)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_files_and_clones_keep_both(case, tmp_path) -> None:
    plain, data, _ = case
    model = clone(clone(plain).set_params(n_jobs=-1, verbose=0)).fit(*data)
    model.set_params(n_jobs=2, verbose=1).save(tmp_path / "m")
    found = pygeco.load(tmp_path / "m").get_params()
    assert (found["n_jobs"], found["verbose"]) == (2, 1)


@pytest.mark.parametrize(
    ("n_jobs", "wanted"), [(None, 0), (-1, 0), (1, 1), (10**6, 0), (-(10**6), 1)]
)
def test_threads_of_a_while(n_jobs, wanted) -> None:
    most = threads.get_num_threads()
    with engines.limit_threads(n_jobs):
        assert threads.get_num_threads() == (wanted or most)
        with engines.limit_threads(-1):  # what is left, not what the machine has
            assert threads.get_num_threads() == (wanted or most)
    assert threads.get_num_threads() == most
    with engines.limit_threads(1), pytest.raises(KeyError), engines.limit_threads(-2):
        raise KeyError
    assert threads.get_num_threads() == most


@pytest.mark.parametrize("wrong", [{"n_jobs": 0}, {"n_jobs": 1.5}, {"n_jobs": True}])
def test_wrong_threads(case, wrong) -> None:
    with pytest.raises(ValueError, match="n_jobs: must be a number of threads, or None or"):
        clone(case[0]).set_params(**wrong).fit(*case[1])


@pytest.mark.parametrize("wrong", [-1, "yes", None])
def test_wrong_verbosity(wrong) -> None:
    with pytest.raises(ValueError, match="verbose: must be a bool or an integer ≥ 0"):
        LowRankImputer(verbose=wrong).fit(HOLES)


class Stopper:
    """A callback that is shown the model, and stops at its second event."""

    def __init__(self) -> None:
        self.heard, self.model = 0, None

    def on_model(self, model) -> None:
        self.model = model

    def __call__(self, event) -> bool:
        self.heard += 1
        return self.heard == 2


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_callback_hears_all_that_is_written(verbose, capsys) -> None:
    stopper = Stopper()
    model = MatrixCompletion(9, solver=Solver(), callback=stopper, verbose=verbose, random_state=0)
    model.fit(CELLS)
    assert (stopper.heard, model.rank_) == (2, 2)
    assert stopper.model is not None
    assert len(capsys.readouterr().err.splitlines()) == verbose
