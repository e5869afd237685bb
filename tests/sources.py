"""The package's own files, of which a law says what none may hold."""

import ast
from collections.abc import Iterator
from pathlib import Path


def parse_files(folder: Path, *words: str) -> Iterator[tuple[Path, ast.Module]]:
    """The files in which a word stands, parsed: no node can have a name that the text lacks."""
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path, ast.parse(text)
