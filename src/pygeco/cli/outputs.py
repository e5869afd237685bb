"""Before the work: may the result be written there?"""

from __future__ import annotations

import os
from pathlib import Path

from pygeco.cli.console import OutputError

KINDS = {  # how files begin, and what they then are
    b"\x89GECO": "a model",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x89PNG": "a picture",
}
ENDINGS = {
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".npz": "a zip archive",
    ".gz": "gzip",
    ".bz2": "bzip2",
    ".zst": "zstd",
    ".html": "HTML",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
}


def check_output(
    path: Path | None,
    *inputs: str | os.PathLike[str] | None,
    kind: str | None = None,
    overwrite: bool = False,
) -> None:
    """Fail before the work where the result could not be written after it, would take the place
    of an input, or of a file of another kind than `kind`, by default the one that the ending says.
    """
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; give the name of a file with -o.")
    if not folder.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {folder}; make it first.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise OutputError(f"cannot write {path}: permission denied; choose another place with -o.")
    check_apart(path, *inputs)
    if path.is_file() and not overwrite:
        _check_kind(path, kind or ENDINGS.get(path.suffix.lower(), "text"))


def check_apart(path: Path, *inputs: str | os.PathLike[str] | None) -> None:
    """Refuse an output that is one of the inputs."""
    for source in inputs:
        there = source is not None and path.is_file() and os.path.exists(source)
        if there and os.path.samefile(path, source or ""):
            raise OutputError(
                f"cannot write {path}: it is the file to read, which would be lost; choose another "
                "name with -o."
            )


def _check_kind(path: Path, kind: str) -> None:
    found = find_kind(path)
    if found is not None and found != kind:
        raise OutputError(
            f"cannot write {path}: it exists and is {found}, not {kind}; choose another name with "
            "-o, or pass --overwrite."
        )


def find_kind(path: Path) -> str | None:
    """What a file is, by how it begins; None for an empty one."""
    with path.open("rb") as file:
        head = file.read(1 << 12)
    for magic, kind in KINDS.items():
        if head.startswith(magic):
            return kind
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "HTML"
    if start.startswith(b"{"):
        return "JSON"
    return ("data of some other kind" if b"\x00" in head else "text") if head else None
