"""Files written whole or not at all."""

import os

import pytest

from pygeco.arrays.whole_file import whole_file, whole_text


def test_the_file_appears_with_the_end_of_the_block(tmp_path) -> None:
    target = tmp_path / "file"
    with whole_file(target) as file:
        file.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_an_error_leaves_what_was_there(tmp_path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def write_half() -> None:
        with whole_file(target) as file:
            file.write(b"half of the")
            raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        write_half()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_killed_writer_left_is_taken_over(tmp_path) -> None:
    (tmp_path / ".file.tmp").write_bytes(b"left behind, and longer than what comes")
    with whole_file(tmp_path / "file") as file:
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_mode_and_links_stay(tmp_path) -> None:
    target, link = tmp_path / "file", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with whole_text(link) as file:
        file.write("é\r\n")
    assert target.read_bytes() == "é\r\n".encode()
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640


def test_errors_name_the_file_that_was_asked_for(tmp_path) -> None:
    with pytest.raises(OSError, match="file") as caught, whole_file(tmp_path / "no" / "file"):
        pass
    assert caught.value.filename == str(tmp_path / "no" / "file")
