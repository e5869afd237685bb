"""JSON through pyarrow's reader, which follows brackets deeper than its stack is."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from pygeco.errors import ReadError
from pygeco.io.column_names import find_role
from pygeco.io.encodings import find_encoding, is_unicode, make_recoder, tell_encoding
from pygeco.io.json_arrays import unwrap_array
from pygeco.io.lending import lend_bytes, lend_file
from pygeco.io.sources import HEAD_BYTES, Source
from pygeco.io.tables import pyarrow

TEXT_ROLES = ("user", "item", "title")
FIT_ROLES = ("user", "item", "rating")
BLOCK_BYTES = 1 << 22  # that are parsed at once, and the longest line
SCANNED_BYTES = 1 << 22  # that are looked through at once for keys
KEY = re.compile(rb'"([^"\\]{1,100})"\s*:')
MAX_DEPTH = 200  # of nested brackets: parsers recurse
MAX_EXACT_FLOAT = 2.0**53  # from here on float64 skips whole numbers
MAX_PAIRING_PASSES = 16  # over brackets that close at once; most text needs one
OTHERS = bytes(set(range(256)) - set(b'[]{}"\n'))
STRING = re.compile(rb'"[^"\n]*"?')


def read_json_start(file: Source) -> Any:
    """The schema of the first lines."""
    whole = file.head[: file.head.rfind(b"\n") + 1] or _read_first_line(file)
    Depth().see(whole)
    try:
        return _parse_bytes(whole).schema
    except pyarrow().ArrowInvalid:
        with suppress(ValueError):  # what is no object a line is as pyarrow says
            return _find_kinds([json.loads(line) for line in whole.splitlines() if line.strip()])
        raise


def _find_kinds(objects: list[Any]) -> Any:
    """The schema of objects one field of which has values of several types: null stands for these.

    That may be a field that nobody asks for; where it is asked for, pyarrow says what is wrong.
    """
    pa = pyarrow()
    if not all(isinstance(one, dict) for one in objects):
        raise ValueError("a line is no object")
    kinds = {}
    for name in dict.fromkeys(name for one in objects for name in one):
        values = (json.dumps({name: one[name]}) for one in objects if name in one)
        kinds[name] = pa.null()
        with suppress(pa.ArrowInvalid):
            kinds[name] = _parse_bytes("\n".join(values).encode()).schema.field(0).type
    return pa.schema(kinds)


def _parse_bytes(lines: bytes) -> Any:
    return _parse(pyarrow().BufferReader(lend_bytes(lines)))


def _read_first_line(file: Source) -> bytes:
    """A line that is longer than the head."""
    with file._replace(progress=None).file() as raw:
        return raw.readline(BLOCK_BYTES)


def _parse(stream: Any, how: Any = None) -> Any:
    """The objects in a stream as a table."""
    from pyarrow import json as arrow_json

    try:
        return arrow_json.read_json(stream, arrow_json.ReadOptions(block_size=BLOCK_BYTES), how)
    except pyarrow().ArrowInvalid as error:
        if "straddling" in str(error):
            raise ValueError(f"a line is longer than {BLOCK_BYTES:,} bytes") from error
        raise


def list_json_names(file: Source, asked: Collection[str], known: Collection[str]) -> list[str]:
    """The fields of the first lines; where these lack one that is `asked` for, or one that is
    called as a role is that is not `known`, also such that come first further down.
    """
    file = _decode(unwrap_array(file))
    names = list(read_json_start(file).names)
    roles = [role for role in FIT_ROLES if role not in known and find_role(names, role) is None]
    others = set(asked).difference(names)

    def is_wanted(name: str) -> bool:
        return name in others or any(find_role([name], role) is not None for role in roles)

    if (roles or others) and any(map(is_wanted, _find_late_keys(file))):
        with _shallow(file) as stream:
            whole = _parse(stream).schema.names
        names += [name for name in whole if name not in names and is_wanted(name)]
    return names


def _find_late_keys(file: Source) -> Iterator[str]:
    """Keys that are not in the head, of objects inside of others, too."""
    if len(file.head) < HEAD_BYTES:
        return
    known = set(KEY.findall(file.head))
    with file._replace(progress=None).file() as raw:
        while part := raw.read(SCANNED_BYTES):
            part += raw.readline()
            if _has_other_keys(part, known):
                late = set(KEY.findall(part)) - known
                yield from (key.decode(errors="replace") for key in late)


def _has_other_keys(part: bytes, known: Collection[bytes]) -> bool:
    """Whether there may be others than the known: counts are faster than a look at each."""
    if b'" :' in part or b'"\t:' in part:
        return True
    seen = part.count(b'":') - part.count(b'\\":')
    return seen != sum(part.count(b'"%b":' % key) for key in known)


def read_json(file: Source, names: list[str], roles: list[str]) -> tuple[Any, str]:
    """These fields, with the types that they have in the first lines if that goes well.

    Other fields are then not looked at. A whole rating may be followed by one that is not. Text of
    ids and titles stays text, where pyarrow would make times of what looks like such. Beside them
    comes a word about the encoding, if it is another than UTF-8.
    """
    pa, file = pyarrow(), _decode(unwrap_array(file))
    table = _read_known(file, names, roles)
    try:
        table.validate(full=True)  # pyarrow does not look at the encoding while it reads
    except pa.ArrowInvalid:
        file = _recode(file)
        table = _read_known(file, names, roles)
    return table, "" if file.change is None else tell_encoding(find_encoding(file))


def _decode(file: Source) -> Source:
    """The file as UTF-8, also where its head says that it is not."""
    return file if is_unicode(file.head) else _recode(file)


def _recode(file: Source) -> Source:
    if file.change is not None:
        return file
    encoding = find_encoding(file)
    head = make_recoder(encoding)(file.head)
    return file._replace(head=head, change=lambda: make_recoder(encoding))


def _read_known(file: Source, names: list[str], roles: list[str]) -> Any:
    from pyarrow import json as arrow_json

    pa, start = pyarrow(), read_json_start(file)
    kinds = {name: start.field(name).type for name in names if name in start.names}
    texts = []
    for name, role in zip(names, roles, strict=True):
        if role == "rating" and (name not in kinds or pa.types.is_integer(kinds[name])):
            kinds[name] = pa.float64()
        elif role in TEXT_ROLES and name in kinds and pa.types.is_timestamp(kinds[name]):
            kinds[name] = pa.string()
            texts.append((name, kinds[name]))
    try:
        # An id that comes late may be of any type.
        fields = pa.schema([(name, kinds[name]) for name in names])
        table = _read_fields(file, fields)
    except (KeyError, pa.ArrowInvalid):
        options = arrow_json.ParseOptions(explicit_schema=pa.schema(texts))
        with _shallow(file) as stream:
            table = _parse(stream, options)
    return _with_whole_ids(file, table.select(names), roles)


def _read_fields(file: Source, fields: Any) -> Any:
    """These fields in these types, without a look at others."""
    from pyarrow import json as arrow_json

    narrow = arrow_json.ParseOptions(explicit_schema=fields, unexpected_field_behavior="ignore")
    with _shallow(file) as stream:
        return _parse(stream, narrow)


def _with_whole_ids(file: Source, table: Any, roles: list[str]) -> Any:
    """Ids beyond 2⁵³ as they are written: pyarrow takes those from 2⁶³ on for floats."""
    pa = pyarrow()
    for k, role in enumerate(roles):
        column = table.column(k)
        if role == "rating" or not pa.types.is_floating(column.type):
            continue
        largest = pa.compute.max(pa.compute.abs(column)).as_py()
        if largest is None or largest < MAX_EXACT_FLOAT:
            continue
        name = table.column_names[k]
        try:
            whole = _read_fields(file, pa.schema([(name, pa.uint64())]))
        except pa.ArrowInvalid as error:
            raise ReadError(
                f"{file.name}: {name!r} has ids such as {largest:.0f}, too large for numbers in "
                "JSON; write them as text, in quotes."
            ) from error
        table = table.set_column(k, name, whole.column(name))
    return table


class Depth:
    """How deep brackets are nested in a text that is seen part by part."""

    def __init__(self) -> None:
        self.open, self.line = b"", b""

    def see(self, part: bytes) -> None:
        """Refuse a text that is too deep; the last line is looked at again with its rest.

        No string goes over the end of a line, so that a stray quote spoils the count of one line.
        """
        part = self.line + part
        end = part.rfind(b"\n") + 1
        self.open = _drop_pairs(self.open + _brackets(part[:end]))
        self.line = part[end:]
        for left in (self.open, self.open + _brackets(self.line)):
            if len(left) > MAX_DEPTH and _measure_depth(left) > MAX_DEPTH:
                raise ValueError(f"its brackets are nested more than {MAX_DEPTH} deep")


def _brackets(text: bytes) -> bytes:
    """The brackets outside of strings."""
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, OTHERS)
    return STRING.sub(b"", bare.replace(b'""', b"")).replace(b"\n", b"")


def _drop_pairs(brackets: bytes) -> bytes:
    """The brackets without pairs that close at once; most text needs one pass."""
    for _ in range(MAX_PAIRING_PASSES):
        shorter = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
    return brackets


def _measure_depth(brackets: bytes) -> int:
    depth = deepest = 0
    for sign in brackets:
        depth += (sign in b"[{") - (sign in b"]}")
        deepest = max(deepest, depth)
    return deepest


@contextmanager
def _shallow(file: Source) -> Iterator[Any]:
    with file.file() as raw, lend_file(_Watched(raw)) as stream:
        yield stream


class _Watched(io.RawIOBase):
    """A file whose depth is seen on the way."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.depth = file, Depth()

    def read(self, size: int | None = -1, /) -> bytes:
        part = self.file.read(-1 if size is None else size)
        self.depth.see(part)
        return part
