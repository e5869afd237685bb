"""The first minute: fits and commands in new processes, without and with kernels on the disk.

    PYGECO_DATA=... python benchmarks/starts.py [--turns 3] [--only fit plain judged]

"fit" is `MatrixCompletion().fit` of MovieLens-100K from Python: seconds of the fit alone, and of
the whole process with imports and reading. "plain" are `geco fit`, `recommend`, `report` and
`inspect` on MovieLens-1M with a file and nothing else, "judged" the same with titles and ratings
held out to judge by. Each turn begins with an empty folder of kernels, and is followed by one
that finds them there. Both find Python's own compiled files, as any second start does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

SMALL, LARGE = "ml-100k", "ml-1m"
FIT = f"""
import time
from pygeco import MatrixCompletion
from pygeco.data import load_movielens
r = load_movielens("{SMALL}", None, download=False)
began = time.perf_counter()
MatrixCompletion(random_state=0).fit((r.rows, r.cols, r.values))
print(time.perf_counter() - began)
"""


def run(command: list[str], kernels: Path, folder: Path) -> tuple[float, str]:
    """Seconds of a process, and what it said last."""
    # A checkout's own compiled files would be forgotten with this set.
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(
        command,
        env={**kept, "NUMBA_CACHE_DIR": str(kernels)},
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return time.perf_counter() - began, done.stdout.strip().rpartition("\n")[2]


def time_fit(kernels: Path, folder: Path) -> dict[str, float]:
    """The fit alone, and all of its process."""
    seconds, said = run([sys.executable, "-c", FIT], kernels, folder)
    return {"fit alone": float(said), "with imports and reading": seconds}


def time_commands(kernels: Path, folder: Path, *, judged: bool) -> dict[str, float]:
    """Each of four commands, and their sum."""
    data = Path(os.environ["PYGECO_DATA"]).resolve() / LARGE
    ratings, titles = str(data / "ratings.dat"), ["--titles", str(data / "movies.dat")]
    model, page = "movies.geco", "report.html"
    commands = {
        "geco fit": ["fit", ratings, "-o", model],
        "recommend": ["recommend", model, "42"],
        "report": ["report", model, "-o", page],
        "inspect": ["inspect", model],
    }
    if judged:
        commands["geco fit"] += ["--holdout", "0.1"]
        commands["recommend"] += titles
        commands["report"] += ["--ratings", ratings, *titles]
    for made in (model, page):
        (folder / made).unlink(missing_ok=True)
    geco = str(Path(sys.executable).with_name("geco"))
    found = {name: run([geco, *words], kernels, folder)[0] for name, words in commands.items()}
    return {**found, "all four": sum(found.values())}


TIMES: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    "fit": time_fit,
    "plain": partial(time_commands, judged=False),
    "judged": partial(time_commands, judged=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=TIMES, default=list(TIMES))
    given = parser.parse_args()
    print("| seconds | first, without kernels | later, with kernels |\n| --- | --- | --- |")
    for name in given.only:
        first, later = [], []
        for turn in range(given.turns + 1):
            with tempfile.TemporaryDirectory(prefix="geco-") as made:
                kernels, folder = Path(made) / "kernels", Path(made)
                kernels.mkdir()
                without = TIMES[name](kernels, folder)
                beside = TIMES[name](kernels, folder)
            if turn:  # the one before wrote Python's compiled files, and read the data once
                first.append(without)
                later.append(beside)
        for line in first[0]:
            times = [", ".join(f"{turn[line]:.2f}" for turn in turns) for turns in (first, later)]
            print(f"| {line} | {times[0]} | {times[1]} |", flush=True)


if __name__ == "__main__":
    main()
