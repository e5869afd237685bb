"""Control characters in text are written out."""

from pygeco.errors.visible_text import escape_controls


def test_escapes() -> None:
    assert escape_controls("a\x1b[2Jé\ud800\n") == r"a\x1b[2Jé\ud800\x0a"
    assert escape_controls("a\nb", keep="\n") == "a\nb"
