"""Folders with ratings, titles and a model: plain ones, and hostile ones."""

import pandas as pd
import pytest

from cli_cases import EVIL, frame, run
from pygeco import MatrixCompletion


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """Ratings and titles with escape sequences in them, and a model of these."""
    home = tmp_path_factory.mktemp("hostile")
    ratings = frame()
    ratings["item"] = [f"{EVIL}{item}" for item in ratings.item]
    ratings.to_csv(home / "r.csv", index=False)
    titles = pd.DataFrame({"item": ratings.item.unique()})
    titles.assign(title=f"{EVIL}title").to_csv(home / "t.csv", index=False)
    model = MatrixCompletion(1, penalty=None, random_state=0).fit(ratings)
    model.save(home / "m")
    (home / "text.csv").write_text(f"user,item,rating\n1,{EVIL},{EVIL}\n")
    (home / "twice.csv").write_text(f"user,item,rating\n1,{EVIL},1\n1,{EVIL},2\n")
    (home / "header.csv").write_text(f"{EVIL}a,{EVIL}b,c,d,e,f\n1,2,3,4,5,6\n")
    return home
