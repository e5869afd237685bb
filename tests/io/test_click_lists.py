"""Files of lists of clicks."""

import gzip

import pytest

from pygeco.data import ReadError, read_click_lists, read_left_out


def test_lines_become_pairs(tmp_path) -> None:
    text = b"3 5 1\n0 2\n\n7\n1 4 4 0\n"
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text))
    for name in ("a.txt", "a.txt.gz"):
        rows, cols = read_click_lists(tmp_path / name)
        assert rows.tolist() == [3, 3, 0, 1, 1, 1]
        assert cols.tolist() == [5, 1, 2, 4, 4, 0]
    (tmp_path / "none.txt").write_bytes(b"")
    assert len(read_click_lists(tmp_path / "none.txt").rows) == 0


def test_clicks_left_out_come_with_their_negatives(tmp_path) -> None:
    (tmp_path / "n.txt").write_text("(0,25)\t3\t4\n(2,1)\t9\t8\n")
    left = read_left_out(tmp_path / "n.txt")
    assert (left.rows.tolist(), left.cols.tolist()) == ([0, 2], [25, 1])
    assert left.negatives.tolist() == [[3, 4], [9, 8]]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_names_of_clicks_left_out_are_read_in_both_encodings(tmp_path, encoding) -> None:
    text = "(Léon,Amélie)\tà bout\tÿ\n(ann,b)\tc\td\n"
    (tmp_path / "n.txt").write_bytes(text.encode(encoding))
    left = read_left_out(tmp_path / "n.txt")
    assert (left.rows.tolist(), left.cols.tolist()) == (["Léon", "ann"], ["Amélie", "b"])
    assert left.negatives.tolist() == [["à bout", "ÿ"], ["c", "d"]]


@pytest.mark.parametrize("text", ["0 a", "0 -1", "0 1.5", f"0 {10**30}"])
def test_what_is_no_list_is_refused(tmp_path, text) -> None:
    (tmp_path / "b.txt").write_text(text)
    with pytest.raises(ReadError, match=r"^b\.txt: "):
        read_click_lists(tmp_path / "b.txt")


@pytest.mark.parametrize("text", ["", "(0,1)\t2\n(1,2)\t3\t4", "(0)"])
def test_what_is_no_list_of_negatives_is_refused(tmp_path, text) -> None:
    (tmp_path / "c.txt").write_text(text)
    with pytest.raises(ReadError, match=r"^c\.txt: expected lines"):
        read_left_out(tmp_path / "c.txt")


def test_a_damaged_file_is_said_to_be_one(tmp_path) -> None:
    packed = gzip.compress(b"0 1 2 3\n" * 10_000)
    (tmp_path / "d.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ReadError, match=r"^d\.gz"):
        read_click_lists(tmp_path / "d.gz")
