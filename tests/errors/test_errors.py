"""Every error and warning class is in one room, on one page, and survives another process."""

import ast
import pickle
from pathlib import Path

import pytest

import pygeco
from pygeco import errors
from sources import parse_files

ROOT = Path(__file__).parents[2]
CLASSES = [getattr(errors, name) for name in errors.__all__]
MADE = {
    errors.MissingValueError: (-1.0, 0.25, 1.0, 5.0),
    errors.RepeatedCellError: (("ann", "x\x1b"), 3, "X: the pair"),
}


@pytest.mark.parametrize("kind", CLASSES)
def test_it_survives_another_process(kind) -> None:
    """As joblib and Dask send it: with its text and all that it holds."""
    error = kind(*MADE.get(kind, ("it is broken.",)))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_attributes_say_what_the_sentence_says() -> None:
    mark = errors.MissingValueError(-1.0, 0.25, 1.0, 5.0)
    assert (mark.value, mark.share, mark.low, mark.high) == (-1.0, 0.25, 1.0, 5.0)
    assert "25.0% of the values are -1" in str(mark)
    pair = errors.RepeatedCellError(("ann", "x\x1b"), 3, "X: the pair")
    assert (pair.cell, pair.repeats) == (("ann", "x\x1b"), 3)
    assert str(pair).startswith(r"X: the pair (ann, x\x1b) is given more than once (3 repeats")


def test_errors_are_value_errors_but_for_the_cluster() -> None:
    for kind in CLASSES:
        if not issubclass(kind, Warning):
            base = RuntimeError if kind is errors.ClusterError else ValueError
            assert kind.__base__ is base


def test_no_other_room_but_the_faces_has_classes_of_its_own() -> None:
    """Those of the command line and of the server reach nobody who calls the package."""
    package = ROOT / "src" / "pygeco"
    kinds = ("Error", "Warning", "Exception")
    for path, tree in parse_files(package, "class "):
        room = path.relative_to(package).parts[0]
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and room not in ("errors", "cli", "serve"):
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                assert not any(base.endswith(kinds) for base in bases), f"{path}: {node.name}"


def test_the_page_says_when_each_comes() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    for name in errors.__all__:
        assert f"| `{name}` |" in page, name


def test_old_names_are_where_they_were() -> None:
    assert pygeco.ModelFileError is errors.ModelFileError
    assert pygeco.data.ReadError is errors.ReadError
