"""The model that a command asks, and ids as they are typed."""

import numpy as np
import pytest

from pygeco import LowRankImputer, ModelFileError
from pygeco.cli.models import find_known_ids, open_model, parse_user_ids, read_listed_ids


def test_a_model_without_users_is_refused(home, tmp_path) -> None:
    model = open_model(home / "m.geco")
    assert len(model.row_ids_) == 80
    LowRankImputer(random_state=0).fit(np.eye(5)).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="holds a LowRankImputer without users and items"):
        open_model(tmp_path / "m")


def test_ids_from_text_and_from_files(tmp_path) -> None:
    numbers, texts = np.array([3, 5, 8]), np.array(["3", "a b"], dtype=object)
    assert find_known_ids(numbers, ["8", "3"], "--user").tolist() == [8, 3]
    assert find_known_ids(texts, ["a b"], "--item").tolist() == ["a b"]
    with pytest.raises(ValueError, match=r"^--user: the model does not know '4'; it has 3 ids"):
        find_known_ids(numbers, ["3", "4"], "--user")
    assert parse_user_ids(numbers, ["4"], "mean").tolist() == [4]
    for wrong, unknown in ((["x"], "mean"), (["4"], "error")):
        with pytest.raises(ValueError, match=r"^--user: the model does not know"):
            parse_user_ids(numbers, wrong, unknown)
    (tmp_path / "ids").write_text("\ufeff a b \n\n3\n", encoding="utf-8")

    class Model:
        column_ids_ = texts

    assert read_listed_ids(Model, tmp_path / "ids", "--items").tolist() == ["a b", "3"]
    assert read_listed_ids(Model, None, "--items") is None
