"""The peak of a fit's memory, input included, each fit in a process of its own (Linux)."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import scipy.sparse as sp

from pygeco import Entries, MatrixCompletion, Path, minimize
from sections.made import sparse_ratings
from sections.measuring import FOLDER, Line, Plan, Shape, Took, show, timed

STATUS, REFS = File("/proc/self/status"), File("/proc/self/clear_refs")
BYTES = 24.0  # a cell, and the factors that the fit gives beside it
ROOM, MINUTES = 24.0, 10.0  # for Netflix's shape: GB and minutes


def memory(plan: Plan) -> list[Line] | None:
    """Bytes a cell at the peak of a path and of the default fit; input is float32 CSR."""
    if not os.access(REFS, os.W_OK):
        print("memory: skipped, this system does not let a process reset its peak\n")
        return None
    lines = [line for fit in FITS for line in _lines(fit, plan.cells, plan.shape, plan)]
    if plan.large:
        lines += _lines("path", *plan.netflix, plan, large=True)
    return show("memory: peak of a fit, the input included", lines)


def _lines(fit: str, cells: int, shape: Shape, plan: Plan, *, large: bool = False) -> list[Line]:
    found = _child(fit, cells, shape, plan.memory_rank)
    took = Took(found["wall"], found["cpu"])
    what = f"{'path' if fit == 'path' else 'default fit'}, {cells:,} cells"
    wanted = BYTES + found["factors"] / cells
    kept = "factors of every rank" if fit == "path" else "factors"
    note = f"24 and the {kept} to {found['rank']}, {found['factors'] / cells:.1f}"
    peak = found["peak"] / cells
    lines = [Line(what, took, peak, "bytes/cell", wanted, tracked=True, note=note)]
    if large:
        lines.append(Line(f"{what}: size", took, found["peak"] / 1e9, "GB", ROOM))
        lines.append(Line(f"{what}: time", took, took.by(plan) / 60, "minutes", MINUTES))
    return lines


def _child(fit: str, cells: int, shape: Shape, rank: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "sections.memory", fit, *map(str, (cells, *shape, rank))]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process of the {fit} fit failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def path(X: sp.csr_array, rank: int) -> Path:
    """A path of the default solver."""
    return minimize(Entries.from_sparse(X), rank, random_state=0)


def default(X: sp.csr_array, rank: int) -> Path:
    """The path of the default model, which has one step."""
    return MatrixCompletion(random_state=0).fit(X).path_


FITS: dict[str, Callable[[sp.csr_array, int], Path]] = {"path": path, "default": default}


def child(fit: str, cells: int, m: int, n: int, rank: int) -> None:
    """One measured fit, after a small one that compiles; prints JSON."""
    FITS[fit](sparse_ratings((60, 40), 1_000), 2)
    X = sparse_ratings((m, n), cells)
    gc.collect()
    own = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    rest = _kilobytes("VmRSS") * 1024 - own
    REFS.write_text("5")  # sets the peak to what is in use now: proc(5)
    found: list[Path] = []
    took = timed(lambda: found.append(FITS[fit](X, rank)))
    peak = _kilobytes("VmHWM") * 1024 - rest
    factors = sum(step.A.U.nbytes + step.A.V.nbytes for step in found[0])
    highest = found[0].A.rank
    print(json.dumps({**took._asdict(), "peak": peak, "factors": factors, "rank": highest}))


def _kilobytes(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    child(sys.argv[1], *map(int, sys.argv[2:]))
