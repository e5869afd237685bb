"""The model that a command asks, and ids as they are typed."""

import gzip

import numpy as np
import pytest

from pygeco import LowRankImputer, ModelFileError
from pygeco.cli.models import find_known_ids, open_model, parse_user_ids, read_listed_ids
from pygeco.errors import ReadError


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
    for known in (numbers, texts):  # what Python makes of bytes of another encoding
        with pytest.raises(ValueError, match=r"^--user: 'Jos.udce9' is no text in the encoding of"):
            parse_user_ids(known, ["3", b"Jos\xe9".decode("utf-8", "surrogateescape")], "mean")
    (tmp_path / "ids").write_text("\ufeff a b \n\n3\n", encoding="utf-8")

    class Model:
        column_ids_ = texts

    assert read_listed_ids(Model, tmp_path / "ids", "--items").tolist() == ["a b", "3"]
    assert read_listed_ids(Model, None, "--items") is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_listed_ids_in_every_encoding(end, encoding, pack, tmp_path) -> None:
    """Byte 0x85, by which Python ends lines of Latin-1, is a sign of an id as others are."""

    class Model:
        column_ids_ = np.array(["Amélie", "a…b", "Éléphant", "ÿ"], dtype=object)

    wanted = ["ÿ", "Amélie", "a…b"]
    (tmp_path / "ids").write_bytes(pack(end.join(["", *wanted, ""]).encode(encoding)))
    assert read_listed_ids(Model, tmp_path / "ids", "--candidates").tolist() == wanted
    (tmp_path / "ids").write_bytes(pack(end.join(wanted).encode("utf-16")))
    with pytest.raises(ReadError, match=r"^ids is text in UTF-16; save it in UTF-8"):
        read_listed_ids(Model, tmp_path / "ids", "--candidates")


def test_a_damaged_list_of_ids_is_said_to_be_one(tmp_path) -> None:
    lines = np.random.default_rng(0).integers(0, 10**9, 50_000)
    packed = gzip.compress("\n".join(map(str, lines)).encode())
    (tmp_path / "ids.gz").write_bytes(packed[:-30])
    with pytest.raises(ReadError, match=r"^ids\.gz cannot be read"):
        read_listed_ids(None, tmp_path / "ids.gz", "--candidates")
