"""A small MovieLens, and few ranks for every method."""

import pytest

from pygeco.data import make_ratings
from pygeco.experiments import figure1, methods


@pytest.fixture
def home(tmp_path, monkeypatch):
    """MovieLens-100K in its layout, but small; few ranks for every method."""
    rows, cols, values, _ = make_ratings((60, 40), 1100, random_state=1)
    lines = [f"{i + 1}\t{j + 1}\t{y:g}\t0" for i, j, y in zip(rows, cols, values, strict=True)]
    folder = tmp_path / "data" / "ml-100k"
    folder.mkdir(parents=True)
    (folder / "u.data").write_text("\n".join(lines))
    (folder / "ub.base").write_text("\n".join(lines[:1000]))
    (folder / "ub.test").write_text("\n".join(lines[1000:]))
    monkeypatch.setenv("PYGECO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    few = {"JS_RANK": 4, "GECO_RANK": 4, "SOFT_RANK": 6, "SVT_RANK": 6, "RANKS": (1, 3)}
    for name, value in {**few, "PATIENCE": 3}.items():
        monkeypatch.setattr(methods, name, value)
    figure1._halves.cache_clear()
    yield tmp_path
    figure1._halves.cache_clear()
