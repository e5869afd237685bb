"""A full disk, a limit on sizes, a folder that takes no files: one sentence, old files whole."""

import os
import re
import resource
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import pygeco
from cli_cases import frame, run
from pygeco import MatrixCompletion
from pygeco.data import make_ratings
from pygeco.estimators import _checkpoint

RATINGS = make_ratings((60, 40), 1000)
COMMANDS = {
    "fit": ("fit", "ratings.csv", "-o", "*.geco", "--rank", "2"),
    "predict": ("predict", "m.geco", "ratings.csv", "-o", "*.csv"),
    "predict packed": ("predict", "m.geco", "ratings.csv", "-o", "*.csv.gz"),
    "predict parquet": ("predict", "m.geco", "ratings.csv", "-o", "*.parquet"),
    "predict arrow": ("predict", "m.geco", "ratings.csv", "-o", "*.arrow"),
    "recommend": ("recommend", "m.geco", "--all", "-o", "*.jsonl"),
    "similar": ("similar", "m.geco", "film-3", "-k", "49", "-o", "*.tsv"),
    "export": ("export", "m.geco", "-o", "*.npz"),
    "export parquet": ("export", "m.geco", "-o", "*.parquet"),
    "report": ("report", "m.geco", "-o", "*.html"),
    "impute": ("impute", "table.csv", "-o", "*.csv", "--rank", "1", "--alpha", "1"),
    "impute parquet": ("impute", "table.csv", "-o", "*.parquet", "--rank", "1", "--alpha", "1"),
    "robust": ("robust", "x.npy", "-o", "", "--rank", "1"),
    "robust table": ("robust", "table.csv", "-o", "", "--rank", "1"),
    "demo": ("demo", "-o", "", "--rank", "1"),
}
WITHOUT_OVERWRITE = ("demo", "robust", "robust table")  # which write into a folder
FIRST = {"robust": "factors.npz", "robust table": "factors.npz", "demo": "path.png"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    frame().to_csv(home / "ratings.csv", index=False)
    table = pd.DataFrame(np.random.default_rng(0).random((90, 4)), columns=list("abcd"))
    table.mask(table < 0.1).to_csv(home / "table.csv", index=False)
    np.save(home / "x.npy", table.to_numpy())
    run("fit", home / "ratings.csv", "-o", home / "m.geco", "--rank", "3")
    return home


def mounted(folder, options) -> None:
    told = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    done = subprocess.run(told, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")


@contextmanager
def full(folder):
    mounted(folder, "size=64k")
    try:
        yield lambda: fill(folder / "filler")
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@contextmanager
def read_only(folder):
    if os.geteuid() != 0:  # whom permissions bind
        try:
            yield lambda: folder.chmod(0o555)
        finally:
            folder.chmod(0o755)
        return
    mounted(folder, "size=64k")
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def limited(folder):
    """A limit that root has too; Python ignores the signal, so that it is an error of `write`."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


TROUBLES = {
    "full": (full, "No space left on device"),
    "limited": (limited, "File too large"),
    "read-only": (read_only, "Read-only file system|[Pp]ermission denied|no folder that takes"),
}


@pytest.fixture(params=list(TROUBLES))
def trouble(request, tmp_path):
    """A folder, what makes it refuse, and what the system then says."""
    how, words = TROUBLES[request.param]
    with how(tmp_path) as begin:
        yield tmp_path, begin, words


def contents(folder) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "filler"
    }


def test_every_output_of_the_command_line(trouble, home) -> None:
    folder, begin, words = trouble
    for name, arguments in COMMANDS.items():
        target = FIRST.get(name) or arguments[arguments.index("-o") + 1].replace("*", "out")
        (folder / target).write_bytes(b"old")
    before = contents(folder)
    begin()
    for name, arguments in COMMANDS.items():
        told = [str(home / a) if (home / a).is_file() else a for a in arguments]
        at = told.index("-o") + 1
        told[at] = str(folder / told[at].replace("*", "out"))
        told += [] if name in WITHOUT_OVERWRITE else ["--overwrite"]
        result = run(*told, code=4)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, (name, result.stderr)
        assert lines[0].startswith(f"geco {told[0]}: cannot write"), (name, lines)
        assert str(folder) in lines[0], (name, lines)
        assert re.search(words, lines[0]), (name, lines)
        assert contents(folder) == before, name


def test_saves_and_checkpoints(trouble, monkeypatch) -> None:
    folder, begin, words = trouble
    monkeypatch.setattr(_checkpoint, "MIN_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "MAX_WRITING_SHARE", 1e9)
    model = MatrixCompletion(4, random_state=0).fit(RATINGS)
    small = MatrixCompletion(1, random_state=0).fit(((0, 1, 1), (0, 0, 1), (1.0, 2.0, 3.0), (2, 2)))
    small.save(folder / "model")

    def stop(told: object) -> bool:
        return True

    settings = {"rank": 4, "random_state": 0}
    MatrixCompletion(**settings, callback=stop).fit(RATINGS, checkpoint=folder / "fit")
    before = contents(folder)
    begin()
    for work in (
        lambda: model.save(folder / "model"),
        lambda: model.save(folder / "new"),
        lambda: MatrixCompletion(**settings).fit(RATINGS, checkpoint=folder / "fit"),
        lambda: MatrixCompletion(**settings).fit(RATINGS, checkpoint=folder / "other"),
    ):
        with pytest.raises(OSError, match=words) as caught:
            work()
        assert os.path.dirname(caught.value.filename) == str(folder)
        assert not os.path.basename(caught.value.filename).startswith(".")
        assert contents(folder) == before
    np.testing.assert_array_equal(pygeco.load(folder / "model").to_dense(), small.to_dense())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("recommend", "m.geco", "--all"), ("inspect", "m.geco")])
def test_standard_output_that_is_full(arguments, home, terminals, tmp_path) -> None:
    told = [home / one if one == "m.geco" else one for one in arguments]
    error = tmp_path / "error"
    assert terminals.redirect(*told, streams=(os.devnull, "/dev/full", error)) == 4
    assert error.read_text() == (
        f"geco {arguments[0]}: cannot write standard output: No space left on device; "
        "choose another place.\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_of_somebody_else(tmp_path) -> None:
    (tmp_path / "file").write_text("old")
    tmp_path.chmod(0o755)
    script = (
        "import os, sys, tempfile; from pygeco.arrays.whole_file import whole_file\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    with whole_file(sys.argv[1]) as file: file.write(b'new')\n"
        "except PermissionError as error: print(error.filename)\n"
    )
    path = str(tmp_path / "file")
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.stdout.strip() == path, done.stderr
    assert contents(tmp_path) == {"file": b"old"}
