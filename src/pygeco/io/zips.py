"""Zip archives, of which one file is read where it lies; nothing is unpacked to a disk."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from pygeco.errors import ReadError
from pygeco.io.column_names import list_names

ENCRYPTED = 1  # the bit of a member's flags that says so
EXTRAS = "__MACOSX"  # the folder for what a Mac notes of each file


def split_member(path: str) -> tuple[str, str] | None:
    """The archive and the member of a path that leads into one, such as `a.zip/b/c.csv`."""
    whole = Path(path)
    archive = next((parent for parent in whole.parents if parent.is_file()), None)
    if archive is None or not zipfile.is_zipfile(archive):
        return None
    return str(archive), whole.relative_to(archive).as_posix()


def open_member(file: BinaryIO, name: str, wanted: str | None, path: str | None) -> IO[bytes]:
    """The unpacked bytes of the only file in an archive, or of the one that is wanted.

    Sentences speak of the archive by its `name`, and say how to write its `path`, if it has one.
    """
    try:
        archive = zipfile.ZipFile(file)
        return archive.open(_choose_member(archive, name, wanted, path))
    except NotImplementedError as error:  # such as Deflate64, of large files on Windows
        raise ReadError(
            f"{name} is packed in a way that Python does not know; unpack it and give the file "
            "inside."
        ) from error


def _choose_member(
    archive: zipfile.ZipFile, name: str, wanted: str | None, path: str | None
) -> zipfile.ZipInfo:
    members = {one.filename: one for one in archive.infolist() if _is_data(one)}
    if not members:
        raise ReadError(f"{name} is a zip archive without a file; give a file with data.")
    if wanted is not None and wanted not in members:
        raise ReadError(
            f"{name} holds no {wanted!r}; give one of its files, {list_names([*members])}."
        )
    if wanted is None and len(members) > 1:
        largest = max(members, key=lambda one: members[one].file_size)
        how = "one of them" if path is None else f"one of them, such as {f'{path}/{largest}'!r}"
        raise ReadError(
            f"{name} holds {len(members)} files ({list_names([*members])}); give {how}, or unpack "
            "it and give the file inside."
        )
    member = members[next(iter(members)) if wanted is None else wanted]
    inside = PurePosixPath(member.filename.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
        raise ReadError(
            f"{name}: the file {member.filename!r} leads out of the archive; unpack it with care "
            "and give the file inside."
        )
    if member.flag_bits & ENCRYPTED:
        raise ReadError(f"{name} is encrypted; unpack it and give the file inside.")
    return member


def _is_data(member: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(member.filename).parts
    return bool(parts) and not member.is_dir() and EXTRAS not in parts and parts[-1][0] != "."
