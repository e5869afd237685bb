"""Small models behind a server: ratings with titles, clicks, and how to ask them."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa

from pygeco import ImplicitCompletion, MatrixCompletion
from pygeco.data import make_ratings
from pygeco.estimators._choosing import settle_lists
from pygeco.losses import LOSSES
from pygeco.serve.app import make_app
from pygeco.serve.guard import Guard
from pygeco.serve.metrics import make_counters
from pygeco.serve.reporting import Reporter
from pygeco.serve.served import Served, TitleFile, open_served
from pygeco.serve.service import Service
from pygeco.serve.settings import Settings

USERS, ITEMS = 80, 60
PROGRAM = sys.executable, "-c", "from pygeco.cli import main; main()"


def make_table():
    """Ratings of users 1 … 80 and items m01 … m60, some of the cells of a matrix of rank 2."""
    rows, cols, values, _ = make_ratings((USERS, ITEMS), 1500, rank=2)
    items = pa.array([f"m{j + 1:02d}" for j in cols])
    return pa.table({"user": rows + 1, "item": items, "rating": values})


@cache
def fit_ratings() -> MatrixCompletion:
    """With what users choose, which few cells do not learn by themselves."""
    table = make_table()
    model = MatrixCompletion(2, random_state=0).fit(table.slice(100))
    model.keep_held_out(table.slice(0, 100))
    settle_lists(model, "choice")
    return model


def move_ids_far(served: Served) -> Served:
    """The same model with ids that JavaScript would round: 10^19 + 1 … and 2^53 + 1 …"""
    users = np.uint64(10**19) + np.arange(1, USERS + 1, dtype=np.uint64)
    return replace(served, ids=(users, (1 << 53) + np.arange(1, ITEMS + 1)), titles=None)


@cache
def fit_clicks() -> ImplicitCompletion:
    table = make_table().drop_columns(["rating"])
    return ImplicitCompletion(3, share=0.5, random_state=0).fit(table)


def make_values(kind: str):
    """What a loss is for, in the cells of `make_table`: users 1 … 80, items 1 … 60, held last."""
    rng = np.random.default_rng(4)
    rows, cols, values, _ = make_ratings((USERS, ITEMS), 1500, rank=2)
    Z = rng.standard_normal((USERS, 2)) @ rng.standard_normal((2, ITEMS))
    z = Z[rows, cols] + 0.5 * rng.standard_normal(len(rows))
    found = {
        "logistic": (z > 0).astype(float),
        "ordinal": np.asarray(values, float),
        "poisson": rng.poisson(np.exp(0.6 * z)).astype(float),
        "huber": z + 9.0 * (rng.random(len(z)) < 0.03),
        "small": 1e-7 * (z + 3),
        "tenths": np.round(0.1 * (np.clip(np.round(z), -4, 4) + 5), 1),
    }[kind]
    return pa.table({"user": rows + 1, "item": cols + 1, "value": found})


@cache
def fit_values(kind: str) -> MatrixCompletion:
    table, loss = make_values(kind), kind if kind in LOSSES else "squared"
    model = MatrixCompletion(loss=loss, random_state=0).fit(table.slice(150))
    model.keep_held_out(table.slice(0, 150))
    return model


def open_values(kind: str, folder: Path) -> Served:
    fit_values(kind).save(folder / f"{kind}.geco")
    return open_served(folder / f"{kind}.geco")


def write_titles(folder: Path) -> Path:
    file = folder / "titles.csv"
    lines = [f'm{j + 1:02d},"Film {j + 1} <b>&amp;"' for j in range(ITEMS)]
    file.write_text("item,title\n" + "\n".join(lines) + "\n")
    return file


@contextmanager
def serving(served, settings=None, **more):
    """A function that asks an application in this process: ask(method, path, body)."""
    settings = settings or Settings(model=Path("none"), **more)
    counters = make_counters()
    service = Service(served, counters, caches=settings.caches)
    reporter = Reporter(settings, Path("none"))
    app = make_app(service, settings.limits, reporter, needs_token=settings.token is not None)
    guard = Guard(app, settings, counters)

    async def ask_all(asked):
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            calls = [client.request(method, path, **given) for method, path, given in asked]
            return await asyncio.gather(*calls)

    def ask(method, path, body=None, **given):
        given |= {} if body is None else {"json": body}
        return asyncio.run(ask_all([(method, path, given)]))[0]

    ask.all, ask.service, ask.guard = lambda asked: asyncio.run(ask_all(asked)), service, guard
    try:
        yield ask
    finally:
        service.close()


def open_models(folder: Path):
    """Both models, from files, as they are served."""
    titles = TitleFile(write_titles(folder))
    fit_ratings().save(folder / "ratings.geco")
    fit_clicks().save(folder / "clicks.geco")
    return {
        "ratings": open_served(folder / "ratings.geco", titles),
        "clicks": open_served(folder / "clicks.geco", titles),
    }


@contextmanager
def run_server(model: Path, *options: str, **environment: str):
    """A real server in a process of its own, on a free port: its address, process and log."""
    log = model.with_suffix(".log")
    with log.open("wb") as err:
        process = subprocess.Popen(
            [*PROGRAM, "serve", str(model), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=err,
            env=os.environ | environment,
        )
    try:
        line = process.stdout.readline().decode()
        found = re.search(r"at (http://\S+)/", line)
        assert found, log.read_text()
        yield found[1], process, log
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
