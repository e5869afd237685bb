"""Values become plain JSON with arrays beside it, and come back the same; all else is refused."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Lanczos, Power, Ridge, Signs, Solver, Stop, losses
from pygeco.io.model_records import Decoder, Encoder

VALUES = [
    {0: 2.0, "rest": None},
    None,
    True,
    7,
    -0.25,
    float("inf"),
    "text",
    (1, ("a", None)),
    [1.5, [2]],
    {"a": {"b": (1,)}},
    Stop.RANK,
    Ridge(0.5),
    Solver(refine=True),
    losses.Huber(1.5),
]


def again(value):
    arrays: list = []
    tree = json.loads(json.dumps(Encoder(arrays)(value)))
    return Decoder(SimpleNamespace(arrays=arrays))(tree)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_plain_values_and_records(value) -> None:
    found = again(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "value", [Solver(direction=Power(0.1, 7), tol=1e-3), Lanczos(max_iter=9), Signs(5, 0.1)]
)
def test_fields_that_were_called_otherwise(value) -> None:
    arrays: list = []
    written = json.dumps(Encoder(arrays)(value))
    old = written.replace('"max_iter"', '"iterations"').replace('"tol"', '"tolerance"')
    assert old != written
    assert Decoder(SimpleNamespace(arrays=arrays))(json.loads(old)) == value


def test_arrays_texts_and_sparse_matrices() -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.array(["é", "", "abc"], dtype=object),
                  np.array([["x", "yy"]])):  # fmt: skip
        found = again(array)
        np.testing.assert_array_equal(found, array)
        assert found.dtype.kind == array.dtype.kind
    for form in ("csr", "csc", "coo"):
        matrix = sp.random_array((5, 4), density=0.4, rng=np.random.default_rng(0)).asformat(form)
        found = again(matrix)
        assert found.format == form
        np.testing.assert_array_equal(found.toarray(), matrix.toarray())


def test_one_array_is_written_once() -> None:
    arrays: list = []
    x = np.ones(3)
    Encoder(arrays)([x, {"again": x}, x.copy()])
    assert len(arrays) == 2


@pytest.mark.parametrize("value", [object(), {1: {2}}, lambda: 0, np.array([object()]), {1, 2}])
def test_what_cannot_be_kept_is_named(value) -> None:
    with pytest.raises(TypeError, match=r"cannot be kept in a model file"):
        again(value)
    with pytest.raises(TypeError, match=r"^path_: "):
        Encoder([]).mapping({"path_": value})


@pytest.mark.parametrize(
    "tree",
    [
        {"$": "os.system", "is": {"command": "true"}},
        {"$": "array", "is": 9},
        {"$": "Schatten", "is": {"alpha": "x", "p": 2.0}},
        {"$": "Stop", "is": "NEVER"},
    ],
)
def test_only_known_kinds_are_made(tree) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        Decoder(SimpleNamespace(arrays=[]))(tree)
