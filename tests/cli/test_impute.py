"""`geco impute`: known cells stay, missing ones are filled, files are whole."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pygeco import LowRankImputer
from pygeco.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, ["impute", *map(str, arguments)])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 5)) + rng.standard_normal(5)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"]).round(6)
    holes = frame.mask(rng.random(X.shape) < 0.15)
    holes.insert(2, "city", [f"town, {k}" for k in range(80)])
    holes["whole"] = np.arange(80)
    return holes


READ = {"csv": pd.read_csv, "parquet": pd.read_parquet, "tsv": lambda p: pd.read_csv(p, sep="\t")}


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize(
    ("first", "second"), [("csv", "parquet"), ("parquet", "tsv"), ("tsv", "csv")]
)
def test_a_table_is_filled_as_the_imputer_fills_it(first, second, table, tmp_path) -> None:
    source, target = write(table, tmp_path / f"in.{first}"), tmp_path / f"out.{second}"
    result = run(source, "-o", target, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    found = READ[second](target)
    assert list(found.columns) == list(table.columns)
    assert found["city"].tolist() == table["city"].tolist()
    assert found["whole"].tolist() == table["whole"].tolist()
    numbers = [name for name in table if name != "city"]
    known = table[numbers].notna().to_numpy()
    before, after = table[numbers].to_numpy(float), found[numbers].to_numpy(float)
    assert np.array_equal(after[known], before[known])
    expected = LowRankImputer(random_state=3).fit_transform(before)
    assert np.allclose(after, expected)
    assert told["filled"] == (~known).sum()
    assert told["other_columns"] == ["city"]


def test_people_are_told_what_happened(table, tmp_path) -> None:
    result = run(write(table, tmp_path / "in.csv"), "-o", tmp_path / "out.csv", "--rank", 2)
    assert "80 rows, 6 columns of numbers" in result.output
    assert "left as they are: city." in result.output
    assert "filled from 2 components" in result.output


def test_missing_cells_have_many_names_and_headers_may_be_absent(tmp_path) -> None:
    rows = [f"{k},{2 * k},{3 * k}" for k in range(1, 30)]
    rows[3], rows[5], rows[7] = "4,NA,12", "6,12,?", ",16,24"
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    args = ("--rank", 1, "--alpha", 1e-9)
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", *args)
    assert result.exit_code == 0, result.output
    found = np.loadtxt(tmp_path / "out.csv", delimiter=",")
    assert np.allclose(found, np.outer(np.arange(1, 30), [1, 2, 3]), rtol=0.1)


def test_a_whole_table_is_copied(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("a;b\n1;2\n3;4\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert "0 of 4 cells were missing" in result.output
    assert pd.read_csv(tmp_path / "out.csv").to_numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.csv", None, "No such file"),
        ("words.csv", "a,b\nx,y\n", "no column of numbers"),
        ("ragged.csv", "a,b\n1,2\n1,2,3\n", "cannot be read"),
        ("twice.csv", "a,a\n1,2\n", "two columns have the same name"),
        ("broken.parquet", "PAR1 and no more", "cannot be read"),
        ("table.xlsx", "x", "expected a table ending in .csv"),
        ("nothing.csv", "a,b\n", "no column of numbers"),
    ],
)
def test_wrong_tables_are_told_and_the_output_stays(name, content, said, tmp_path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    (tmp_path / "out.csv").write_text("as it was")
    result = run(tmp_path / name, "-o", tmp_path / "out.csv")
    assert result.exit_code in (2, 3)
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        {"out.csv"} | ({name} if content is not None else set())
    )


def test_an_unwritable_output_is_told(table, tmp_path) -> None:
    result = run(write(table, tmp_path / "in.csv"), "-o", tmp_path / "no" / "out.csv")
    assert result.exit_code == 4
    assert "there is no folder" in result.output
