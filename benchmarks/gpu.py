"""The engine "cuda" against the engine "cpu", and its speed, in one call on a machine with a GPU.

    python benchmarks/gpu.py                               every section
    python benchmarks/gpu.py passes netflix --json gpu.json

Sections: agreement, passes, netflix, billion, movielens, video, memory. MovieLens-1M is found
through PYGECO_DATA and skipped without it. `--video` names an .npy of gray frames, one a row, or an
.npz of their differences ("deltas", modulo 256); without it frames of the same shape are made.
Times exclude compilation: each section first runs its work, or a small problem, once. A short table
comes last.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

try:
    import cupy as cp
except ImportError:
    sys.exit("benchmarks/gpu.py needs CuPy and an NVIDIA GPU; pip install 'pygeco[cuda]'.")

from pygeco import Dense, Entries, MatrixCompletion, Ridge, RobustPCA, Solver, Trace, minimize
from pygeco.arrays.kinds import host
from pygeco.data import load_movielens, make_ratings
from pygeco.engines import choose_engine
from pygeco.objectives.entries.half_sweep import Side, half_sweep

NETFLIX = (480_189, 17_770)
CELLS = 100_000_000
TABLE: list[tuple[str, str, str]] = []


def show(what: str, value: str, wanted: str = "") -> None:
    TABLE.append((what, value, wanted))
    print(f"{what}: {value}" + (f" (wanted: {wanted})" if wanted else ""), flush=True)


def timed(work: Callable[[], Any], repeats: int = 5) -> float:
    """The median of the seconds that the work takes, after a first time that does not count."""
    work()
    seconds = []
    for _ in range(repeats):
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        work()
        cp.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def copy_bandwidth() -> float:
    """Bytes read and written in a second by a copy on the device."""
    source = cp.ones(1 << 28)
    target = cp.empty_like(source)
    return 2 * source.nbytes / timed(lambda: cp.copyto(target, source))


def synthetic(shape: tuple[int, int], cells: int, seed: int = 0) -> tuple[Any, ...]:
    """Different cells with power-law popularity, and low-rank ratings with noise, on the GPU."""
    m, n = shape
    rng = cp.random.default_rng(seed)
    keys = cp.zeros(0, np.int64)
    while len(keys) < cells:
        want = int(1.15 * (cells - len(keys))) + 1024
        i = (m * rng.random(want, dtype=np.float32) ** 1.5).astype(np.int64)
        j = (n * rng.random(want, dtype=np.float32) ** 2).astype(np.int64)
        keys = cp.unique(cp.concatenate([keys, cp.minimum(i, m - 1) * n + cp.minimum(j, n - 1)]))
    surplus = len(keys) - cells
    if surplus:
        keep = cp.ones(len(keys), bool)
        keep[cp.linspace(0, len(keys) - 1, surplus).astype(np.int64)] = False
        keys = keys[keep]
    rows, cols = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    del keys
    U, V = (rng.standard_normal((size, 12), dtype=np.float32) for size in shape)
    V *= (0.8 ** cp.arange(12)).astype(np.float32)
    values = cp.empty(len(rows), np.float32)
    for at in range(0, len(rows), 1 << 25):
        part = slice(at, at + (1 << 25))
        noise = rng.standard_normal(len(rows[part]), dtype=np.float32)
        values[part] = cp.einsum("tk,tk->t", U[rows[part]], V[cols[part]]) / 2 + noise
    return rows, cols, values, shape


def agreement() -> dict[str, Any]:
    """The worst relative difference of the objective at any rank, and whether bits repeat."""
    data = make_ratings((600, 400), 30_000)
    exact = make_ratings((600, 400), 30_000, dtype=np.float64)
    labels = (*data[:2], np.where(data.values > 3.4, 1.0, -1.0), data.shape)
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 150))
    table[rng.random(table.shape) < 0.1] += 30
    cases: dict[str, tuple[Any, ...]] = {
        "core": (Entries, data, Solver(), None, {}),
        "sweep": (Entries, data, Solver(correction="sweep"), None, {}),
        "diagonal": (Entries, data, Solver(correction="diagonal"), None, {}),
        # In single precision the signs that it alternates over may turn on the last bit.
        "paper": (Entries, exact, Solver.paper(), None, {}),
        "ridge, weighted": (Entries, data, Solver(), Ridge(1e-3, 0.5), {}),
        "trace, sweeps": (Entries, data, Solver(correction="sweep"), Trace(1e-3), {}),
        "huber": (Entries, data, Solver(), None, {"loss": "huber"}),
        "logistic": (Entries, labels, Solver(), None, {"loss": "logistic"}),
        "dense huber": (Dense, (table,), Solver(), None, {"loss": "huber"}),
        "dense sweep": (Dense, (table,), Solver(correction="sweep"), None, {}),
    }
    found: dict[str, Any] = {}
    for name, (kind, given, solver, penalty, settings) in cases.items():

        def run(engine: str, kind: Any = kind, given: Any = given, settings: Any = settings,
                solver: Any = solver, penalty: Any = penalty) -> Any:  # fmt: skip
            objective = kind(*given, engine=engine, **settings)
            return minimize(objective, 5, solver, penalty=penalty, random_state=0)

        cpu, gpu, again = run("cpu"), run("cuda"), run("cuda")
        worst = max(abs(a.objective / b.objective - 1) for a, b in zip(gpu, cpu, strict=True))
        bits = all(bool(cp.all(a.A.U == b.A.U)) for a, b in zip(gpu, again, strict=True))
        found[name] = {"difference": worst, "same bits": bits}
        print(f"agreement, {name}: {worst:.1e}, same bits {bits}", flush=True)
    cpu_fit = MatrixCompletion(random_state=0).fit(data)
    gpu_fit = MatrixCompletion(random_state=0, engine="cuda").fit(data)
    difference = abs(gpu_fit.score(data) / cpu_fit.score(data) - 1)
    found["evidence"] = {"difference": difference}
    worst = max(case["difference"] for case in found.values())
    bits = all(case.get("same bits", True) for case in found.values())
    show("objective against the CPU, worst", f"{worst:.1e}", "1e-5")
    show("same seed, same bits", str(bits), "True")
    return found


def passes() -> dict[str, Any]:
    """Matvec against a copy, and half-sweeps, at 10⁸ cells of Netflix's shape."""
    entries = Entries(*synthetic(NETFLIX, CELLS))
    engine, found = entries.engine, {"copy": copy_bandwidth()}
    show("copy on the device", f"{found['copy'] / 1e12:.2f} TB/s")
    for name, cells, other in (
        ("matvec", entries.by_row, NETFLIX[1]),
        ("rmatvec", entries.by_col, NETFLIX[0]),
    ):
        x = cp.random.default_rng(1).standard_normal(other)
        seconds = timed(lambda cells=cells, x=x: engine.product(cells, cells.values, 1.0, x), 9)
        share = 8 * CELLS / seconds / found["copy"]
        found[name] = {"seconds": seconds, "share": share}
        show(f"{name}, 1e8 cells", f"{1e3 * seconds:.3f} ms, {100 * share:.0f} % of a copy", "60 %")
    for side, cells, other in (("row", entries.by_row, 1), ("column", entries.by_col, 0)):
        for s in (16, 32, 64):
            partner = cp.random.default_rng(2).standard_normal((NETFLIX[other], s), np.float32)
            start = Side(cp.zeros((cells.groups, s), np.float32), cp.zeros(cells.groups))
            fixed = Side(partner, cp.zeros(len(partner)))

            def sweep(
                cells: Any = cells, start: Any = start, fixed: Any = fixed, s: int = s
            ) -> Any:
                return half_sweep(cells, start, fixed, prior=np.ones(s), jitter=1e-4, offsets=False)

            seconds = timed(sweep, 3)
            rate = CELLS * s * s / seconds
            found[f"half-sweep {side} {s}"] = {"seconds": seconds, "flops": rate}
            value = f"{1e3 * seconds:.1f} ms, {rate / 1e12:.1f} TFLOP/s"
            show(f"half-sweep of the {side}s, s = {s}", value, "30 TFLOP/s" if s == 64 else "")
    return found


def path_of(shape: tuple[int, int], cells: int, rank: int, wanted: str) -> dict[str, Any]:
    """The path by sweeps, after the data are on the device."""
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    # Large enough for every kernel of the path, those of ranges of a long side among them.
    small = Entries(*synthetic((40_000, 3000), 5_000_000))
    warm = minimize(small, rank, Solver(correction="sweep"), random_state=0)
    print(f"compiled up to rank {warm[-1].rank}: {warm[-1].seconds:.1f} s")
    data = synthetic(shape, cells)
    cp.cuda.Device().synchronize()
    began = time.perf_counter()
    entries = Entries(*data)
    cp.cuda.Device().synchronize()
    built = time.perf_counter() - began
    del data
    pool.free_all_blocks()
    began = time.perf_counter()
    path = minimize(entries, rank, Solver(correction="sweep"), random_state=0)
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - began
    print(path)
    name = f"{cells:.0e} cells, {shape[0]:.2g} × {shape[1]:.2g}, rank {path[-1].rank}"
    show(
        name,
        f"{seconds:.2f} s ({built:.2f} s to sort), {pool.total_bytes() / 2**30:.0f} GiB",
        wanted,
    )
    return {
        "seconds": seconds,
        "sorting": built,
        "bytes": pool.total_bytes(),
        "objectives": [step.objective for step in path],
        "step_seconds": [step.seconds for step in path],
    }


def netflix() -> dict[str, Any]:
    return path_of(NETFLIX, CELLS, 50, "2.5 s")


def billion() -> dict[str, Any]:
    return path_of((10_000_000, 1_000_000), 1_000_000_000, 20, "10 s")


def movielens() -> dict[str, Any] | None:
    """`MatrixCompletion()` with no argument, on both engines."""
    try:
        ratings = load_movielens("ml-1m")
    except FileNotFoundError as error:
        print(f"skipped: {error}")
        return None
    train, test = ratings.cells(~ratings.test), ratings.cells(ratings.test)
    found: dict[str, Any] = {}
    for engine in ("cpu", "cuda"):
        model = MatrixCompletion(random_state=0, engine=engine)
        seconds = timed(lambda model=model: model.fit(train))
        found[engine] = {"seconds": seconds, "test": -model.score(test), "rank": model.rank_}
    values = [f"{found[e]['seconds']:.3f} s, RMSE {found[e]['test']:.5f}" for e in ("cuda", "cpu")]
    show("MovieLens-1M, default fit", values[0], f"0.3 s; CPU: {values[1]}")
    for pattern in ("auto", False):
        sampled = MatrixCompletion(posterior=60, pattern=pattern, random_state=0, engine="cuda")
        seconds = timed(lambda sampled=sampled: sampled.fit(train))
        found[f"posterior, pattern={pattern}"] = {"seconds": seconds, "test": -sampled.score(test)}
        value = f"{seconds:.2f} s, RMSE {-sampled.score(test):.5f}"
        show(f"MovieLens-1M, posterior=60, pattern={pattern}", value, "1 s")
    return found


def video(path: Path | None) -> dict[str, Any]:
    """Background and foreground of a fixed camera's film, rank 3."""
    frames = _frames(path)
    on_device = cp.asarray(frames)
    model = RobustPCA(3, random_state=0)
    seconds = timed(lambda: model.fit(on_device), 3)
    share = model.outliers_.nnz / frames.size
    name = (
        f"robust {'film' if path else 'made frames'}, {frames.shape[0]} × {frames.shape[1]}, rank 3"
    )
    rest = f"noise {model.scale_:.2f}, {100 * share:.1f} % foreground"
    show(name, f"{seconds:.2f} s, {model.n_iter_} sweeps, {rest}", "2 s")
    return {"seconds": seconds, "sweeps": model.n_iter_, "noise": model.scale_, "share": share}


def _frames(path: Path | None) -> np.ndarray:
    if path is not None and path.suffix == ".npz":
        return np.cumsum(np.load(path)["deltas"], axis=0, dtype=np.uint8)
    if path is not None:
        return np.load(path)
    rng = cp.random.default_rng(0)
    light = 1 + 0.1 * cp.sin(cp.arange(1700) / 90)[:, None]
    Y = light * rng.uniform(40, 200, 76_800) + 2 * rng.standard_normal((1700, 76_800))
    for frame in range(1700):  # a block that moves
        at = (37 * frame) % 70_000
        Y[frame, at : at + 4000] = 250
    return host(Y.clip(0, 255).astype(np.uint8))


def memory() -> dict[str, Any]:
    """What is said when the GPU is too small."""
    found = {}
    engine, pool = choose_engine("cuda"), cp.get_default_memory_pool()
    entries = Entries(*synthetic((200_000, 100_000), 5_000_000))
    pool.set_limit(pool.used_bytes() + (64 << 20))
    for name, work in (
        ("too many cells", lambda: engine.launch.check_room(10**11, 4)),
        ("too high a rank", lambda: minimize(entries, 50, Solver(correction="sweep"))),
    ):
        try:
            work()
        except MemoryError as error:
            found[name] = str(error)
            show(name, str(error))
    pool.set_limit(0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["agreement", "passes", "netflix", "billion", "movielens", "video", "memory"]
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(names))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--video", type=Path)
    given = parser.parse_args()
    sections: dict[str, Callable[[], Any]] = {
        "agreement": agreement, "passes": passes, "netflix": netflix, "billion": billion,
        "movielens": movielens, "video": lambda: video(given.video), "memory": memory,
    }  # fmt: skip
    unknown = [name for name in given.sections if name not in sections]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; use any of {', '.join(names)}")
    results: dict[str, Any] = {}
    for name in given.sections or names:
        began = time.perf_counter()
        try:
            results[name] = sections[name]()
        except Exception:
            traceback.print_exc()
            results[name] = {"failed": traceback.format_exc()}
            show(name, "FAILED")
        print(f"[{name}: {time.perf_counter() - began:.1f} s]", flush=True)
        cp.get_default_memory_pool().free_all_blocks()
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")
    width = max(len(what) for what, _, _ in TABLE)
    print(
        "\n" + "\n".join(f"{what:<{width}}  {value}  | {wanted}" for what, value, wanted in TABLE)
    )
    if any("failed" in (found or {}) for found in results.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
