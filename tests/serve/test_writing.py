"""Lists that are written from pieces are those that are encoded as a whole."""

import msgspec
import numpy as np
import pytest

from pygeco.serve import answers
from pygeco.serve.requests import Recommend
from pygeco.serve.writing import write_lists

ASKED = [
    Recommend(k=4),
    Recommend(k=60, without=["m01"], by="value"),
    Recommend(k=3, only=["m05", "m02"]),
    Recommend(k=3, deviation=True, reasons=2),
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", ["ratings", "clicks"])
def test_text_is_the_encoded_answer(models, kind, asked) -> None:
    users = [3, "7", 999, 3.0, 'someone, "quoted"', *range(20, 40)]
    found = [msgspec.json.decode(one) for one in write_lists(models[kind], users, asked)]
    assert found == msgspec.to_builtins(answers.recommend(models[kind], users, asked))
    assert all(np.isfinite(one["score"]) for line in found for one in line["items"])
