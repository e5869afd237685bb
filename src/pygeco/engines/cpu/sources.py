"""What compiled functions were made from: a digest of their files, without numba."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r"^from pygeco\.engines\.cpu(?:\.(\w+))? import ", re.MULTILINE)


@cache
def hash_sources(file: Path) -> bytes:
    """A digest of a file and of those of the kernels that it imports, and so on."""
    found, open_files = {file: b""}, [file]
    while open_files:
        one = open_files.pop()
        found[one] = one.read_bytes()
        for name in IMPORT.findall(found[one].decode()):
            other = FOLDER / f"{name or '__init__'}.py"
            if other not in found and other.exists():
                found[other] = b""
                open_files.append(other)
    texts = (path.name.encode() + b"\0" + found[path] for path in sorted(found))
    return hashlib.sha256(b"\0".join(texts)).digest()
