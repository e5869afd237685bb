"""What CONTRIBUTING says of the house: its rooms, and where each thing is changed."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = re.findall(r"^\| .* \| `(src/pygeco/[\w/]+\.py)`: `(\w+)` \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), PLACES, ids=lambda it: Path(it).stem)
def test_what_is_to_be_changed_is_where_the_map_says(file, name) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^(def|class) {name}\b", text, re.MULTILINE)


def test_there_are_twelve_places_at_least() -> None:
    assert len(PLACES) >= 12


def test_every_room_is_on_the_map() -> None:
    table = TEXT[TEXT.index("| room in") : TEXT.index("The way of")]
    named = set(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))
    rooms = {room for cell in named for room in re.findall(r"`(\w+)/`", cell)}
    package = ROOT / "src" / "pygeco"
    assert rooms == {path.parent.name for path in package.glob("*/__init__.py")}
    assert [path.name for path in package.glob("*.py")] == ["__init__.py"]


def test_the_files_of_a_fit_are_there() -> None:
    way = TEXT[TEXT.index("The way of") : TEXT.index("| to change |")]
    for place in re.findall(r"`([\w/]+\.py)`", way):
        assert (ROOT / "src" / "pygeco" / place).is_file(), place


def test_the_objective_of_the_text_is_minimized_exactly(tmp_path) -> None:
    block = re.search(r"```python\n(import numpy.*?)```", TEXT, re.DOTALL)
    assert block is not None
    program = tmp_path / "objective.py"
    program.write_text(block[1], encoding="utf-8")
    found = runpy.run_path(str(program))
    s = np.linalg.svd(found["Y"], compute_uv=False)
    # The best rank-two approximation is the truncated decomposition.
    assert found["path"][-1].objective == pytest.approx(0.5 * np.sum(s[2:] ** 2), rel=1e-6)
