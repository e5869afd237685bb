"""Other packages beside pygeco on the same ratings: test RMSE and seconds, in one run.

    make bench-peers                                     every set, every package installed
    python benchmarks/peers.py ml-1m --only pygeco cmfrec
    python benchmarks/peers.py synthetic --repeats 1
    python benchmarks/peers.py ml-1m --labels "posterior=10" "myFM rank 32"   lines of the table

Each fit runs in a process of its own, after a small fit that compiles and loads what the package
needs. Seconds are those of the fit alone, the shortest of the repeats. Predictions are taken as
they come, not clipped to the scale. Settings of the others are the ones with which they do best on
MovieLens-1M; pygeco has none. CPU seconds count all cores of the process, and so miss Spark's. A
package that is not installed is named and left out. Tables go to standard output and, as
JSON, to benchmarks/out/.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

OUT = Path(__file__).parent / "out"
Array = NDArray[Any]


class Split(NamedTuple):
    """Training cells and the cells to predict."""

    rows: Array
    cols: Array
    values: Array
    test_rows: Array
    test_cols: Array
    shape: tuple[int, int]


class Time(NamedTuple):
    """Seconds on the clock, and of all cores of this process together."""

    seconds: float
    cpu: float


# A package: fits a split, and returns the time of the fit and the predictions.
Fit = Callable[..., tuple[Time, Array]]


def pygeco(split: Split, **settings: Any) -> tuple[Time, Array]:
    from pygeco import MatrixCompletion

    model = MatrixCompletion(random_state=0, **settings)
    took = _seconds(lambda: model.fit((split.rows, split.cols, split.values, split.shape)))
    return took, model.predict(split.test_rows, split.test_cols)


def cmfrec(split: Split, **settings: Any) -> tuple[Time, Array]:
    import scipy.sparse as sp
    from cmfrec import CMF

    X = sp.coo_matrix((split.values, (split.rows, split.cols)), split.shape)
    model = CMF(verbose=False, nthreads=os.cpu_count(), **settings)
    took = _seconds(lambda: model.fit(X))
    return took, model.predict(split.test_rows, split.test_cols)


def libmf(split: Split, **settings: Any) -> tuple[Time, Array]:
    from libmf.mf import MF

    cells = np.column_stack([split.rows, split.cols, split.values]).astype(np.float32)
    penalty = settings.pop("penalty")
    model = MF(nr_threads=os.cpu_count(), lambda_p2=penalty, lambda_q2=penalty, lambda_p1=0.0,
               lambda_q1=0.0, quiet=True, **settings)  # fmt: skip
    took = _seconds(lambda: model.fit(cells))
    P, Q = np.nan_to_num(model.p_factors()), np.nan_to_num(model.q_factors())
    known = (split.test_rows < len(P)) & (split.test_cols < len(Q))
    found = np.full(len(split.test_rows), split.values.mean())
    found[known] = _inner(P, Q, split.test_rows[known], split.test_cols[known])
    return took, found


def lenskit(split: Split, **settings: Any) -> tuple[Time, Array]:
    import pandas as pd
    from lenskit.als import BiasedMFScorer
    from lenskit.data import from_interactions_df

    data = from_interactions_df(
        pd.DataFrame({"user_id": split.rows, "item_id": split.cols, "rating": split.values})
    )
    model = BiasedMFScorer(**settings)
    took = _seconds(lambda: model.train(data))
    users = data.users.numbers(split.test_rows, missing="negative")
    items = data.items.numbers(split.test_cols, missing="negative")
    bias = model.bias
    found = np.full(len(users), bias.global_bias)
    u, i = users >= 0, items >= 0
    found[u] += bias.user_biases[users[u]]
    found[i] += bias.item_biases[items[i]]
    both = u & i
    P, Q = np.asarray(model.user_embeddings), np.asarray(model.item_embeddings)
    found[both] += _inner(P, Q, users[both], items[both])
    return took, found


def surprise(split: Split, **settings: Any) -> tuple[Time, Array]:
    import pandas as pd
    from surprise import SVD, Dataset, Reader

    reader = Reader(rating_scale=(float(split.values.min()), float(split.values.max())))
    frame = pd.DataFrame({"u": split.rows, "i": split.cols, "r": split.values})
    data = Dataset.load_from_df(frame, reader).build_full_trainset()
    model = SVD(random_state=0, **settings)
    took = _seconds(lambda: model.fit(data))
    users, items = data._raw2inner_id_users, data._raw2inner_id_items
    u = np.array([users.get(t, -1) for t in split.test_rows.tolist()])
    i = np.array([items.get(t, -1) for t in split.test_cols.tolist()])
    found = np.full(len(u), data.global_mean) + np.where(u >= 0, model.bu[u], 0)
    found += np.where(i >= 0, model.bi[i], 0)
    both = (u >= 0) & (i >= 0)
    found[both] += _inner(model.pu, model.qi, u[both], i[both])
    return took, found


def myfm(split: Split, **settings: Any) -> tuple[Time, Array]:
    import scipy.sparse as sp
    from myfm import MyFMRegressor

    m, n = split.shape

    def pairs(rows: Array, cols: Array) -> sp.csr_matrix:
        index = np.column_stack([rows, m + cols.astype(np.int64)]).reshape(-1)
        start = np.arange(0, len(index) + 1, 2)
        return sp.csr_matrix((np.ones(len(index)), index, start), (len(rows), m + n))

    X, Z = pairs(split.rows, split.cols), pairs(split.test_rows, split.test_cols)
    iterations = settings.pop("iterations")
    model = MyFMRegressor(random_seed=0, **settings)
    groups = [m, n]
    took = _seconds(
        lambda: model.fit(X, split.values.astype(float), n_iter=iterations, group_shapes=groups)
    )
    return took, model.predict(Z)


def spark(split: Split, **settings: Any) -> tuple[Time, Array]:
    import pandas as pd
    from pyspark.ml.recommendation import ALS
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{os.cpu_count()}]")
        .config("spark.driver.memory", "12g")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frame = pd.DataFrame({"user": split.rows, "item": split.cols, "rating": split.values})
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(f"{folder}/train.parquet")
        table = session.read.parquet(f"{folder}/train.parquet").cache()
        table.count()
        als = ALS(seed=0, **settings)
        holder: list[Any] = []
        took = _seconds(lambda: holder.append(als.fit(table)))
    m, n = split.shape
    P, Q = np.zeros((m, als.getRank())), np.zeros((n, als.getRank()))
    for target, factors in ((P, holder[0].userFactors), (Q, holder[0].itemFactors)):
        read = factors.toPandas()
        target[read["id"].to_numpy()] = np.stack(read["features"].to_list())
    return took, _inner(P, Q, split.test_rows, split.test_cols)


def fancyimpute(split: Split, **settings: Any) -> tuple[Time, Array]:
    from fancyimpute import SoftImpute

    X = np.full(split.shape, np.nan, np.float32)
    X[split.rows, split.cols] = split.values - split.values.mean()
    model = SoftImpute(verbose=False, init_fill_method="zero", **settings)
    holder: list[Array] = []
    took = _seconds(lambda: holder.append(model.fit_transform(X)))
    return took, holder[0][split.test_rows, split.test_cols] + split.values.mean()


def _inner(P: Array, Q: Array, rows: Array, cols: Array) -> Array:
    return np.concatenate(
        [np.einsum("ij,ij->i", P[rows[t : t + 100_000]], Q[cols[t : t + 100_000]])
         for t in range(0, len(rows), 100_000)] or [np.zeros(0)]
    )  # fmt: skip


def _seconds(fit: Callable[[], Any]) -> Time:
    wall, cpu = time.perf_counter(), time.process_time()
    fit()
    return Time(time.perf_counter() - wall, time.process_time() - cpu)


ALS = {"userCol": "user", "itemCol": "item", "ratingCol": "rating", "coldStartStrategy": "nan"}
# Name in the table, the package, its settings; per set.
FITS: dict[str, list[tuple[str, Fit, dict[str, Any]]]] = {
    "ml-1m": [
        ("pygeco", pygeco, {}),
        ("pygeco, posterior=10", pygeco, {"posterior": 10}),
        ("pygeco, posterior=15", pygeco, {"posterior": 15}),
        ("pygeco, posterior=30", pygeco, {"posterior": 30}),
        ("pygeco, pattern=False", pygeco, {"pattern": False}),
        ("cmfrec k 20, λ 15, 10 iterations", cmfrec, {"k": 20, "lambda_": 15.0}),
        ("LIBMF k 50, λ 0.05, 20 iterations", libmf, {"k": 50, "penalty": 0.05}),
        ("LIBMF k 100, λ 0.05, rate 0.03, 50 iterations", libmf,
         {"k": 100, "penalty": 0.05, "eta": 0.03, "nr_iters": 50}),
        ("LensKit ALS 50 features, λ 0.1", lenskit, {"embedding_size": 50, "regularization": 0.1}),
        ("Surprise SVD 100 factors", surprise, {}),
        ("Spark ALS rank 50, λ 0.05", spark, {"rank": 50, "regParam": 0.05, "maxIter": 10, **ALS}),
        ("fancyimpute SoftImpute rank 10, 20 iterations", fancyimpute,
         {"max_rank": 10, "max_iters": 20, "shrinkage_value": 20.0}),
        ("myFM rank 16, 100 iterations", myfm, {"rank": 16, "iterations": 100}),
        ("myFM rank 32, 200 iterations", myfm, {"rank": 32, "iterations": 200}),
    ],
    "synthetic": [
        ("pygeco", pygeco, {}),
        ("pygeco, pattern=False", pygeco, {"pattern": False}),
        ("cmfrec k 40, λ 10, 10 iterations", cmfrec, {"k": 40, "lambda_": 10.0}),
        ("cmfrec k 40, λ 20, 10 iterations", cmfrec, {"k": 40, "lambda_": 20.0}),
        ("LensKit ALS 50 features, λ 0.1", lenskit, {"embedding_size": 50, "regularization": 0.1}),
        ("LIBMF k 50, λ 0.05, 20 iterations", libmf, {"k": 50, "penalty": 0.05}),
        ("Spark ALS rank 50, λ 0.05", spark, {"rank": 50, "regParam": 0.05, "maxIter": 10, **ALS}),
    ],
}  # fmt: skip


def movielens() -> tuple[Split, Array]:
    """MovieLens-1M, random 90/10 with seed 0, through PYGECO_DATA."""
    from pygeco.data import load_movielens

    ratings = load_movielens("ml-1m")
    return _split(ratings.rows, ratings.cols, ratings.values, ratings.shape, ratings.test)


def synthetic() -> tuple[Split, Array]:
    """10⁷ cells of MovieLens-10M's shape, power-law counts, rank 40; 10 % more to test."""
    from pygeco.data import make_ratings, split_cells

    made = make_ratings((69_878, 10_677), 11_111_111, rank=40)
    return _split(*made, split_cells(len(made.values)))


SETS = {"ml-1m": movielens, "synthetic": synthetic}


def _split(
    rows: Array, cols: Array, y: Array, shape: tuple[int, int], test: Array
) -> tuple[Split, Array]:
    return Split(rows[~test], cols[~test], y[~test], rows[test], cols[test], shape), y[test]


def run(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Every package on one set, each fit in its own process."""
    split, truth = SETS[name]()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "split.npz"
        np.savez(file, **split._asdict(), truth=truth)
        print(f"{name}: {len(split.values):,} ratings, {split.shape[0]:,} × {split.shape[1]:,}")
        print(
            f"{'package':<48} {'test RMSE':>9} {'seconds':>8} {'CPU s':>8} {'GiB':>6}", flush=True
        )
        for number, (label, fit, _) in enumerate(FITS[name]):
            if given.only and fit.__name__ not in given.only:
                continue
            if given.labels and not any(part in label for part in given.labels):
                continue
            long = fit is myfm
            found = [_child(name, number, file) for _ in range(1 if long else given.repeats)]
            best = min(found, key=lambda t: t.get("seconds", np.inf))
            if "error" in best:
                print(f"{label:<48} left out: {best['error']}", flush=True)
                continue
            rows.append({"package": label, **best})
            print(f"{label:<48} {best['rmse']:>9.4f} {best['seconds']:>8.2f} {best['cpu']:>8.2f} "
                  f"{best['gib']:>6.2f}", flush=True)  # fmt: skip
    print()
    return rows


def _child(name: str, number: int, file: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, name, "--child", str(number), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def child(name: str, number: int, file: str) -> None:
    """One fit: a small one first, then the measured one; prints JSON."""
    import resource

    with np.load(file) as read:
        truth = read["truth"]
        split = Split(*(read[key] for key in Split._fields))
    split = split._replace(shape=(int(split.shape[0]), int(split.shape[1])))
    _, fit, settings = FITS[name][number]
    rng = np.random.default_rng(0)
    cells = np.sort(rng.permutation(60 * 40)[:1_000])
    small = Split(cells // 40, cells % 40, rng.integers(1, 6, 1_000).astype(np.float32),
                  cells[:10] // 40, cells[:10] % 40, (60, 40))  # fmt: skip
    fit(small, **settings)
    took, found = fit(split, **settings)
    rmse = float(np.sqrt(np.mean((found - truth) ** 2)))
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**took._asdict(), "rmse": rmse, "gib": gib}))


def main() -> None:
    parser = argparse.ArgumentParser(description="Other packages beside pygeco.")
    parser.add_argument("sets", nargs="*", metavar="set", help=f"any of {', '.join(SETS)}")
    parser.add_argument("--only", nargs="*", default=[], help="packages, by their import name")
    parser.add_argument("--labels", nargs="*", default=[], help="lines, by a part of their names")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=2, metavar=("NUMBER", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.sets[0], int(given.child[0]), given.child[1])
        return
    unknown = [name for name in given.sets if name not in SETS]
    if unknown:
        parser.error(f"unknown set {unknown[0]!r}; use any of {', '.join(SETS)}")
    OUT.mkdir(exist_ok=True)
    for name in given.sets or SETS:
        rows = run(name, given)
        (OUT / f"peers-{name}.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
