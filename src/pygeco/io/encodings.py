"""Text that is not UTF-8, or not all of it.

Windows-1252 is Latin-1 with signs such as € and ’ where that has nothing to print. A byte without a
sign in either stays the control character that Latin-1 has, so that every text can be read.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from pygeco.io.recoding import Change
from pygeco.io.sources import BLOCK_BYTES, HEAD_BYTES, Source

WESTERN = "".join(
    bytes([k]).decode("cp1252", "replace").replace("\ufffd", chr(k)) for k in range(256)
)
LARGE = bytes(range(128, 256))  # that no ASCII is made of
WORDS = {False: "not UTF-8 but read as Windows-1252", True: "UTF-8 but for a few bytes"}


def decode_text(content: bytes) -> str:
    """Text in UTF-8, as far as it is; where less than half of it is, in Windows-1252."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        is_unicode = is_mostly_unicode([content])
        return make_recoder(is_unicode)(content).decode().removeprefix("\ufeff")


def decode_head(head: bytes) -> str:
    """The same of the beginning of a file."""
    return decode_text(_drop_cut(head))


def is_unicode(head: bytes) -> bool:
    """Whether the beginning of a file is in UTF-8."""
    try:
        _drop_cut(head).decode()
    except UnicodeDecodeError:
        return False
    return True


def _drop_cut(head: bytes) -> bytes:
    """Without a character that is cut at the end of the head, though not at the end of the file."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return head[: error.start] if HEAD_BYTES == len(head) < error.start + 4 else head
    return head


def tell_encoding(is_unicode: bool | None) -> str:
    """A word for another encoding than UTF-8, which is None."""
    return "" if is_unicode is None else WORDS[is_unicode]


def is_mostly_unicode(blocks: Iterable[bytes]) -> bool:
    """Whether more characters beyond ASCII are in UTF-8 than there are bytes that are not: one that
    a database cut in two is no reason to misread all others.
    """
    decoder, known, lost = codecs.getincrementaldecoder("utf-8")("ignore"), 0, 0
    for block in blocks:
        text = decoder.decode(block)
        known += len(text) - len(block.translate(None, LARGE))
        lost += len(block) - len(text.encode())
    return known > lost


def find_encoding(file: Source) -> bool:
    """The same of a file, which is read for it."""
    with file._replace(progress=None, change=None).file() as raw:
        return is_mostly_unicode(iter(lambda: raw.read(BLOCK_BYTES), b""))


def make_recoder(is_unicode: bool) -> Change:
    """UTF-8 of text that is not: only of its odd bytes where all else is UTF-8. Blocks in order."""
    if not is_unicode:
        return encode_western
    decoder = codecs.getincrementaldecoder("utf-8")(_spell_western.__name__)
    return lambda block: decoder.decode(block).encode()


def encode_western(block: bytes) -> bytes:
    """Windows-1252 as UTF-8."""
    return codecs.charmap_decode(block, "strict", WESTERN)[0].encode()


def _spell_western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(WESTERN[byte] for byte in lost), error.end


codecs.register_error(_spell_western.__name__, _spell_western)
