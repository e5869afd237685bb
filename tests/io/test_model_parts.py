"""The model in a file without its estimator."""

from dataclasses import fields

import numpy as np
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion, RobustPCA, load
from pygeco.clicks.model import ClickModel
from pygeco.data import make_ratings
from pygeco.errors import ModelFileError
from pygeco.io.model_parts import CLICK_PARTS, load_parts


def test_every_part_of_a_model_of_clicks_has_a_name_in_the_file() -> None:
    own = {field.name for field in fields(ClickModel)} - {"average_row"}
    assert set(CLICK_PARTS.values()) == own


@pytest.mark.parametrize("mmap", [False, True])
def test_the_model_is_the_estimators(tmp_path, mmap) -> None:
    rows, cols, values, shape = make_ratings((30, 20), 300)
    file = tmp_path / "a.geco"
    MatrixCompletion(2, clip=False, random_state=0).fit((rows, cols, values, shape)).save(file)
    found, wanted = load_parts(file, mmap=mmap), load(file)
    np.testing.assert_array_equal(found.model.to_dense(), wanted.to_dense())
    assert not found.model.clips
    assert found.row_ids is None
    assert found.kind == "MatrixCompletion"
    ImplicitCompletion(2, share=1.0, spectral=False, random_state=0).fit((rows, cols)).save(file)
    found, wanted = load_parts(file, mmap=mmap), load(file)
    np.testing.assert_array_equal(found.model.to_dense(), wanted.to_dense())
    assert isinstance(found.model, ClickModel)


def test_other_and_damaged_files_are_refused(tmp_path) -> None:
    X = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 6.0))
    file = tmp_path / "a.geco"
    RobustPCA(1, random_state=0).fit(X).save(file)
    with pytest.raises(ModelFileError, match="knows no users and items"):
        load_parts(file)
    MatrixCompletion(1, random_state=0).fit(X).save(file)
    whole = file.read_bytes()
    for size in (0, 20, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            load_parts(file)
