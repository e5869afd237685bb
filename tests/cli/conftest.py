"""A folder with ratings, titles and a model."""

import pytest

from cli_cases import frame, run


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with ratings and a model fitted by `geco fit`."""
    home = tmp_path_factory.mktemp("home")
    ratings = frame()
    ratings.to_csv(home / "ratings.csv", index=False)
    ratings.iloc[:300].to_csv(home / "some.csv", index=False)
    frame(seed=1).iloc[:300].to_csv(home / "new.csv", index=False)
    (home / "titles.csv").write_text(
        "item,title\n" + "".join(f"film-{k},The {k}th Film\n" for k in range(50))
    )
    result = run("fit", home / "ratings.csv", "-o", home / "m.geco", "--rank", "3")
    assert "user = 'user', item = 'item', rating = 'rating'; 1,500 rows" in result.output
    assert "rank 3 from 1,500 ratings of 50 items by 80 users." in result.output
    assert f"model: {home / 'm.geco'}" in result.output
    assert not (home / "m.geco.checkpoint").exists()
    return home
