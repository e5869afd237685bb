"""`geco impute`: tables with columns of any kind; known cells stay, what was found is said."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from file_formats import pack
from pygeco import LowRankImputer
from pygeco.cli.app import app
from pygeco.cli.impute import _text
from pygeco.diagnostics import FilledColumn


def run(*arguments):
    return CliRunner().invoke(app, ["impute", *map(str, arguments)])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 150
    u = rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "height": 170 + 8 * (u + 0.3 * rng.standard_normal(n)),
            "visits": pd.array(rng.poisson(np.exp(2 + 0.5 * u)), "Int64"),
            "smokes": pd.array(u + 0.3 * rng.standard_normal(n) > 0, "boolean"),
            "city": np.array(["Oslo", "Bonn", "Rome"])[np.digitize(u, [-0.5, 0.5])],
            "name": [f"person, {k}" for k in range(n)],
            "born": pd.Timestamp("1990-01-01") + pd.to_timedelta(np.round(900 * u), unit="D"),
        }
    )
    holes = frame.copy()
    for name in ("height", "visits", "smokes", "city", "born"):
        holes.loc[rng.random(n) < 0.15, name] = pd.NA
    holes.loc[[3, 5], "name"] = None
    return holes


READ = {"csv": pd.read_csv, "parquet": pd.read_parquet}


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("first", "second"), [("csv", "parquet"), ("parquet", "csv")])
def test_a_table_is_filled_as_the_imputer_fills_it(first, second, table, tmp_path) -> None:
    source, target = write(table, tmp_path / f"in.{first}"), tmp_path / f"out.{second}"
    result = run(source, "-o", target, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    found = READ[second](target)
    expected = LowRankImputer(random_state=3).fit_transform(table)
    np.testing.assert_allclose(found["height"], expected["height"], rtol=1e-6)
    for name in ("visits", "smokes", "city"):
        assert found[name].astype(str).tolist() == expected[name].astype(str).tolist()
    assert pd.to_datetime(found["born"]).tolist() == expected["born"].tolist()
    assert told["filled"] == table.drop(columns="name").isna().sum().sum()
    assert told["left_by_column"] == {"name": 2}
    kinds = {column["name"]: column["kind"] for column in told["columns"]}
    assert kinds == {
        "id": "skip", "height": "number", "visits": "count", "smokes": "yes/no",
        "city": "category", "name": "skip", "born": "number",
    }  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--rank", 1)])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("in.csv.gz", "gzip"),
        ("in.TSV.XZ", "xz"),
        ("in.csv.zst", "zstd"),
        ("in.parquet.bz2", "bz2"),
        ("in.csv.zip", "zip"),
    ],
)
def test_a_packed_table_is_filled_as_it_is(name, kind, options, tmp_path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.outer(rng.standard_normal(40), [1, 2, 3]).round(2), columns=[*"abc"])
    plain = write(frame.mask(rng.random(frame.shape) < 0.1), tmp_path / Path(name).stem)
    (tmp_path / name).write_bytes(pack(kind, plain.read_bytes()))
    for source, output in ((plain, "a.csv"), (tmp_path / name, "b.csv")):
        result = run(source, "-o", tmp_path / output, *options)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_errors_that_are_stated_are_those_of_missing_cells(tmp_path) -> None:
    rng = np.random.default_rng(2)
    full = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6))
    full = (full + 0.3 * rng.standard_normal(full.shape)) * np.geomspace(1, 1e4, 6)
    gaps = rng.random(full.shape) < 0.1
    source = write(pd.DataFrame(full, columns=list("abcdef")).mask(gaps), tmp_path / "in.csv")
    told = json.loads(run(source, "-o", tmp_path / "out.csv", "--json").output)
    after = pd.read_csv(tmp_path / "out.csv").to_numpy()
    true = np.sqrt(np.mean(((after - full) / full.std(axis=0))[gaps] ** 2))
    assert told["relative_error_of_numbers"] == pytest.approx(true, rel=0.15)
    for k, column in enumerate(told["columns"]):
        own = np.sqrt(np.mean((after - full)[gaps[:, k], k] ** 2))
        assert column["error"] == pytest.approx(own, rel=0.5)
        assert column["null"] == pytest.approx(full[:, k].std(), rel=0.2)


def test_people_are_told_and_shown_what_was_found(table, tmp_path) -> None:
    frame = table.assign(dose=[str(k) for k in range(149)] + ["n.d."])
    frame.loc[7, :] = None
    outputs = ("--picture", tmp_path / "p.png", "--report", tmp_path / "r.html")
    source = write(frame, tmp_path / "in.csv")
    result = run(source, "-o", tmp_path / "out.csv", *outputs, "--column", "visits=number")
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "150 rows, 8 columns" in said
    assert "visits number as given" in said
    assert "city category 3 categories" in said
    assert "wrong (the most frequent:" in said
    assert re.search(r"born number dates from 19.{8} to 199.{7}; \d+ filled; ± \d+ days", said)
    assert "'dose' holds text such as 'n.d.'" in said
    assert "1 rows have no known cell" in said
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "r.html").read_text()
    assert '<h2 id="columns">' in page
    assert "categories" in page
    assert "person, 3" not in page


def test_a_terminal_has_room_for_wide_tables_and_wide_letters() -> None:
    def say(names):
        columns = [FilledColumn(name, "number", "why", 1, 9, 1.0, 2.0, False) for name in names]
        told = {"rows": 3, "missing": 1, "filled": 1, "masked_cells": 9, "left": 0, "strays": {}}
        told |= {"rows_without_cells": 0, "output": "o", "seconds": 1, "numbers_as_names": False}
        return _text(told, columns, {}).splitlines()[1:-2]

    ends = [cell_len(line.partition("number")[0]) for line in say(["\u5217" * 9, "x" * 300, "c"])]
    assert ends == [64, 64, 64]
    lines = say([f"c{k}" for k in range(2000)])
    assert len(lines) == 61
    assert lines[-1] == "  … and 1,940 more columns; --json and --report tell of all."


def test_texts_that_say_missing_are_filled(tmp_path) -> None:
    rows = [f"{'ab'[k % 2]},{k % 2 + 0.01 * (k % 7)}" for k in range(60)]
    rows[4] = "NA,0.02"
    rows[9] = "?,1.02"
    (tmp_path / "in.csv").write_text("class,x\n" + "\n".join(rows) + "\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "out.csv")["class"]
    assert (found[4], found[9]) == ("a", "b")


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("a,b\n1,\n2,inf\n3,1\n", (), "column 'b': holds infinity"),
        ("a,b\n1,\n2,3\n", ("--skip", "c"), "there is no column 'c'"),
        ("a,b\n1,\n2,3\n", ("--column", "c=number"), "there is no column 'c'"),
        ("a,b\n1,\n2,3\n", ("--column", "a"), "--column: expected 'name=kind'"),
        ("a,b\n1,\n2,3\n", ("--column", "a=colour"), "'colour' for 'a' is none of"),
        ("a,b\n1,\n2,3\n", ("--fill", "mode"), "fill: expected one of"),
        ("a,b\n1,\n2,3\n", ("--skip", "a", "--skip", "b"), "no column can be filled"),
        ("a,b\n1,\n2,3\n", ("--whole",), "--whole goes with --rank or --alpha"),
        *(
            ("a,b\n1,\n2,3\n", (*low, *more), "--rank and --alpha go without --column, --fill")
            for low in (("--rank", "1"), ("--alpha", "0.1"))
            for more in (
                *(("--column", "a=count"), ("--fill", "median")),
                *(("--picture", "p.png"), ("--report", "r.html")),
            )
        ),
        ("a,b\n", (), "no column can be filled"),
        ("a,a\n1,2\n", (), "two columns have the same name"),
    ],
)
def test_what_cannot_be_filled_is_refused(content, options, said, tmp_path) -> None:
    (tmp_path / "in.csv").write_text(content)
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", *options)
    assert result.exit_code in (2, 3)
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_too_few_cells_for_an_error(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,\n2,3\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert "errors: not known" in result.output
    assert pd.read_csv(tmp_path / "out.csv")["b"].tolist() == [3, 3]


def write_ugly(path):
    """Codes, accounts, truths, moments and numbers, each written in its own way, and gaps in x."""
    lines = ["account,zip,code,flag,when,y,x"]
    for k in range(1, 61):
        code = "" if k % 10 == 0 else "NA" if k % 9 == 0 else "DE"
        moment, flag = f"2024-05-01T{k % 24:02}:00:00+02:00", "TRUE" if k % 2 else "FALSE"
        x = "" if k % 6 == 0 else f"{k * 1e-6:.3e}" if k % 7 == 0 else f"{k}.50"
        lines.append(
            f"{12345678901234567890 + k},{500 + 3 * k:05},{code},{flag},{moment},{k}.0,{x}"
        )
    path.write_text("\n".join(lines) + "\n")
    return lines


SKIPPED = [f"--skip={name}" for name in ("account", "zip", "code", "flag", "when")]


@pytest.mark.parametrize(
    "options", [SKIPPED, ["--skip=code"], ["--rank", "1"], ["--rank", "1", "--skip=y"]]
)
def test_cells_that_are_not_filled_stay_to_the_letter(options, tmp_path) -> None:
    lines = write_ugly(tmp_path / "in.csv")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", *options)
    assert result.exit_code == 0, result.output
    found = (tmp_path / "out.csv").read_text().splitlines()
    for k, (before, after) in enumerate(zip(lines, found, strict=True)):
        if k % 6:
            assert after == before
        else:
            assert after.startswith(before)
    assert all(float(line.rpartition(",")[2]) for line in found[6::6])


def test_a_column_of_codes_counts_nothing(tmp_path) -> None:
    rows = [f"{k:05},{k % 5 or ''},{k}" for k in range(40)]
    (tmp_path / "in.csv").write_text("\n".join(["id,x,y", *rows]) + "\n")
    for way in ([], ["--rank", "1"]):
        result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--overwrite", *way)
        assert result.exit_code == 0, result.output
        found = (tmp_path / "out.csv").read_text().splitlines()
        assert [line[:6] for line in found[1:]] == [row[:6] for row in rows]


def test_filled_cells_are_written_as_the_others_are(tmp_path) -> None:
    rows = []
    for k in range(80):
        cells = [str(k % 2), "TRUE" if k % 2 else "FALSE", f"2024-05-0{1 + k % 2}T12:00+02:00"]
        for place in (1, 2):
            if k % 8 == place:
                cells[place] = ""
        rows.append(",".join(cells))
    (tmp_path / "in.csv").write_text("\n".join(["a,flag,when", *rows]) + "\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert set(found["flag"]) == {"TRUE", "FALSE"}
    assert found["when"].str.fullmatch(r"2024-05-0\dT\d\d:\d\d\+02:00").all()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_words_for_missing_stay_in_columns_left_alone(kind, tmp_path) -> None:
    frame = pd.DataFrame({"x": [1.0, None, *range(2, 40)], "land": ["NA", "DE", "?", "US"] * 10})
    source = write(frame, tmp_path / f"in.{kind}")
    for end in ("csv", "parquet"):
        result = run(source, "-o", tmp_path / f"out.{end}", "--skip", "land")
        assert result.exit_code == 0, result.output
    texts = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)["land"]
    assert texts.tolist() == frame["land"].tolist()
    assert pd.read_parquet(tmp_path / "out.parquet")["land"].tolist() == frame["land"].tolist()


@pytest.mark.parametrize("more", [(), ("--rank", "2")])
def test_names_that_count_the_columns_are_no_row(more, tmp_path) -> None:
    """As pandas writes frames without names and index; they were fitted, and stood in the way."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    pd.DataFrame(X).to_csv(tmp_path / "in.csv", index=False)
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out.csv", *more)
    assert result.exit_code == 0, result.output
    assert "40 rows, 6 columns" in result.output
    assert "the numbers in the first line are taken for names" in " ".join(result.output.split())
    found = pd.read_csv(tmp_path / "out.csv")
    assert found.columns.tolist() == list("012345")
    assert np.allclose(found.to_numpy()[~np.isnan(X)], X[~np.isnan(X)])
