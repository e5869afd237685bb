"""A process under load, by itself so that its memory is its own; prints a line of JSON for each.

python loading.py serve SECONDS    8 threads ask one model for the best ten
python loading.py fits COUNT       fits one after the other, of several kinds
python loading.py loops COUNT      loops of 4 threads overlap; BLAS stays on one thread in each
python loading.py serve SECONDS fits COUNT
"""

import gc
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from threadpoolctl import ThreadpoolController

import pygeco
from pygeco import LowRankImputer, MatrixCompletion, RobustPCA, Solver, Trace
from pygeco.data import make_ratings
from pygeco.engines.cpu.pool import return_pool, take_pool
from pygeco.engines.cpu.threads import each, get_num_threads

THREADS = 8
RATINGS = make_ratings((400, 300), 12000)
SMALL = make_ratings((60, 40), 900)
TABLE = np.random.default_rng(0).standard_normal((40, 2)) @ np.ones((2, 12))


def state() -> dict[str, int]:
    """Bytes in memory, threads and open files of this process, as Linux counts them."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(os.listdir("/proc/self/fd")),
    }


def serve(seconds: float) -> dict[str, object]:
    """Every answer is compared with the one that a single thread had got before."""
    with tempfile.TemporaryDirectory() as folder:
        MatrixCompletion(8, random_state=0).fit(RATINGS).save(Path(folder) / "model")
        model = pygeco.load(Path(folder) / "model", mmap=True)
        users = np.arange(400)
        one = [model.recommend(int(user), 10) for user in users]
        some = model.predict(users, users % 300, return_std=True)
        model.recommend(users, 10)  # numba loads what it needs for many rows once, some 10 MB
        # As many pools as can be at work at once: when all who ask do so is a matter of chance.
        for pool in [take_pool(max(2, get_num_threads())) for _ in range(THREADS)]:
            return_pool(pool)
        wrong: list[str] = []
        counts = [0] * THREADS
        stop = threading.Event()

        def ask(k: int) -> None:
            rng = np.random.default_rng(k)
            try:
                while not stop.is_set():
                    chosen = rng.integers(0, 400, rng.integers(1, 20))
                    best = model.recommend(chosen, 10)
                    for at, user in enumerate(chosen):
                        # A product of several rows may round another way than that of one.
                        np.testing.assert_allclose(best.scores[at], one[user].scores, rtol=1e-5)
                    single = int(chosen[0])
                    alone = model.recommend(single, 10)
                    np.testing.assert_array_equal(alone.columns, one[single].columns)
                    np.testing.assert_array_equal(alone.scores, one[single].scores)
                    found = model.predict(chosen, chosen % 300, return_std=True)
                    for a, b in zip(found, some, strict=True):
                        np.testing.assert_allclose(a, b[chosen], rtol=1e-5)
                    counts[k] += 3
            except BaseException as error:
                wrong.append(f"{type(error).__name__}: {error}")
                stop.set()

        threads = [threading.Thread(target=ask, args=(k,)) for k in range(THREADS)]
        for thread in threads:
            thread.start()
        stop.wait(0.3 * seconds)
        while min(counts) < 9 and not stop.wait(0.01):  # every thread has its share of memory
            pass
        warm = state()
        stop.wait(0.7 * seconds)
        end = state()
        stop.set()
        for thread in threads:
            thread.join()
    return {"done": sum(counts), "wrong": wrong, "warm": warm, "end": end}


def loops(count: int) -> dict[str, object]:
    """A loop that ends does not put the number back under another; at last it is what it was."""
    blas = ThreadpoolController().select(user_api="blas")
    seen: list[tuple[int, ...]] = []

    def numbers() -> tuple[int, ...]:
        return tuple(one["num_threads"] for one in blas.info())

    def loop() -> None:
        for _ in range(count):
            each(lambda _: seen.append(numbers()), 3)

    before = numbers()
    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = [str(one) for one in set(seen) if set(one) != {1}]
    wrong += [f"{before} became {numbers()}"] * (numbers() != before)
    after = state()
    return {"done": len(seen), "wrong": wrong, "warm": after, "end": after}


def fits(count: int) -> dict[str, object]:
    """Four kinds in turn; the state is taken after a fifth of them, and at the end."""
    kinds = (
        lambda k: MatrixCompletion(3, random_state=k).fit(SMALL),
        lambda k: MatrixCompletion(
            3, penalty=Trace(1e-3), solver=Solver(correction="sweep"), random_state=k
        ).fit(SMALL),
        lambda k: RobustPCA(1, random_state=k).fit(TABLE + 9 * (TABLE > 2)),
        lambda k: LowRankImputer(1, alpha=1.0, random_state=k).fit(
            np.where(TABLE > 2, np.nan, TABLE)
        ),
    )
    warm = state()
    for k in range(count):
        kinds[k % len(kinds)](k)
        if k == count // 5:
            warm = state()
    return {"done": count, "wrong": [], "warm": warm, "end": state()}


if __name__ == "__main__":
    for kind, number in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        began = time.monotonic()
        found = {"loops": loops, "serve": serve, "fits": fits}[kind](int(number))
        sys.stdout.write(json.dumps(found | {"seconds": time.monotonic() - began}) + "\n")
