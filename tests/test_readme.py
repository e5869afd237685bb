"""Every Python block of the README runs, in order."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_blocks_run(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert "rank  objective     gap at most" in printed
    assert "OPTIMAL: proved" in printed
    assert [step.rank for step in names["path"]] == [1, 2, 3, 4, 5]


def test_links_to_files_are_there() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).is_file(), target
