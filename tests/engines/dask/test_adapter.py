"""What is taken from inside Dask is taken in one file, from versions that were tried."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("distributed")

import pygeco
from pygeco.engines.dask import adapter
from sources import parse_files

SOURCE = Path(pygeco.__file__).parent
# Attributes of Dask's clients, schedulers and workers that its documentation does not promise.
PRIVATE = {
    "stream_comms", "scheduler_comm", "batched_stream", "handlers", "executors", "broadcast",
    "set_restrictions", "direct_to_workers",
}  # fmt: skip


def private_names(tree):
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for name in modules:
            package, *rest = name.split(".")
            if package in ("dask", "distributed") and any(part[0] == "_" for part in rest):
                yield name
            if name.startswith("distributed.protocol"):
                yield name
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE:
            yield node.attr


def test_only_the_adapter_knows_dask_s_inside() -> None:
    found = {
        str(path.relative_to(SOURCE)): names
        for path, tree in parse_files(SOURCE, "dask", "distributed", *PRIVATE)
        if (names := sorted(set(private_names(tree))))
    }
    assert list(found) == ["engines/dask/adapter.py"]
    assert {"dask._expr.LLGExpr", "dask._task_spec.TaskRef"} <= set(found.popitem()[1])


def test_the_extra_asks_for_the_versions_that_the_adapter_takes() -> None:
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    for wanted in project["project"]["optional-dependencies"]["dask"]:
        first, end = re.fullmatch(r"(?:dask|distributed)>=([\d.]+),<([\d.]+)", wanted).groups()
        assert tuple(map(int, first.split("."))) == adapter.MIN_VERSION
        assert tuple(map(int, end.split("."))) == adapter.END_VERSION


@pytest.mark.parametrize("version", ["2024.12.1", "2027.1.0"])
def test_a_version_that_nobody_tried_is_refused_in_one_sentence(version) -> None:
    with pytest.raises(ImportError, match=rf"engine: 'dask' needs Dask .* not {version}; install"):
        adapter.check_version(version)


def test_those_in_use_are_taken() -> None:
    for version in ("2026.8.0", ".".join(map(str, adapter.MIN_VERSION))):
        adapter.check_version(version)
