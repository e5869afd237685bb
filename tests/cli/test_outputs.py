"""Every mistake that a user can make: one sentence, its exit code, and no file changed."""

from importlib.util import find_spec

import numpy as np
import pytest

from cli_cases import run


def files_in(folder) -> dict:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def rotten(content: bytes) -> bytes:
    """The second half, where the arrays are, with a bit changed in every byte."""
    half = len(content) // 2
    return content[:half] + bytes(byte ^ 1 for byte in content[half:])


WRONG = [
    (("fit", "nothing.csv", "-o", "x"), 3, "cannot read nothing.csv: No such file"),
    (("fit", ".", "-o", "x"), 3, "text.parquet cannot be read: Parquet file size is 6 bytes"),
    (("fit", "ratings.csv", "-o", "no/x"), 4, "there is no folder no; make it first"),
    (("fit", "ratings.csv", "-o", "."), 4, "it is a folder; give the name of a file with -o"),
    (("fit", "ratings.csv", "-o", "x", "--user", "uid"), 2, "there is no column 'uid'; the"),
    (("fit", "text.csv", "-o", "x"), 3, "expected numbers, but row 2 says 'good'"),
    (("fit", "empty.csv", "-o", "x"), 3, "empty.csv is empty; give a file with ratings"),
    (("fit", "twice.csv", "-o", "x"), 2, "the pair (1, a) is given more than once"),
    (("fit", "ratings.csv", "-o", "x", "--rank", "0"), 2, "--rank: expected an integer of"),
    (("fit", "ratings.csv", "-o", "x", "--rank", "99"), 2, "rank: must be between 1 and"),
    (("fit", "ratings.csv", "-o", "x", "--workers", "2"), 2, "--workers: goes with --engine dask"),
    (("fit", "ratings.csv", "-o", "x", "--engine", "cuda"), 5, "use --engine cpu"),
    (("fit", "ratings.csv", "-o", "x", "--penalty", "l1:2"), 2, "--penalty: expected auto"),
    (("fit", "ratings.csv", "-o", "x", "--time-limit", "soon"), 2, "--time-limit: expected a time"),
    (("fit", "ratings.csv", "-o", "x", "--loss", "logistic"), 2, "labels"),
    (("fit", "ratings.csv", "-o", "x", "--holdout", "0.1", "--test", "t"), 2, "choose one"),
    (
        ("recommend", "m.geco", "--user", "1", "--user", "999", "--unknown", "error"),
        2,
        "the model does not know '999'; it has",
    ),
    (("recommend", "m.geco", "--user", "1", "--user", "bob"), 2, "does not know 'bob'; it has"),
    (("recommend", "m.geco"), 2, "--user: name one or more users, or give --all"),
    (("recommend", "ratings.csv", "--user", "1"), 3, "ratings.csv is not a pygeco file"),
    (("recommend", "nothing", "--user", "1"), 3, "cannot read nothing: No such file"),
    (("recommend", "cut.geco", "--user", "1"), 3, "cut.geco is damaged"),
    (("recommend", "rot.geco", "--user", "1"), 3, "an array does not match its checksum"),
    (("recommend", "m.geco", "--user", "1", "--titles", "no.csv"), 3, "cannot read no.csv"),
    (("similar", "m.geco", "film-x"), 2, "the model does not know 'film-x'"),
    (("predict", "m.geco", "ratings.csv", "-o", "x.doc"), 2, "the ending says the format"),
    (("predict", "m.geco", "ratings.csv", "-o", "no/x.csv"), 4, "there is no folder no"),
    (("predict", "m.geco", "new.csv", "--unknown", "error"), 2, "pass --unknown 'mean' or 'nan'"),
    (("evaluate", "m.geco", "text.csv"), 3, "expected numbers, but row 2 says 'good'"),
    (("inspect", "cut.geco"), 3, "cut.geco is damaged: it has"),
    (("export", "m.geco", "-o", "x.txt"), 2, "must end in .npz or .parquet"),
    (("fit", "ratings.csv", "-o", "ratings.csv"), 4, "it is the file to read, which would be lost"),
    (("fit", "m.checkpoint", "-o", "m"), 4, "cannot write m.checkpoint: it is the file to read"),
    (("fit", "ratings.csv", "-o", "x", "--test", "x"), 4, "it is the file to read"),
    (("fit", "ratings.csv", "-o", "text.csv"), 4, "exists and is text, not a model; choose"),
    (("report", "m.geco", "-o", "m.geco"), 4, "it is the file to read, which would be lost"),
    (("report", "m.geco", "-o", "ratings.csv"), 4, "it exists and is text, not HTML"),
    (("predict", "m.geco", "text.csv", "-o", "text.csv"), 4, "it is the file to read"),
    (("predict", "m.geco", "text.csv", "-o", "model.csv"), 4, "is a model, not text; choose"),
    (("impute", "ratings.csv", "-o", "ratings.csv"), 4, "it is the file to read"),
    (("impute", "link.csv", "-o", "ratings.csv"), 4, "it is the file to read"),
    (("export", "m.geco", "-o", "text.parquet"), 4, "exists and is text, not Parquet"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_mistakes_are_told_in_one_sentence_and_change_no_file(
    arguments, code, message, home, tmp_path, monkeypatch
) -> None:
    if arguments[-1] == "cuda" and find_spec("cupy"):
        pytest.skip("there is a GPU's library here")
    monkeypatch.chdir(tmp_path)
    for name in ("ratings.csv", "m.geco"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    (tmp_path / "cut.geco").write_bytes((home / "m.geco").read_bytes()[:-100])
    (tmp_path / "rot.geco").write_bytes(rotten((home / "m.geco").read_bytes()))
    (tmp_path / "text.csv").write_text("user,item,rating\n1,film-1,3\n2,film-2,good\n")
    (tmp_path / "twice.csv").write_text("user,item,rating\n1,a,3\n1,a,4\n")
    (tmp_path / "new.csv").write_text("user,item\n1,film-1\n2,never\n")
    (tmp_path / "empty.csv").write_text("")
    for name in ("x", "model.csv"):
        (tmp_path / name).write_bytes((home / "m.geco").read_bytes())  # what was there before
    (tmp_path / "text.parquet").write_text("a note")
    (tmp_path / "m.checkpoint").write_bytes((home / "ratings.csv").read_bytes())
    (tmp_path / "link.csv").symlink_to("ratings.csv")
    before = files_in(tmp_path)
    result = run(*arguments, code=code)
    assert message in result.output
    assert result.stdout == ""
    assert result.stderr.startswith(f"geco {arguments[0]}: ")
    assert result.stderr.count("\n") == 1
    assert files_in(tmp_path) == before


def test_another_kind_of_file_is_written_over_when_told(home, tmp_path) -> None:
    note = tmp_path / "note.html"
    note.write_text("a note")
    run("report", home / "m.geco", "-o", note, code=4)
    run("report", home / "m.geco", "-o", note, "--overwrite")
    run("report", home / "m.geco", "-o", note)  # now it is a page
    (tmp_path / "x.csv").write_text("")
    run("predict", home / "m.geco", home / "some.csv", "-o", tmp_path / "x.csv")
    run("predict", home / "m.geco", home / "some.csv", "-o", tmp_path / "x.csv")


def test_robust_does_not_write_over_what_it_read(tmp_path) -> None:
    given = np.random.default_rng(0).normal(size=(9, 7))
    np.save(tmp_path / "low_rank.npy", given)
    told = run("robust", tmp_path / "low_rank.npy", "-o", tmp_path, "--rank", 1, code=4)
    assert "it is the file to read" in told.output
    np.testing.assert_array_equal(np.load(tmp_path / "low_rank.npy"), given)
