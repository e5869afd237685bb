"""A file with valid checksums and wrong contents is refused in one sentence, whatever is wrong."""

import copy

import numpy as np
import pyarrow as pa
import pytest
from typing_extensions import TypeAliasType

import pygeco
from pygeco import MatrixCompletion, ModelFileError, Ridge
from pygeco.arrays import container
from pygeco.io.model_checks import check_types

Marks = TypeAliasType("Marks", int | list[int])

RNG = np.random.default_rng(2)
X = RNG.standard_normal((14, 4))
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
CLASSES = np.arange(14) % 3
ROWS, COLS = np.nonzero(RNG.random((9, 7)) < 0.7)
TABLE = pa.table(
    {"user": [f"u{i}" for i in ROWS], "item": 3 * COLS, "rating": RNG.random(len(ROWS))}
)
FITS = {
    "evidence": lambda: MatrixCompletion(2, random_state=0, posterior=2).fit(TABLE),
    "path": lambda: MatrixCompletion(
        2, penalty=Ridge(1e-3), biases=True, loss="huber", random_state=0
    ).fit((ROWS, COLS, RNG.random(len(ROWS))), sample_weight=1 + RNG.random(len(ROWS))),
    "RobustPCA": lambda: pygeco.RobustPCA(1, random_state=0).fit(np.where(X > 1.9, 99, X)),
    "LowRankImputer": lambda: pygeco.LowRankImputer(random_state=0).fit(HOLES),
    "LowRankImputer of rank 2": lambda: pygeco.LowRankImputer(2, random_state=0).fit(HOLES),
    "LowRankClassifier": lambda: pygeco.LowRankClassifier(1, random_state=0).fit(X, CLASSES),
    "ReducedRankRegressor": lambda: pygeco.ReducedRankRegressor(1, random_state=0).fit(X, X[:, :2]),
    "QuadraticClassifier": lambda: pygeco.QuadraticClassifier(1, random_state=0).fit(X, CLASSES),
    "QuadraticRegressor": lambda: pygeco.QuadraticRegressor(1, random_state=0).fit(X, X[:, 0]),
}


def shorter(x):
    return x[:-1]


def longer(x):
    return np.concatenate([x, np.zeros_like(x, shape=(1, *x.shape[1:]))])


def deeper(x):
    return x[None]


def another_kind(x):
    return x.astype(np.int8 if x.dtype.kind == "f" else np.float64)


def spoiled_number(x):
    """Not finite, or out of every range and order."""
    out = x.copy()
    out.reshape(-1)[:1] = np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).max
    return out


SPOILERS = (shorter, longer, deeper, another_kind, spoiled_number)


def refused(path, tree, arrays, what=None):
    container.write(path, tree, arrays)
    try:
        pygeco.load(path)
    except ModelFileError as error:
        sentence = str(error)
    else:
        pytest.fail(f"{what} was taken")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400


def is_moot(x, spoil, is_id) -> bool:
    """What is not spoiled in this way: nothing, a truth value, ids as numbers of another kind."""
    if spoil in (shorter, spoiled_number) and not x.size:
        return True
    return (spoil is spoiled_number and x.dtype.kind == "b") or (spoil is another_kind and is_id)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_each_array_that_does_not_fit_is_refused(name, tmp_path) -> None:
    FITS[name]().save(tmp_path / "m")
    tree, arrays = container.read(tmp_path / "m")
    container.write(tmp_path / "same", tree, arrays)
    pygeco.load(tmp_path / "same")
    named = [tree["fitted"].get(one) for one in ("row_ids_", "column_ids_", "classes_")]
    ids = [one["is"] for one in named if one is not None and one["$"] == "array"]
    for t, array in enumerate(arrays):
        for spoil in SPOILERS:
            if not is_moot(array, spoil, t in ids):
                refused(tmp_path / "bad", tree, [*arrays[:t], spoil(array), *arrays[t + 1 :]])


def leaves(tree, place=()):
    """The places of plain values and of arrays."""
    if isinstance(tree, dict) and tree.get("$") in ("array", "float", "Stop"):
        yield place
    elif isinstance(tree, dict):
        inner = tree["is"] if "$" in tree else tree
        path = (*place, "is") if "$" in tree else place
        if isinstance(inner, dict):
            for key, value in inner.items():
                yield from leaves(value, (*path, key))
        else:
            for key, value in enumerate(inner):
                yield from leaves(value, (*path, key))
    elif isinstance(tree, list):
        for key, value in enumerate(tree):
            yield from leaves(value, (*place, key))
    elif tree is not None:
        yield place


def with_value(tree, place, value):
    out = copy.deepcopy(tree)
    at = out
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_each_value_of_a_wrong_kind_is_refused(name, tmp_path) -> None:
    FITS[name]().save(tmp_path / "m")
    tree, arrays = container.read(tmp_path / "m")
    for part in ("settings", "fitted"):
        for place in leaves(tree[part]):
            wrong = {"$": "dict", "is": {"a": 1}}
            refused(tmp_path / "bad", with_value(tree, (part, *place), wrong), arrays, place)


def test_ids_that_are_not_sorted_are_refused(tmp_path) -> None:
    FITS["evidence"]().save(tmp_path / "m")
    tree, arrays = container.read(tmp_path / "m")
    at = tree["fitted"]["column_ids_"]["is"]
    for ids in (arrays[at][::-1].copy(), np.zeros_like(arrays[at])):
        refused(tmp_path / "bad", tree, [*arrays[:at], ids, *arrays[at + 1 :]])


def test_a_mapped_file_is_checked_for_its_shapes(tmp_path) -> None:
    model = FITS["evidence"]().save(tmp_path / "m")
    assert pygeco.load(tmp_path / "m", mmap=True).predict(["u0"], [0]) == model.predict(["u0"], [0])
    tree, arrays = container.read(tmp_path / "m")
    at = tree["fitted"]["biases_"]["is"]["row"]["is"]
    container.write(tmp_path / "bad", tree, [*arrays[:at], arrays[at][:-1], *arrays[at + 1 :]])
    with pytest.raises(ModelFileError, match=r"biases_\.row has length 8, not 9"):
        pygeco.load(tmp_path / "bad", mmap=True)


def test_types_under_a_name_are_those_that_it_stands_for() -> None:
    """As NumPy's ArrayLike from Python 3.12 on, for which anything was taken."""

    def take(marks: Marks) -> None:
        pass

    for marks in (3, [3, 4]):
        check_types(take, {"marks": marks})
    with pytest.raises(ValueError, match="marks is a dict, which take does not take"):
        check_types(take, {"marks": {"a": 1}})
