"""Kills fits and saves at random moments; run as a program, for only a fresh process may fork.

    python killing.py KIND KILLS FOLDER

It prints one line of JSON: how many were killed, how many came through, and the seconds of a whole
run. Any breach of the promises is an AssertionError.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv

import pygeco
from pygeco import MatrixCompletion, Ridge, Solver, Trace
from pygeco.cli.app import app
from pygeco.data import make_ratings
from pygeco.estimators import _checkpoint
from pygeco.io.model_file import load_record

FITS = {
    "evidence": {"rank": 6, "random_state": 3},
    "path": {"rank": 8, "penalty": Trace(2e-4, gamma=0.5), "biases": True, "random_state": 1},
    "auto": {"penalty": Ridge(1e-5), "solver": Solver(correction="sweep"), "random_state": 5},
}
RATINGS = make_ratings((200, 150), 8000, noise=0.1, rank=6)


def digest(model: MatrixCompletion) -> str:
    """Of everything that the fit decides."""
    found = hashlib.sha256(f"{model.stop_reason_.name} {model.n_iter_}".encode())
    A, b = model.factors_, model.biases_
    steps = [(s.rank, s.objective, s.gap, s.passes) for s in model.path_]
    for part in (A.U, A.s, A.V, b.row, b.col, b.mean, *(s.A.s for s in model.path_), steps):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def forked(work: Callable[[], None]) -> int:
    """The process that does this work; the parent runs no kernel, as OpenMP survives no fork."""
    child = os.fork()
    if child:
        return child
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        work()
    except SystemExit as left:
        os._exit(left.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(70)
    os._exit(0)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fit_in(folder: Path, kind: str) -> Callable[[], None]:
    def work() -> None:
        if kind == "command":
            told = ["fit", str(folder / "r.csv"), "-o", str(folder / "m"), "--rank", "6"]
            app([*told, "--resume"], standalone_mode=False)
            (folder / "done").write_text(digest(pygeco.load(folder / "m")))
        else:
            model = MatrixCompletion(**FITS[kind]).fit(RATINGS, checkpoint=folder / "m.checkpoint")
            (folder / "done").write_text(digest(model))

    return work


def killed_fits(kind: str, kills: int, folder: Path, rng: random.Random) -> dict[str, float]:
    """Killed and continued again and again; each that ends has the bits of one never killed."""
    names = ("user", "item", "rating")
    table = dict(zip(names, RATINGS[:3], strict=True))
    pyarrow.csv.write_csv(pyarrow.table(table), folder / "r.csv")
    work, done = fit_in(folder, kind), folder / "done"
    whole, seconds = None, 0.0
    for _ in range(2):  # the first may compile
        began = time.monotonic()
        assert ended(forked(work)) == 0
        seconds, whole = time.monotonic() - began, done.read_text()
        (folder / "m.checkpoint").unlink(missing_ok=True)
    killed = through = 0
    while killed < kills or through < 1:
        child = forked(work)
        if killed < kills:
            time.sleep(rng.uniform(0, seconds))
            os.kill(child, signal.SIGKILL)
        code = ended(child)
        assert code in (0, -signal.SIGKILL), code
        killed += code != 0
        check_folder(folder, {"r.csv", "m", "m.checkpoint", "done"})
        if (folder / "m.checkpoint").exists():
            assert "key" in load_record(folder / "m.checkpoint")
        if code == 0:
            through += 1
            assert done.read_text() == whole, f"other bits after {killed} kills"
            (folder / "m.checkpoint").unlink(missing_ok=True)
    return {"killed": killed, "through": through, "seconds": seconds}


def killed_saves(kills: int, folder: Path, rng: random.Random) -> dict[str, float]:
    """Two models saved in turn over each other: what is there is one of them, whole."""
    target, model_files = folder / "m", (folder / "a", folder / "b")

    def make() -> None:
        for rank, path in zip((2, 5), model_files, strict=True):
            MatrixCompletion(rank, random_state=0).fit(RATINGS).save(path)

    def work() -> None:
        models = [pygeco.load(path) for path in model_files]
        while True:
            for model in models:
                model.save(target)

    assert ended(forked(make)) == 0
    known = {digest(pygeco.load(path)) for path in model_files}
    seen: set[str] = set()
    for _ in range(kills):
        child = forked(work)
        while not target.exists():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL
        seen.add(digest(pygeco.load(target)))
        check_folder(folder, {"a", "b", "m"})
    assert seen <= known, "a file that nobody saved"
    pygeco.load(model_files[0]).save(target)
    left = {path.name for path in folder.iterdir()}
    assert left == {"a", "b", "m"}, left  # the temporary of the last killed is gone
    return {"killed": kills, "through": len(seen), "seconds": 0.1}


def check_folder(folder: Path, known: set[str]) -> None:
    """Beside the files that were asked for, one temporary for each at most."""
    there = {path.name for path in folder.iterdir()}
    assert there <= known | {f".{name}.tmp" for name in known}, there


if __name__ == "__main__":
    _checkpoint.MIN_PAUSE_SECONDS, _checkpoint.MAX_WRITING_SHARE = (
        0.0,
        1e9,
    )  # write as often as possible
    kind, kills, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    chance = random.Random(kind)
    found = (
        killed_saves(kills, folder, chance)
        if kind == "save"
        else killed_fits(kind, kills, folder, chance)
    )
    sys.stdout.write(json.dumps(found) + "\n")
