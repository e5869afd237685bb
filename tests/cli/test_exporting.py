"""`geco export` into a folder: what can be mapped, tables, an index with its recall."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pygeco import MatrixCompletion
from pygeco.cli.app import app
from pygeco.data import make_ratings
from pygeco.io import vector_index


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("export") / "m.geco"
    rows, cols, values, _ = make_ratings((30, 20), 300)
    table = {"user": rows, "item": [f"i{j:02d}" for j in cols], "rating": values}
    import pyarrow as pa

    MatrixCompletion(2, clip=False, random_state=0).fit(pa.table(table)).save(file)
    return file


def run(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_a_folder_has_every_array_and_both_tables(model_file, tmp_path) -> None:
    result = run(model_file, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    arrays = {file.stem: np.load(file, mmap_mode="r") for file in (tmp_path / "out").glob("*.npy")}
    from pygeco import load

    model = load(model_file)
    base = arrays["mean"] + arrays["row_offset"]
    full = arrays["row_vectors"] @ arrays["column_vectors"].T + base[:, None]
    np.testing.assert_allclose(full, model.to_dense(), rtol=2e-5, atol=2e-5)
    assert arrays["column_ids"].tolist() == model.column_ids_.tolist()
    for side, ids in (("rows", model.row_ids_), ("columns", model.column_ids_)):
        table = pq.read_table(tmp_path / "out" / f"{side}.parquet")
        assert table.column("id").to_pylist() == ids.tolist()


def test_an_index_is_told_with_its_recall(model_file, tmp_path, monkeypatch) -> None:
    exact = SimpleNamespace(
        search=lambda rows, k, width: vector_index.find_exactly(exact.vectors, rows, k),
        save=lambda path: None,
    )

    def make(package, vectors):
        exact.vectors = vectors
        return exact

    monkeypatch.setitem(sys.modules, "faiss", SimpleNamespace())
    monkeypatch.setattr(vector_index, "_Faiss", make)
    told = json.loads(run(model_file, "-o", tmp_path / "out", "--index", "faiss", "--json").output)
    assert told["index"]["recall"] == 1
    assert told["index"]["rows"] == 30
    text = run(model_file, "-o", tmp_path / "out", "--index", "faiss").output
    assert "100.0% of the 10 best items are found" in text


def test_wrong_outputs_are_one_sentence(model_file, tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    for arguments, code in (
        (("-o", tmp_path / "x.txt"), 2),
        (("-o", tmp_path / "x.npz", "--index", "faiss"), 2),
        (("-o", tmp_path / "file"), 4),
    ):
        assert run(model_file, *arguments).exit_code == code
