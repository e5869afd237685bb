"""A fit goes on from its checkpoint and ends with the same bits; `trust/test_kill.py` kills it."""

import hashlib
from functools import cache

import numpy as np
import pytest

from pygeco import MatrixCompletion, ModelFileError, Ridge, Solver, Trace
from pygeco.data import make_ratings
from pygeco.estimators import _checkpoint

CASES = {
    "evidence": {"rank": 30, "random_state": 3},
    "auto rank": {"penalty": Ridge(1e-5), "solver": Solver(correction="sweep"), "random_state": 5},
    "weighted": {
        "rank": 8,
        "penalty": Trace(2e-4, gamma=0.5),
        "solver": Solver(correction="sweep"),
        "biases": True,
        "random_state": 1,
    },
    "paper": {"rank": 8, "solver": Solver.paper(), "random_state": 2},
}


def ratings():
    return make_ratings((150, 100), 4000, noise=0.1, rank=6)


def digest(model: MatrixCompletion) -> str:
    found = hashlib.sha256()
    for step in model.path_:
        for part in (step.A.U, step.A.s, step.A.V, [step.objective, step.gap, step.passes]):
            found.update(np.ascontiguousarray(part).tobytes())
    for part in (model.factors_.U, model.factors_.V, model.biases_.row, model.biases_.col):
        found.update(np.ascontiguousarray(part).tobytes())
    return f"{found.hexdigest()} {model.stop_reason_.name} {model.n_iter_}"


@cache
def digest_in_one_go(name: str) -> str:
    return digest(MatrixCompletion(**CASES[name]).fit(ratings()))


def stopped_after(count: int):
    seen: list[object] = []

    def callback(step: object) -> bool:
        seen.append(step)
        return len(seen) >= count

    return callback


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("count", [1, 4])
def test_stopped_at_each_stage_and_continued(name, count, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_checkpoint, "MIN_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "MAX_WRITING_SHARE", 1e9)
    whole = digest_in_one_go(name)
    path = tmp_path / "fit.checkpoint"
    part = MatrixCompletion(**CASES[name], callback=stopped_after(count))
    part.fit(ratings(), checkpoint=path)
    assert part.stop_reason_.name == "CALLBACK" or part.rank_ <= count
    again = MatrixCompletion(**CASES[name]).fit(ratings(), checkpoint=path)
    assert digest(again) == whole
    seconds = [step.seconds for step in again.path_]
    assert seconds == sorted(seconds)
    finished = MatrixCompletion(**CASES[name]).fit(ratings(), checkpoint=path)
    assert digest(finished) == whole


def test_a_random_seed_is_kept(tmp_path) -> None:
    path = tmp_path / "fit.checkpoint"
    settings = {"rank": 3, "solver": Solver.paper()}
    first = MatrixCompletion(**settings).fit(ratings(), checkpoint=path)
    assert digest(MatrixCompletion(**settings).fit(ratings(), checkpoint=path)) == digest(first)
    assert digest(MatrixCompletion(**settings).fit(ratings())) != digest(first)


def test_posterior_draws_follow_the_kept_evidence(tmp_path) -> None:
    settings = {"rank": 4, "posterior": 3, "random_state": 0}
    whole = MatrixCompletion(**settings).fit(ratings())
    path = tmp_path / "fit.checkpoint"
    MatrixCompletion(**settings).fit(ratings(), checkpoint=path)
    assert digest(MatrixCompletion(**settings).fit(ratings(), checkpoint=path)) == digest(whole)


def test_other_data_and_other_files_are_refused(tmp_path) -> None:
    path = tmp_path / "fit.checkpoint"
    rows, cols, values, shape = ratings()
    MatrixCompletion(2, random_state=0).fit((rows, cols, values, shape), checkpoint=path)
    before = path.read_bytes()
    for model, data in (
        (MatrixCompletion(2, random_state=0), (rows, cols, values + 1, shape)),
        (MatrixCompletion(3, random_state=0), (rows, cols, values, shape)),
        (MatrixCompletion(2, random_state=1), (rows, cols, values, shape)),
    ):
        with pytest.raises(ValueError, match="belongs to other data or settings; delete it"):
            model.fit(data, checkpoint=path)
    assert path.read_bytes() == before
    path.write_text("something else, of some length")
    with pytest.raises(ModelFileError, match="is not a pygeco file"):
        MatrixCompletion(2, random_state=0).fit((rows, cols, values, shape), checkpoint=path)
    with pytest.raises(FileNotFoundError):
        MatrixCompletion(2).fit(ratings(), checkpoint=tmp_path / "no" / "folder")
