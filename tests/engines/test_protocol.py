"""What an engine claims it does, and what is above never asks who it is."""

import ast
import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pygeco
from fake_device import FakeDevice
from pygeco import Dense, RobustPCA
from pygeco.engines import choose_engine
from pygeco.engines.cpu.engine import ENGINE, Cpu
from pygeco.engines.cuda.engine import Cuda
from pygeco.engines.protocol import Engine, LocalEngine, TableEngine
from pygeco.engines.values import Ridges, Vectors
from sources import parse_files

SOURCE = Path(pygeco.__file__).parent
CLAIMS = {
    "cpu": (Cpu, (LocalEngine, TableEngine)),
    "cuda": (Cuda, (LocalEngine, TableEngine)),
    "a fake device": (FakeDevice, (LocalEngine, TableEngine)),
}
MEMBERS = {name for p in (LocalEngine, TableEngine) for name in vars(p) | vars(Engine)}


def engines():
    yield from CLAIMS.items()
    try:
        from pygeco.engines.dask import Dask
        from pygeco.engines.dask.cluster import Sender
    except ImportError:
        return
    yield "dask", (Dask, (Engine,))
    yield "cells to be sent", (Sender, (Engine,))


@pytest.mark.parametrize(("engine", "protocols"), dict(engines()).values(), ids=dict(engines()))
def test_an_engine_has_what_it_claims_and_refuses_none_of_it(engine, protocols) -> None:
    claimed = {p for p in (LocalEngine, TableEngine) if issubclass(engine, p)}
    assert claimed == set(protocols) - {Engine}
    assert not inspect.isabstract(engine)
    for name in MEMBERS & set(dir(engine)):
        member = getattr(engine, name)
        if inspect.isfunction(member) and not name.startswith("__"):
            (found,) = ast.parse(textwrap.dedent(inspect.getsource(member))).body
            assert not any(isinstance(step, ast.Raise) for step in found.body), name


def test_an_engine_that_lacks_a_pass_cannot_be_made() -> None:
    class Half(Engine):
        name = "half"
        kind = np.zeros(0)

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_a_minimal_engine_has_every_ability_s_default() -> None:
    needed = Engine.__abstractmethods__ - {"kind"}
    plain = type("Plain", (Engine,), dict.fromkeys(needed) | {"name": "plain", "kind": None})()
    assert not plain.uses_host_arrays
    assert plain.place_cells(1, 2) == (1, 2)
    assert plain.sends_too_much(1000) is False
    assert plain.fingerprint() is None
    assert plain.order_that_serves(1, 2) is None
    assert plain.reorder_by_column(1, 2, 3) is None
    with plain.session():
        pass


def calls(tree):
    """Where a file asks an engine who it is, or whether it has something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            probes = node.func.id in ("getattr", "hasattr") and len(node.args) > 1
            name = node.args[1] if probes else None
            if isinstance(name, ast.Constant) and name.value in MEMBERS | {"engine", "sent"}:
                yield node.lineno
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and side.attr == "name":
                    owner = ast.unparse(side.value)
                    if owner.split(".")[-1] in ("engine", "own", "local", "ENGINE"):
                        yield node.lineno


def test_nobody_probes_an_engine_or_compares_its_name() -> None:
    found = [
        (str(path.relative_to(SOURCE)), line)
        for path, tree in parse_files(SOURCE, "getattr", "hasattr", ".name")
        if path.name != "kinds.py"  # the kinds of arrays, which are other people's types
        for line in calls(tree)
    ]
    assert found == []


@pytest.mark.parametrize("model", [Dense, RobustPCA(1, engine="dask").fit], ids=["Dense", "robust"])
def test_a_dense_table_is_refused_by_name_before_anything_is_done(model) -> None:
    pytest.importorskip("distributed")
    settings = {"engine": "dask"} if model is Dense else {}
    with pytest.raises(TypeError, match="engine: 'dask' serves observed cells, not dense tables"):
        model(np.ones((6, 5)), **settings)


def test_the_default_is_the_cpu() -> None:
    assert isinstance(choose_engine(None, np.zeros(3)), Cpu)


def test_contributing_says_all_that_an_engine_needs() -> None:
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.partition("## Add an engine")[2].partition("\n## ")[0]
    needed = Engine.__abstractmethods__
    assert len(needed - {"kind"}) == 13
    assert "Thirteen methods and `kind`" in text
    abilities = {name for name in vars(Engine) if not name.startswith("_")} - needed
    more = {n for p in (LocalEngine, TableEngine) for n in p.__abstractmethods__ - needed}
    missing = [name for name in abilities | more if f"`{name}`" not in text]
    assert missing == []
    for file in re.findall(r"`((?:src|tests|engines)/[\w/]+\.py)`", text):
        place = SOURCE / file if file.startswith("engines") else SOURCE.parents[1] / file
        assert place.exists(), file


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("s", [0, 3])
def test_a_side_is_solved_as_a_table_is(offsets, drawn, s) -> None:
    """Vectors and offsets apart are those of the table that `half_sweep` takes and gives."""
    if not offsets and not s:
        return
    rng, d = np.random.default_rng(0), s + offsets
    rows, cols = np.nonzero(rng.random((30, 20)) < 0.4)
    values = rng.standard_normal(len(rows)).astype(np.float32)
    cells, _ = ENGINE.both_orders(rows, cols, values, None, (30, 20))
    start, noise = (rng.standard_normal((30, d)).astype(np.float32) for _ in range(2))
    partner, spread = (rng.random((20, s)).astype(np.float32) for _ in range(2))
    bias, doubt = (rng.random(20).astype(np.float32) for _ in range(2))
    ridges = Ridges(
        partner, bias, spread, doubt, ridge=None, prior=np.eye(d), shift=np.ones(d), tau=2.0,
        jitter=1e-3, noise=noise if drawn else None, offsets=offsets,
    )  # fmt: skip
    given = Vectors(start[:, :s].copy(), start[:, s].copy() if offsets else np.zeros(30, "f4"))
    solved = ENGINE.half_sweep(cells, start, ridges, variances=True)
    for way in (Engine.solve_side, type(ENGINE).solve_side):
        found = way(ENGINE, cells, given, ridges, variances=True)
        for one, table in zip(found[:3], solved[:3], strict=True):
            assert (one is None) == (table is None)
            if one is not None:
                np.testing.assert_array_equal(one.factor, table[:, :s])
                np.testing.assert_array_equal(one.bias, table[:, s] if offsets else 0)
        assert found.uncertainty == solved.uncertainty
    np.testing.assert_array_equal(given.factor, start[:, :s])
