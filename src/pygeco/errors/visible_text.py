"""Text from data as it may be shown: what would steer a terminal is written out."""

from __future__ import annotations

import re

# Control characters of ASCII and Latin-1, the separators of lines, marks that turn the direction
# of writing, and halves of surrogate pairs, which no encoding has.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str, keep: str = "") -> str:
    r"""The text with control characters as \x1b or \u202e, but for those in `keep`."""
    return HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def quote_id(one: object) -> str:
    """An id as a message names it: text in quotes, a number without the name of its type."""
    return repr(str(one)) if isinstance(one, str) else str(one)


def escape_json(text: str) -> str:
    r"""The same for JSON, where each is \u and four digits."""
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(sign: str) -> str:
    return f"\\x{ord(sign):02x}" if ord(sign) < 256 else f"\\u{ord(sign):04x}"
