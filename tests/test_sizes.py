"""Files and functions are short enough to be read at once."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "pygeco"
MAX_FILE_LINES, MAX_FUNCTION_LINES = 300, 50
LONG_FUNCTIONS = {"engines/cpu/sweep.py: half_sweep"}  # a kernel, which numba inlines nothing into


def find_docstrings(tree: ast.AST) -> set[int]:
    """The lines of all docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node)]
    return {
        line
        for node in nodes
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)  # type: ignore
    }


@pytest.mark.parametrize("room", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_files_and_functions_are_short(room) -> None:
    for file in (PACKAGE / room).rglob("*.py"):
        name, text = file.relative_to(PACKAGE).as_posix(), file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        docstrings = find_docstrings(tree)
        assert text.count("\n") <= MAX_FILE_LINES, name
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and f"{name}: {node.name}" not in LONG_FUNCTIONS:
                lines = set(range(node.lineno, node.end_lineno + 1)) - docstrings
                assert len(lines) <= MAX_FUNCTION_LINES, (name, node.name)


def test_what_is_long_is_there_and_long() -> None:
    for place in LONG_FUNCTIONS:
        name, _, function = place.partition(": ")
        found = [
            node
            for node in ast.walk(ast.parse((PACKAGE / name).read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        assert [node.end_lineno - node.lineno >= MAX_FUNCTION_LINES for node in found] == [True]
