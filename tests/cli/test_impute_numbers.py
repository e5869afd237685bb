"""`geco impute --alpha`: numbers from a low-rank matrix; known cells stay, files are whole."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pygeco import LowRankImputer
from pygeco.cli.app import app


def run(*arguments):
    given = arguments if "--alpha" in arguments else (*arguments, "--alpha", "0.1")
    return CliRunner().invoke(app, ["impute", *map(str, given)])


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
    expected = LowRankImputer(alpha=0.1, random_state=3).fit_transform(before)
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
        ("gone.csv.gz", None, "No such file"),
        ("gone.docx", None, "No such file"),
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


@pytest.fixture
def ugly(table, tmp_path):
    """A row number, whole numbers, an empty column, strays and gaps in texts, a row of nothing."""
    rng = np.random.default_rng(1)
    frame = table.drop(columns="whole").copy()
    frame["age"] = np.round(40 + 5 * frame["a"].fillna(0) + rng.standard_normal(80)).astype("Int64")
    frame.loc[::7, "age"] = pd.NA
    frame["notes"] = np.nan
    frame.loc[[3, 5], "city"] = None
    frame["dose"] = [str(k) for k in rng.random(79).round(3)] + ["n.d."]
    frame.loc[8, ["a", "b", "c", "d", "e", "age"]] = pd.NA
    frame.insert(0, "id", np.arange(1, 81))
    return write(frame, tmp_path / "in.csv")


def test_every_column_is_filled_or_refused_aloud(ugly, tmp_path) -> None:
    told = json.loads(run(ugly, "-o", tmp_path / "out.csv", "--skip", "id", "--json").output)
    before, after = pd.read_csv(ugly), pd.read_csv(tmp_path / "out.csv")
    numbers = ["a", "b", "c", "d", "e", "age"]
    assert not after[numbers].isna().any().any()
    assert told["filled"] == before[numbers].isna().sum().sum()
    assert told["empty_columns"] == ["notes"]
    assert told["left_by_column"] == {"city": 2, "notes": 80}
    assert told["left"] == 82 == after.isna().sum().sum()
    assert told["missing"] == told["filled"] + 80  # of the columns of numbers
    assert told["row_number_columns"] == []
    assert told["rows_without_numbers"] == 1
    assert told["strays"] == {"dose": "n.d."}


def test_people_are_warned(ugly, tmp_path) -> None:
    said = run(ugly, "-o", tmp_path / "out.csv").output
    assert "still missing: 82 cells (city 2, notes 80)." in said
    assert "'notes' has no known cell; it stays empty" in said
    assert "'id' counts the rows" in said
    assert "--skip 'id'" in said
    assert "'dose' holds text such as 'n.d.'" in said
    quiet = run(ugly, "-o", tmp_path / "out.csv", "--skip", "id", "--skip", "dose").output
    assert "counts the rows" not in quiet
    assert "1 rows have no known number" in quiet


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whole_numbers_stay_whole_where_asked(kind, ugly, tmp_path) -> None:
    frame = pd.read_csv(ugly).astype({"age": "Int64"})
    source, target = write(frame, tmp_path / f"whole.{kind}"), tmp_path / f"out.{kind}"
    assert run(source, "-o", target).exit_code == 0
    plain = READ[kind](target)["age"]
    assert (plain != plain.round()).any()
    assert run(source, "-o", target, "--whole").exit_code == 0
    found = READ[kind](target)
    assert found["age"].dtype.kind == "i"
    assert found["age"].tolist() == plain.round().tolist()
    assert (found["a"] != found["a"].round()).all()  # a column that is not whole


def test_the_error_that_is_stated_is_that_of_missing_cells(tmp_path) -> None:
    rng = np.random.default_rng(2)
    full = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6))
    full = (full + 0.3 * rng.standard_normal(full.shape)) * np.geomspace(1, 1e4, 6)
    gaps = rng.random(full.shape) < 0.1
    names = list("abcdef")
    source = write(pd.DataFrame(full, columns=names).mask(gaps), tmp_path / "in.csv")
    told = json.loads(run(source, "-o", tmp_path / "out.csv", "--json").output)
    after = pd.read_csv(tmp_path / "out.csv").to_numpy()
    true = np.sqrt(np.mean(((after - full) / full.std(axis=0))[gaps] ** 2))
    assert told["masked_error"] == pytest.approx(true, rel=0.15)
    assert told["masked_error_of_means"] == pytest.approx(1, rel=0.15)
    assert told["masked_cells"] == pytest.approx(0.09 * full.size, rel=0.2)
    assert "column deviations (the column means:" in run(source, "-o", tmp_path / "b.csv").output


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("a,b\n,\n,\n", (), "no column with a known number"),
        ("a,b\n1,\n2,inf\n3,1\n", (), "column 'b' holds an infinite number"),
        ("a,b\n1,\n2,3\n", ("--skip", "c"), "there is no column 'c'"),
        ("a,b\n1,\n2,3\n", ("--skip", "a", "--skip", "b"), "no column with a known number"),
    ],
)
def test_what_cannot_be_filled_is_refused(content, options, said, tmp_path) -> None:
    (tmp_path / "in.csv").write_text(content)
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", *options)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_too_few_cells_for_an_error(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert "still missing: 1 cell (b 1)." in result.output
    (tmp_path / "in.csv").write_text("a,b\n1,\n2,3\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert "error: not known" in result.output


@pytest.mark.parametrize("notes", [b"no json", b"[1]", b"{}", b'{"columns": [1]}', None])
def test_notes_of_pandas_follow_a_change_of_type(notes, tmp_path) -> None:
    frame = pd.DataFrame({"k": pd.array([1, 2, None, 5], "Int64"), "x": [1.0, 2.5, 3.0, 5.5]})
    arrow = pa.Table.from_pandas(frame.set_index(pd.Index(list("abcd"), name="row")))
    if notes is not None:
        arrow = arrow.replace_schema_metadata({"pandas": notes})
    pq.write_table(arrow, tmp_path / "in.parquet")
    result = run(tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    assert result.exit_code == 0, result.output
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["k"].dtype == np.float64
    assert found["k"].notna().all()
    if notes is None:
        assert found.index.tolist() == list("abcd")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["int64", "uint64"])
@pytest.mark.parametrize("skip", [(), ("--skip", "id")])
def test_whole_numbers_beyond_floats_stay_to_the_last_digit(ending, kind, skip, tmp_path) -> None:
    """Odd numbers above 2⁵³, which float64 does not hold; text of uint64 is read as codes."""
    first = 2**53 + 1 if kind == "int64" else 2**64 - 301
    ids = [None if k == 7 else first + 2 * ((k * 37) % 101) for k in range(101)]
    rng = np.random.default_rng(0)
    others = {name: rng.integers(0, 9, 101).astype(float) for name in "abc"}
    others["a"][3] = np.nan
    table = pa.table({"id": pa.array(ids, kind), **{k: pa.array(x) for k, x in others.items()}})
    source, target = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    pacsv.write_csv(table, source) if ending == "csv" else pq.write_table(table, source)
    result = run(source, "-o", target, *skip)
    assert result.exit_code == 0, result.output
    if ending == "parquet":
        found = pq.read_table(target).column("id").to_pylist()
    else:
        lines = target.read_text().splitlines()[1:]
        found = [int(x) if (x := line.split(",")[0]) else None for line in lines]
    assert found[:7] + found[8:] == ids[:7] + ids[8:]
    is_left = bool(skip) or (ending == "csv" and kind == "uint64")
    assert (found[7] is None) == is_left
    if not is_left:
        assert abs(found[7] - first) < 2**20
