"""The engine "dask" on real clusters of processes."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
from distributed import Client, KilledWorker, LocalCluster

import forked_workers  # noqa: F401
from noise_cases import make_noisy_cells
from pygeco import (
    Clicks,
    Dense,
    Entries,
    ImplicitCompletion,
    LowRank,
    MatrixCompletion,
    Ridge,
    Solver,
    engines,
    load,
    minimize,
)
from pygeco.algorithm.alternation import alternate, frequency_ridges
from pygeco.bayes import side_information
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.polya_gamma import polya_gamma_mean, polya_gamma_variance
from pygeco.data import make_ratings
from pygeco.engines.dask import adapter, grid, local, passes, slabs, sweeps
from pygeco.engines.dask.faults import explain_errors
from pygeco.engines.dask.programs import Input, Instruction, Node, Program, run_program
from pygeco.engines.dask.rowwise import send_rows
from pygeco.engines.dask.slab_functions import identity
from pygeco.engines.dask.tall import Tall
from pygeco.errors import ClusterError, WorkerLostWarning
from pygeco.models.updating import keep_factors
from soak import SOAK
from waiting import wait_until

ROWS, COLS, VALUES, SHAPE = make_ratings((80, 30), 1100, rank=3)
VALUES = VALUES.astype(float)
SWEEP = Solver(correction="sweep")


def started(workers):
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    return LocalCluster(n_workers=workers, **options)


@pytest.fixture(scope="module")
def client():
    with started(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def other_cluster():
    """A second cluster beside that of `client`, without a worker at first."""
    with started(0) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def fragile_cluster():
    """For tests that kill a worker: the death is no news to the others."""
    with started(2) as cluster:
        yield cluster


@pytest.fixture(scope="module", autouse=True)
def many_slabs():
    """Unequally many on the workers, and sums of several levels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "MIN_SLABS", 3)
        patch.setattr(grid, "PARTS_PER_SUM", 2)
        yield


@pytest.fixture(scope="module")
def placed(client, many_slabs):
    """The cells on the cluster, for tests that only ask."""
    return Entries(ROWS, COLS, VALUES, SHAPE, engine=client)


def targets(loss):
    if loss == "logistic":
        return np.where(VALUES > 3.4, 1.0, -1.0)
    return np.round(VALUES) if loss == "ordinal" else VALUES


def both(client, **settings):
    given = (ROWS, COLS, targets(settings.get("loss")), SHAPE)
    return Entries(*given, **settings), Entries(*given, engine=client, **settings)


def same_path(plain, other, rank, solver, penalty=None, rel=1e-9):
    expected = minimize(plain, rank, solver, penalty=penalty, random_state=0)
    found = minimize(other, rank, solver, penalty=penalty, random_state=0)
    assert len(found) == len(expected)
    for step, known in zip(found, expected, strict=True):
        assert isinstance(step.A.U, Tall)
        assert isinstance(step.A.V, np.ndarray)
        assert step.objective == pytest.approx(known.objective, rel=rel)
        assert step.certificate.gap() == pytest.approx(known.certificate.gap(), rel=1e-3)
    return found


CHOICES = {
    "sweep": (SWEEP, None),
    "core": (Solver(correction="core"), None),
    "ridge with weights": (SWEEP, Ridge(1e-3, 0.5)),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_path_is_that_of_the_cpu(client, name) -> None:
    found = same_path(*both(client), 2, *CHOICES[name], rel=1e-8)
    A = found.A
    np.testing.assert_allclose(A.entries(ROWS, COLS), (A.left.get() @ A.V.T)[ROWS, COLS])


@pytest.mark.parametrize("loss", ["huber", "logistic", "ordinal"])
def test_other_losses(client, loss) -> None:
    same_path(*both(client, loss=loss), 1, Solver(correction="core"))


def test_weights_and_more_columns_than_rows(client) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, len(VALUES))
    given = (COLS, ROWS, VALUES, SHAPE[::-1])
    plain = Entries(*given, sample_weight=weights)
    other = Entries(*given, sample_weight=weights, engine=client)
    assert other.smoothness == pytest.approx(plain.smoothness)
    same_path(plain, other, 1, SWEEP)
    same_path(plain, other, 1, Solver(correction="core"))


def test_a_half_sweep_over_columns_is_the_least_of_each(placed) -> None:
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((SHAPE[0], 2)), rng.standard_normal((SHAPE[1], 2))
    found = placed.half_sweep(U, V, side="column", ridge=1e-3)
    lift = 1e-3 * len(VALUES) * np.eye(2)
    for j in range(SHAPE[1]):
        own = np.flatnonzero(np.equal(COLS, j))
        X, y = U[ROWS[own]], VALUES[own]
        np.testing.assert_allclose(found[j], np.linalg.solve(X.T @ X + lift, X.T @ y), rtol=1e-7)


def test_columns_in_blocks_are_the_same_columns(placed, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((SHAPE[0], 2)), rng.standard_normal((SHAPE[1], 2))
    whole = placed.half_sweep(U, V, side="column")
    monkeypatch.setattr(passes, "COLUMN_BLOCK_BYTES", 500)  # a few columns at once
    np.testing.assert_array_equal(placed.half_sweep(U, V, side="column"), whole)


def test_cores_where_the_columns_are_too_many_and_a_word_about_it(client, monkeypatch) -> None:
    plain, other = both(client)
    monkeypatch.setattr(passes, "MAX_COLUMN_BYTES", 100)
    words = "correction: on a cluster, sweeps at rank 1 would sum"
    with pytest.warns(UserWarning, match=words) as told:
        found = minimize(other, 1, random_state=0)
    assert told[0].filename == __file__  # the caller's line, not the solver's
    known = minimize(plain, 1, Solver(correction="core"), random_state=0)
    assert found.steps[-1].objective == pytest.approx(known.steps[-1].objective, rel=1e-9)


def test_another_cluster_whose_worker_comes_later(client, other_cluster) -> None:
    """The same bits on any number of workers; one that grows with its work has none at first."""
    found = minimize(both(client)[1], 2, SWEEP, random_state=0)
    with Client(other_cluster, set_as_default=False) as other:
        threading.Timer(0.5, other_cluster.scale, [1]).start()
        entries = Entries(ROWS, COLS, VALUES, SHAPE, engine=other)
        single = minimize(entries, 2, SWEEP, random_state=0)
        assert len(other.nthreads()) == 1  # the scheduler says: what the client knows is older
    assert [step.objective for step in single] == [step.objective for step in found]


# Each on a NumPy array and on the same array in slabs.
@pytest.mark.parametrize("correction", ["sweep", "core"] if SOAK else ["sweep"])
def test_questions_and_tasks_give_the_same_bits(client, monkeypatch, correction) -> None:
    def bits():
        rank = 2 if SOAK else 1
        path = minimize(both(client)[1], rank, Solver(correction=correction), random_state=0)
        return [(step.objective, step.certificate.upper) for step in path]

    answered = []
    ask = adapter.WorkerCalls.ask

    def counted(self, *args):
        found = ask(self, *args)
        answered.append(found is not None)
        return found

    monkeypatch.setattr(adapter.WorkerCalls, "ask", counted)
    straight = bits()
    assert sum(answered) > 0.8 * len(answered)
    monkeypatch.setattr(adapter.worker_calls(client), "direct", False)
    answered.clear()
    assert bits() == straight  # through the scheduler
    assert sum(answered) > 0.8 * len(answered)
    monkeypatch.setattr(adapter.WorkerCalls, "ask", lambda *_: None)
    assert bits() == straight  # nobody answers
    monkeypatch.setattr(grid, "MAX_QUESTION_BYTES", 0)
    assert bits() == straight  # nobody is asked


def test_a_question_about_what_is_not_there_is_not_answered(client) -> None:
    calls, program = adapter.worker_calls(client), Program((), ())
    future = client.submit(abs, -3, pure=False)
    future.result()
    read = Program((Instruction(identity, (Input(0),)),), (0,))
    assert calls.ask(run_program, read, [[future]]) == [3]
    assert calls.ask(run_program, program, [[1.0]]) is None  # no value says where to ask
    elsewhere = adapter.Key("nothing of this name")
    home = next(iter(client.scheduler_info()["workers"]))
    for send in (calls.send_straight, calls.send_through):
        assert client.sync(send, run_program, read, {home: {0: [elsewhere]}}) == [{}]
        (failure,) = client.sync(send, run_program, read, {home: {0: []}})  # it fails on the worker
        assert not isinstance(failure, dict)


OPERATIONS = {
    "slice": lambda x: x[5:61],
    "slice with a step": lambda x: x[3:70:7],
    "nothing": lambda x: x[:0],
    "columns": lambda x: x[:, [2, 0]],
    "rows": lambda x: x[np.array([79, 4, 4, 0])],
    "mask": lambda x: x[x[:, 0] > 0.3],
    "mask of nothing": lambda x: x[x[:, 0] > 1e9],
    "vector of another axis": lambda x: x * np.arange(1.0, 4) - x[:, :1],
    "array of the client": lambda x: x + np.arange(240.0).reshape(80, 3),
    "one number for all rows": lambda x: x[:, 0] + np.broadcast_to(2.0, 80),
    "stack": lambda x: np.column_stack([x, np.arange(80.0), x[:, 0]]),
    "inner": lambda x: x.T @ x,
    "inner with the client's": lambda x: np.arange(80.0) @ x,
    "small factor": lambda x: x @ np.arange(6.0).reshape(3, 2),
    "row of factors": lambda x: np.arange(3.0) @ x.T,
    "sums": lambda x: np.sum(x, axis=0) + np.mean(x, axis=0) + x.max(axis=0) + x.min(),
    "across": lambda x: np.sum(x, axis=1) + np.linalg.norm(x, axis=1),
    "norms": lambda x: np.linalg.norm(x, axis=0) * np.linalg.norm(x[:, 1]),
    "median": lambda x: np.median(x[:, 1]),
    "median of few": lambda x: np.median(np.round(x[:7, 1])),
    "levels": lambda x: np.unique(np.round(x[:, 1]), return_counts=True)[1],
    "outer rows": lambda x: (x[:, :, None] * x[:, None, :]).reshape(80, 9).reshape(-1, 3, 3)[:, 1],
    "einsum over rows": lambda x: np.einsum("tk,tl->kl", x, x),
    "einsum in rows": lambda x: np.einsum("tk,tk->t", x, x),
    "some of all": lambda x: np.any(x > 2) + 2 * np.all(x < 9),
    "condition": lambda x: np.where(x > 0, x, -1.0).astype(np.float32),
}


def test_clicks_before_a_background(client) -> None:
    """Values, gradients, certificates and both half-sweeps of `Clicks`, and alternation."""
    given, powers = (ROWS, COLS, VALUES, SHAPE), {"row_power": 0.5, "column_power": 0.25}
    plain, other = Clicks(given, **powers), Clicks(given, engine=client, **powers)
    same_path(plain, other, 2, SWEEP, Ridge(1e-4))
    same_path(plain, other, 2, Solver(correction="core"))
    found = []
    for objective in (plain, other):
        ridges = dict(
            zip(("row_ridge", "column_ridge"), frequency_ridges(objective, 0.01), strict=True)
        )
        found.append(alternate(objective, 3, n_sweeps=2, random_state=0, **ridges))
    assert found[1].objectives == pytest.approx(found[0].objectives, rel=1e-9)
    one, two = found[0].U @ found[0].V.T, found[1].U.get() @ found[1].V.T
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-9)


SQUARES = {"rank": 3, "background": 0.05, "ridge": 0.02, "row_power": 0.25, "column_power": 0.25}
SPECTRAL = {"rank": 4, "row_power": 0.3, "column_power": 0.3, "ridge": 1.0, "popularity": 0.1}


def test_a_model_of_clicks_is_that_of_the_cpu(client, tmp_path, monkeypatch) -> None:
    """Both families, their blend by held-out clicks, and every question to the model."""
    monkeypatch.setattr(slabs, "MIN_SLABS", 2)
    monkeypatch.setattr("pygeco.clicks.squares.COLD_SWEEPS", 3)
    monkeypatch.setattr("pygeco.clicks.spectral.COLD_POWERS", (1, 2))
    chosen = {"squares": SQUARES | {"popularity": 0.0}, "spectral": SPECTRAL, "random_state": 0}
    rng = np.random.default_rng(0)
    likes = np.arange(30) % 3 == rng.integers(3, size=80)[:, None]
    likes = rng.random(likes.shape) < np.where(likes, 0.6, 0.05)
    likes[11] = False  # a row without a click is the average one
    rows, cols = np.nonzero(likes)
    clicks = (rows, cols, rng.integers(1, 4, len(rows)).astype(float), likes.shape)
    new = (np.zeros(4, int), np.array([1, 4, 10, 22]))
    plain = ImplicitCompletion(**chosen).fit(clicks)
    other = ImplicitCompletion(engine=client, **chosen).fit(clicks)
    assert isinstance(other.factors_.U, Tall)
    assert other.choice_.share == plain.choice_.share
    assert [trial.ndcg for trial in other.choice_.trials] == pytest.approx(
        [trial.ndcg for trial in plain.choice_.trials], abs=1e-9
    )

    def same(found) -> None:
        for ask in (
            lambda model: model.recommend([0, 7, 11, 79], k=5),
            lambda model: model.similar(3, k=4),
        ):
            one, two = ask(found), ask(plain)
            np.testing.assert_array_equal(one.columns, two.columns)
            np.testing.assert_allclose(one.scores, two.scores, rtol=1e-5, atol=1e-5)
        turned = found.transform(new) @ found.components_, plain.transform(new) @ plain.components_
        np.testing.assert_allclose(*turned, rtol=1e-5, atol=1e-5)
        one, two = found.explain(7, 4), plain.explain(7, 4)
        np.testing.assert_allclose(one.contributions, two.contributions, atol=1e-5)

    same(other)
    with pytest.raises(ValueError, match=r"^X: partial_fit runs on the CPU"):
        other.partial_fit(([0], [0]))
    other.save(tmp_path / "clicks.geco")
    same(load(tmp_path / "clicks.geco"))
    same(other.to("cpu"))
    assert isinstance(other.factors_.U, np.ndarray)
    with pytest.raises(ValueError, match=r"^row_attributes: clicks on a cluster"):
        ImplicitCompletion(engine=client).fit(clicks, row_attributes=np.ones((80, 1)))


def test_a_model_of_clicks_on_few_rows_is_that_of_the_cpu(client, monkeypatch) -> None:
    """Singular pairs are then found from the rows, which are with the workers."""
    monkeypatch.setattr(slabs, "MIN_SLABS", 2)
    rng = np.random.default_rng(0)
    likes = np.arange(90) % 3 == rng.integers(3, size=30)[:, None]
    clicks = np.nonzero(rng.random(likes.shape) < np.where(likes, 0.5, 0.05))
    settings = {"spectral": SPECTRAL, "squares": False, "random_state": 0}
    plain, other = (
        ImplicitCompletion(engine=engine, **settings).fit(clicks) for engine in (None, client)
    )
    assert plain.choice_.spectral == other.choice_.spectral
    one, two = (model.to("cpu").factors_.to_dense() for model in (plain, other))
    np.testing.assert_allclose(two, one, atol=1e-5 * np.abs(one).max())


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_in_slabs_are_numpy_s(placed, name) -> None:
    x = np.random.default_rng(0).standard_normal((80, 3))
    found = OPERATIONS[name](send_rows(x, placed.engine.home))
    found = found.get() if hasattr(found, "get") else found
    expected = OPERATIONS[name](x)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_assignment(placed) -> None:
    x = np.random.default_rng(0).standard_normal((80, 3))
    tall = send_rows(x, placed.engine.home)
    for array in (x, tall):
        array[7] = 5.0
        array[:, 1] = array[:, 0] * 2
        array[array[:, 2] > 1] = 0.0
        array += 1.0
    np.testing.assert_array_equal(tall.get(), x)
    with pytest.raises(TypeError, match="use `get`"):
        np.asarray(tall)


@pytest.mark.parametrize("kind", ["plain", "dependent"])
def test_tall_qr(placed, kind) -> None:
    x = np.random.default_rng(0).standard_normal((80, 3))
    x = x[:, [0, 1, 1]] if kind == "dependent" else x
    Q, R = np.linalg.qr(send_rows(x, placed.engine.home))
    np.testing.assert_allclose(Q.get() @ R, x, atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("deep", [2, 1000])
def test_a_worker_that_is_killed_is_survived(fragile_cluster, monkeypatch, deep) -> None:
    monkeypatch.setattr(grid, "MAX_CHAIN_TASKS", deep)  # row factors from files often, or never
    with Client(fragile_cluster) as client:
        client.wait_for_workers(2)
        known = minimize(Entries(ROWS, COLS, VALUES, SHAPE), 2, SWEEP, random_state=0)
        entries = Entries(ROWS, COLS, VALUES, SHAPE, engine=client)
        pids = list(client.run(os.getpid).values())

        def strike(step):
            if step.rank == 1:
                os.kill(pids[0], signal.SIGKILL)

        with pytest.warns(WorkerLostWarning, match="is gone; its slabs are read again"):
            found = minimize(entries, 2, SWEEP, random_state=0, callback=strike)
    assert [s.objective for s in found] == pytest.approx([s.objective for s in known], rel=1e-9)


def test_a_worker_out_of_memory(tmp_path) -> None:
    def hungry(folder, times):
        def take(slab):  # on a worker: takes memory until the process is ended, the first few times
            count = len(os.listdir(folder))
            if count < times:
                open(os.path.join(folder, str(count)), "w").close()
                taken = []
                for _ in range(200):
                    taken.append(np.ones(1 << 22))
                    time.sleep(0.02)
            return len(slab.by_row.values)

        return take

    once, always = tmp_path / "once", tmp_path / "always"
    once.mkdir(), always.mkdir()
    often = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.memory.spill": False}
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set(often),
        LocalCluster(n_workers=1, memory_limit="600MB", **options) as cluster,
        Client(cluster) as client,
    ):
        engine = Entries(ROWS, COLS, VALUES, SHAPE, engine=client).engine
        with pytest.warns(WorkerLostWarning, match="is gone; its slabs are read again"):
            assert engine.grid.total(Node(hungry(str(once), 1), engine.slab), "once") == len(VALUES)
        with pytest.raises(ClusterError, match="most likely out of memory"):
            engine.grid.total(Node(hungry(str(always), 1000), engine.slab), "always")


def test_files_of_row_factors_go_when_nobody_needs_them(client, monkeypatch) -> None:
    monkeypatch.setattr(grid, "MAX_CHAIN_TASKS", 2)
    _, other = both(client)
    path = minimize(other, 2, SWEEP, random_state=0)
    root = other.engine.grid.scratch.root
    assert os.listdir(root)
    del path, other

    def is_empty() -> bool:
        gc.collect()  # a question that failed and was asked again leaves its error, and all it saw
        return not os.path.exists(root) or not os.listdir(root)

    wait_until(is_empty, 20.0)


def test_the_evidence_under_a_robust_loss(client) -> None:
    values = np.where(np.arange(len(VALUES)) % 50 == 7, 40.0, VALUES)

    def stop_after(sweeps):  # the same on both, long before they rest
        told = []
        return lambda step: told.append(step) or len(told) >= sweeps

    one, other = (
        MatrixCompletion(1, loss="huber", engine=engine, callback=stop_after(5), random_state=0)
        for engine in ("cpu", "dask")
    )
    with client.as_current():
        for model in (one, other):
            model.fit((ROWS, COLS, values, SHAPE))
        assert one.loss_.delta == pytest.approx(other.loss_.delta, rel=1e-4)
        np.testing.assert_allclose(
            other.predict(ROWS, COLS), one.predict(ROWS, COLS), rtol=1e-3, atol=1e-3
        )


# Levels, which have thresholds to find beside the squares; labels and counts in the long form.
@pytest.mark.parametrize("name", ["ordinal", "logistic", "poisson"] if SOAK else ["ordinal"])
def test_the_evidence_of_labels_levels_and_counts(client, name) -> None:
    values = {
        "logistic": np.median(VALUES) < VALUES,
        "ordinal": np.clip(np.rint(VALUES), 2, 5),
        "poisson": np.rint(np.exp(VALUES - VALUES.mean())),
    }[name].astype(float)
    one, other = (
        fit_evidence(
            Entries(ROWS, COLS, values, SHAPE, loss=name, engine=engine), rank=1, max_sweeps=2
        ).posterior
        for engine in ("cpu", client)
    )
    np.testing.assert_allclose(
        other.factors().entries(ROWS, COLS) + other.biases().at(ROWS, COLS),
        one.factors().entries(ROWS, COLS) + one.biases().at(ROWS, COLS),
        atol=1e-5,
    )
    assert other.tau == pytest.approx(one.tau, rel=1e-5)
    assert vars(other.likelihood) == {
        key: pytest.approx(x, rel=1e-5) for key, x in vars(one.likelihood).items()
    }


def test_the_pattern_of_known_cells(client, monkeypatch) -> None:
    """Of columns it is as long as rows are many, and lies in slabs as they do."""
    monkeypatch.setattr(side_information, "MAX_SWEEPS", 2)
    rng = np.random.default_rng(0)
    m, n = 150, 60
    kind, group = np.arange(n) % 3, rng.integers(3, size=m)
    own = kind == group[:, None]
    rows, cols = np.nonzero(rng.random((m, n)) < np.where(own, 0.5, 0.1))
    values = 3.0 + np.where(own, 1.0, -1.0)[rows, cols] + 0.3 * rng.standard_normal(len(rows))
    cells = rows, cols, values, (m, n)
    plain, other = (
        MatrixCompletion(1, posterior=2, random_state=0, engine=engine).fit(cells)
        for engine in ("cpu", client)
    )
    for model in (plain, other):
        p = model.model_.posterior
        assert p.row_prior.effects
        assert p.col_prior.effects
    i, j = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
    np.testing.assert_allclose(other.predict(i, j), plain.predict(i, j), atol=2e-3)
    assert other.average_.excess == pytest.approx(plain.average_.excess, rel=1e-2)


def test_rows_as_few_as_the_lines_of_small_matrices(client) -> None:
    """Those are no arrays of rows: products with them failed."""
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(5), rng.standard_normal(40)) + rng.standard_normal(40)
    i, j = np.nonzero(rng.random(X.shape) < 0.8)
    cells = i, j, X[i, j] + 0.1 * rng.standard_normal(len(i)), X.shape
    plain, other = (
        MatrixCompletion(1, random_state=0, engine=engine, pattern=False).fit(cells)
        for engine in ("cpu", client)
    )
    assert other.rank_ == plain.rank_
    np.testing.assert_allclose(other.predict(i, j), plain.predict(i, j), atol=1e-3)


def test_factors_of_no_rank_and_draws_for_cells(client) -> None:
    labels = np.random.default_rng(0).integers(2, size=len(VALUES)).astype(float)
    entries = Entries(ROWS, COLS, labels, SHAPE, engine=client)
    assert keep_factors(LowRank.zero(SHAPE), entries).U.get().shape == (80, 0)
    z = entries.by_row.values - 3.0
    weights, targets = Labels().draw_squares(z, z, np.random.default_rng(1))
    drawn, x = weights.get(), z.get()
    expected, spread = polya_gamma_mean(x), polya_gamma_variance(x)
    np.testing.assert_allclose(targets.get() * drawn, x / 2, atol=1e-9)
    assert abs(np.mean(drawn - expected)) < 4 * np.sqrt(np.mean(spread) / len(x))
    assert len(np.unique(drawn)) == len(drawn)


@pytest.mark.parametrize("shape", [(1200, 12), (12, 1200)] if SOAK else [(1200, 12)], ids=str)
def test_small_noise_is_found_beside_large_values(client, shape) -> None:
    data = make_noisy_cells(shape, 1e-4, share=0.8)
    found = fit_evidence(Entries(*data.fitted, engine=client), rank=2, max_sweeps=15).posterior
    assert found.tau / found.scale**2 == pytest.approx(data.precision, rel=0.15)


def test_a_scheduler_that_is_gone_is_one_sentence(other_cluster) -> None:
    other_cluster.scale(1)
    with Client(other_cluster) as client:
        entries = Entries(ROWS, COLS, VALUES, SHAPE, engine=client)
        threading.Timer(0.3, client.close).start()
        with pytest.raises(ClusterError, match="connection to the cluster's scheduler was lost"):
            minimize(entries, 20, SWEEP, random_state=0)


def test_workers_that_all_die_are_one_sentence(client) -> None:
    with (
        pytest.raises(ClusterError, match=r"4 workers died .* use workers with more memory"),
        explain_errors(client),
    ):
        raise KilledWorker("slab", "a worker", 3)


def test_a_worker_may_have_a_device_for_its_slabs(client) -> None:
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))

    def use(name):  # on a worker: the engine for its slabs
        sys.path.insert(0, folder)
        engines.ENGINE_MODULES["fake"], engines.ENGINE_OF_PACKAGE["fake_device"] = (
            "fake_device",
            "fake",
        )
        dask.config.set({"pygeco.engine": name})

    plain, other = both(client)
    client.run(use, "fake")
    try:
        same_path(plain, other, 1, SWEEP)
        copies = client.run(lambda: len(local._COPIES))
        assert sum(copies.values()) >= 1
    finally:
        client.run(use, "cpu")


def test_dense_tables_are_refused(placed) -> None:
    dense = np.ones((6, 5))
    with pytest.raises(TypeError, match="engine: 'dask' serves observed cells"):
        Dense(dense, engine=placed.engine)


def test_a_column_that_single_precision_cannot_hold_keeps_its_start() -> None:
    packed = np.zeros((2, sweeps.table_width(2, False, False)), np.float32)
    packed[0] = [1, 0, 1, 3, 4]
    packed[1] = [1e-30, 0, 1e-30, 1e20, 1e20]
    own = {"ridge": np.zeros(2), "prior": np.eye(2), "shift": np.zeros(2), "tau": 1.0}
    rest = own | {"jitter": 0.0, "noise": None, "offsets": False, "background": None}
    start = np.full((2, 2), 7, np.float32)
    found, _ = sweeps.solve_columns((packed, np.eye(2), 0.0), start, rest, False, False)
    np.testing.assert_allclose(found.out, [[3, 4], [7, 7]])
    assert found.out.dtype == np.float32
