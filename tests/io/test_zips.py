"""Zip archives: the only file in one, or one that is named."""

import io

import numpy as np
import pytest

from cli_cases import run
from file_formats import archive
from pygeco.data import read_attributes, read_ratings
from pygeco.errors import ReadError
from rating_cases import ROWS, rows_of, text


def test_the_only_file_is_read_as_if_unpacked(tmp_path) -> None:
    notes = {"__MACOSX/ml/._ratings.csv": b"notes", "ml/.DS_Store": b"notes", "empty/": b""}
    path = tmp_path / "a.zip"
    for content in (text(), text("::"), text("\t", header=False)):
        path.write_bytes(archive(notes | {"ml/ratings.csv": content}))
        assert rows_of(read_ratings(path).table) == ROWS
        assert rows_of(read_ratings(io.BytesIO(path.read_bytes())).table) == ROWS
    shares: list[float] = []
    found = read_ratings(path, progress=shares.append).found
    assert found.startswith("a.zip (tab-separated, without a header, zip): user = column 1")
    assert max(shares) == 1.0


def test_of_several_files_one_is_named(tmp_path) -> None:
    files = {"ml/README": b"about", "ml/ratings.csv": text(), "ml/u.csv": b"user,age\n1,20\n2,30\n"}
    path = tmp_path / "ml.zip"
    path.write_bytes(archive(files))
    with pytest.raises(ReadError, match=r"holds 3 files .*such as .*ml\.zip/ml/ratings\.csv'"):
        read_ratings(path)
    with pytest.raises(ReadError, match=r"the file holds 3 files .* give one of them, or unpack"):
        read_ratings(io.BytesIO(path.read_bytes()))
    with pytest.raises(ReadError, match=r"holds no 'ratings\.csv'; give one of its files, 'ml/REA"):
        read_ratings(path / "ratings.csv")
    assert rows_of(read_ratings(path / "ml" / "ratings.csv").table) == ROWS
    assert read_attributes(path / "ml" / "u.csv")["age"].tolist() == [20, 30]
    (tmp_path / "plain.csv").write_bytes(text())
    for wrong in (tmp_path / "plain.csv" / "ml" / "ratings.csv", tmp_path / "gone.zip" / "a.csv"):
        with pytest.raises((NotADirectoryError, FileNotFoundError)):
            read_ratings(wrong)


def test_commands_read_files_in_archives(tmp_path) -> None:
    rng = np.random.default_rng(0)
    cells = [f"{k % 20},{k // 20},{rng.integers(1, 6)}" for k in range(200)]
    content = "\n".join(["user,item,rating", *cells]).encode()
    titles = b"item,title\n" + b"".join(b"%d,film %d\n" % (k, k) for k in range(10))
    path, model = tmp_path / "a.zip", tmp_path / "m.geco"
    path.write_bytes(archive({"ratings.csv": content, "titles.csv": titles}))
    (tmp_path / "plain.csv").write_bytes(content)
    run("fit", path / "ratings.csv", "-o", model, "--rank", 1)
    run("fit", tmp_path / "plain.csv", "-o", tmp_path / "same.geco", "--rank", 1)
    asked = "recommend", "--user", 3, "--include-seen", "-k", 2
    found = run(*asked, model, "--titles", path / "titles.csv").output
    assert found == run(*asked, tmp_path / "same.geco", "--titles", path / "titles.csv").output
    assert "film" in found
    for command in ("impute", "robust"):
        run(command, path / "ratings.csv", "-o", tmp_path / f"{command}.csv")
    run("fit", path, "-o", tmp_path / "no.geco", code=3)
