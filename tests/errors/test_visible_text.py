"""Control characters in text are written out."""

import numpy as np

from pygeco.errors.visible_text import escape_controls, quote_id


def test_escapes() -> None:
    assert escape_controls("a\x1b[2Jé\ud800\n") == r"a\x1b[2Jé\ud800\x0a"
    assert escape_controls("a\nb", keep="\n") == "a\nb"


def test_ids_are_named_without_the_names_of_their_types() -> None:
    assert quote_id("u7") == quote_id(np.str_("u7")) == "'u7'"
    assert quote_id(7) == quote_id(np.int32(7)) == "7"
    assert quote_id(np.datetime64("2024-05-01", "ns")).startswith("2024-05-01")
