"""`geco robust`: each kind of input, what is written, and what goes wrong."""

import io
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from typer.testing import CliRunner

from pygeco.cli.app import app
from pygeco.io.pictures import read_film, write_image, write_video


def run(*arguments):
    return CliRunner().invoke(app, ["robust", *map(str, arguments)])


@pytest.fixture(scope="module")
def wild():
    """A matrix of rank 2 with a tenth of its cells wild, and where they are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 25))
    mask = rng.random(X.shape) < 0.1
    return X + 50.0 * mask, X, mask


@pytest.fixture(scope="module")
def film():
    """A bright square that crosses a still background with a little flicker."""
    rng = np.random.default_rng(1)
    still = rng.integers(60, 120, (24, 32)).astype(float)
    frames = np.stack([still] * 20) + rng.integers(-2, 3, (20, 24, 32))
    for t in range(20):
        frames[t, 8:12, t : t + 5] = 240
    return frames.clip(0, 255).astype(np.uint8)


def write_matrix(folder, kind, Y):
    path = folder / f"data.{kind}"
    if kind == "npy":
        np.save(path, Y)
    elif kind == "npz":
        np.savez(path, Y)
    elif kind == "mtx":
        scipy.io.mmwrite(path, Y)
    elif kind in ("csv", "csv.gz"):
        np.savetxt(path, Y, delimiter=",", header=",".join(f"c{j}" for j in range(25)), comments="")
    else:
        import pandas as pd

        pd.DataFrame(Y, columns=[f"c{j}" for j in range(25)]).to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["npy", "npz", "mtx", "csv", "csv.gz", "parquet"])
def test_every_kind_of_matrix_is_recovered(kind, wild, tmp_path) -> None:
    Y, X, mask = wild
    result = run(write_matrix(tmp_path, kind, Y), "-o", tmp_path / "out", "--rank", 2, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["outliers"] == mask.sum()
    with np.load(tmp_path / "out" / "factors.npz") as parts:
        assert np.allclose((parts["U"] * parts["s"]) @ parts["V"].T, X, atol=1e-3)
    outliers = sp.load_npz(tmp_path / "out" / "outliers.npz").toarray()
    assert np.array_equal(outliers != 0, mask)
    assert (tmp_path / "out" / "picture.png").read_bytes().startswith(b"\x89PNG")
    if kind in ("csv", "csv.gz", "parquet"):
        low = np.loadtxt(tmp_path / "out" / "low_rank.csv", delimiter=",", skiprows=1)
        lines = (tmp_path / "out" / "outliers.csv").read_text().splitlines()
        assert lines[0].replace('"', "") == "row,column,value,expected"
        assert len(lines) == mask.sum() + 1
        row, column, value, expected = lines[1].replace('"', "").split(",")
        at = int(row) - 1, int(column[1:])
        assert mask[at]
        assert (float(value), float(expected)) == pytest.approx((Y[at], X[at]), abs=1e-3)
    else:
        low = np.load(tmp_path / "out" / "low_rank.npy")
    assert np.allclose(low, X, atol=1e-3)


def test_a_sparse_archive_of_scipy(wild, tmp_path) -> None:
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(wild[0]))
    result = run(tmp_path / "s.npz", "-o", tmp_path / "out", "--rank", 2)
    assert result.exit_code == 0, result.output
    assert np.allclose(np.load(tmp_path / "out" / "low_rank.npy"), wild[1], atol=1e-3)
    assert "outliers" in result.output


def check_film(found, film) -> None:
    """The square is gone from the background, and is what moves."""
    background, moved = (part.astype(float) for part in found)
    assert background.shape == film.shape
    assert np.abs(background[10, 8:12, 10:15] - film[0, 8:12, 10:15]).mean() < 12
    assert moved[10, 9:11, 11:14].min() > 100
    assert moved[10, 16:, :].mean() < 20


def test_a_video(film, tmp_path) -> None:
    with (tmp_path / "film.mp4").open("wb") as file:
        write_video(file, film, 10)
    result = run(tmp_path / "film.mp4", "-o", tmp_path / "out", "--rank", 1)
    assert result.exit_code == 0, result.output
    assert "20 × 768 frames × pixels" in result.output
    found = [read_film(tmp_path / "out" / f"{name}.mp4") for name in ("low_rank", "outliers")]
    check_film([one.pixels.reshape(-1, 24, 32) for one in found], film)
    assert found[0].rate == 10


def test_a_folder_of_images(film, tmp_path) -> None:
    (tmp_path / "in").mkdir()
    for t, frame in enumerate(film):
        with (tmp_path / "in" / f"{t:03}.png").open("wb") as file:
            write_image(file, frame)
    assert np.array_equal(read_film(tmp_path / "in").pixels.reshape(film.shape), film)
    result = run(tmp_path / "in", "-o", tmp_path / "out", "--rank", 1)
    assert result.exit_code == 0, result.output
    found = [read_film(tmp_path / "out" / name) for name in ("low_rank", "outliers")]
    assert found[0].names == [f"{t:03}.png" for t in range(20)]
    check_film([one.pixels.reshape(film.shape) for one in found], film)


def test_frames_in_an_array(film, tmp_path) -> None:
    np.save(tmp_path / "film.npy", film)
    result = run(tmp_path / "film.npy", "-o", tmp_path / "out", "--rank", 1)
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "out" / "low_rank.npy").shape == (20, 768)


def test_a_threshold_in_the_units_of_the_data(wild, tmp_path) -> None:
    np.save(tmp_path / "x.npy", wild[0] + 0.1 * np.random.default_rng(2).standard_normal((40, 25)))
    given = tmp_path / "x.npy", "-o", tmp_path / "o", "--rank", 2
    result = run(*given, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    least, most = found["threshold_range"]
    assert least <= found["threshold"] <= most
    assert found["outliers"] == pytest.approx(wild[2].sum(), abs=5)
    result = run(*given, "--threshold", 5)
    assert f"{wild[2].sum()} outliers" in result.output
    assert "off by more than 5." in result.output
    result = run(tmp_path / "x.npy", "-o", tmp_path / "bad", "--threshold", -1)
    assert result.exit_code == 2
    assert "threshold: expected 'auto' or a positive number" in result.output


def bad_files(folder):
    np.save(folder / "line.npy", np.ones(5))
    np.save(folder / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (folder / "noise.mp4").write_bytes(b"no video" * 100)
    (folder / "data.docx").write_bytes(b"x")
    (folder / "empty.csv").write_text("")
    (folder / "words.csv").write_text("a,b\nx,y\n")
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr'")
    np.savez(folder / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    (folder / "empty").mkdir()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.npy", "No such file"),
        ("gone.mp4", "No such file"),
        ("gone.csv.zst", "No such file"),
        ("gone.docx", "No such file"),
        ("line.npy", "shape (5,)"),
        ("objects.npy", "cannot be read"),
        ("cut.npy", "cannot be read"),
        ("two.npz", "holds 2 arrays"),
        ("noise.mp4", "cannot be decoded"),
        ("data.docx", "expected a folder of images or a file ending in"),
        ("empty.csv", "starts with an empty line"),
        ("words.csv", "no column of numbers"),
        ("empty", "holds no images"),
    ],
)
def test_wrong_files_are_told_in_one_sentence(name, said, tmp_path) -> None:
    bad_files(tmp_path)
    result = run(tmp_path / name, "-o", tmp_path / "out")
    assert result.exit_code in (2, 3)
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_too_high_a_rank_and_an_unwritable_folder(wild, tmp_path) -> None:
    np.save(tmp_path / "x.npy", wild[0])
    result = run(tmp_path / "x.npy", "-o", tmp_path / "out", "--rank", 26)
    assert result.exit_code == 2
    assert "must be between 1 and 25" in result.output
    result = run(tmp_path / "x.npy", "-o", tmp_path / "out", "--engine", "abacus")
    assert result.exit_code == 2
    assert "engine: unknown name 'abacus'" in result.output
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("kept")
    result = run(tmp_path / "x.npy", "-o", tmp_path / "file")
    assert result.exit_code == 4
    assert (tmp_path / "file").read_text() == "kept"


def test_images_of_two_sizes_are_told(film, tmp_path) -> None:
    for name, frame in (("a", film[0]), ("b", film[0, :10])):
        with (tmp_path / f"{name}.png").open("wb") as file:
            write_image(file, frame)
    with pytest.raises(ValueError, match=r"b\.png has 32 × 10 pixels, a\.png 32 × 24"):
        read_film(tmp_path)


def test_a_video_of_nothing_is_nothing() -> None:
    empty = io.BytesIO()
    write_video(empty, [], 5)
    assert len(empty.getvalue()) < 1000


def test_columns_that_are_no_numbers_stay_to_the_letter(tmp_path) -> None:
    rng = np.random.default_rng(3)
    rows = [
        f"{k:05},2024-05-01T{k:02}:00+02:00,{'NA' if k % 2 else 'DE'},{a:.3f},{b:.3f},{a + b:.3f}"
        for k, (a, b) in enumerate(rng.random((20, 2)))
    ]
    (tmp_path / "in.csv").write_text("\n".join(["zip,when,land,2020,2022,2024", *rows]) + "\n")
    result = run(tmp_path / "in.csv", "-o", tmp_path / "out", "--rank", 1)
    assert result.exit_code == 0, result.output
    assert "20 × 3 cells" in result.output
    header, *found = (tmp_path / "out" / "low_rank.csv").read_text().splitlines()
    assert header == "zip,when,land,2020,2022,2024"
    assert [line.split(",")[:3] for line in found] == [row.split(",")[:3] for row in rows]


def test_whole_numbers_that_floats_do_not_hold_are_refused(tmp_path) -> None:
    path = tmp_path / "t.csv"
    for first, code in ((2**53 + 1, 3), (2**54, 0)):
        rows = "".join(f"{first + 4 * k},{k % 3},{k % 5}\n" for k in range(40))
        path.write_text(f"n,a,b\n{rows}")
        result = run(path, "-o", tmp_path / "out", "--rank", 1)
        assert result.exit_code == code, result.output
    path.write_text("n,a\n9007199254740993,1\n2,3\n")
    said = run(path, "-o", tmp_path / "out").output
    assert "column 'n' holds whole numbers beyond 2⁵³" in " ".join(said.split())


def test_the_index_of_a_frame_is_no_column_of_numbers(wild, tmp_path) -> None:
    """pandas writes it before the others; it swamped them, and hid what is wild."""
    import pandas as pd

    Y, X, mask = wild
    found = {}
    for index in (False, True):
        pd.DataFrame(Y).to_csv(tmp_path / "in.csv", index=index)
        result = run(tmp_path / "in.csv", "-o", tmp_path / f"{index}", "--rank", 2, "--json")
        assert result.exit_code == 0, result.output
        found[index] = json.loads(result.output)
        assert found[index]["outliers"] == mask.sum()
        assert found[index]["numbers_as_names"]
        low = pd.read_csv(tmp_path / f"{index}" / "low_rank.csv", index_col=0 if index else None)
        assert np.allclose(low, X, atol=1e-3)
    assert [found[index]["other_columns"] for index in (False, True)] == [[], [""]]
