"""Files of ratings are read as the fit was told to read its own."""

import json

import numpy as np
import pytest

import pygeco
from cli_cases import frame, run


def test_ids_of_a_part_are_those_of_the_whole(tmp_path) -> None:
    """A file whose users all look like numbers asks a model whose users are texts."""
    ratings = frame()
    ratings["user"] = [f"0{user}" if user % 2 else f"{user}" for user in ratings.user]
    part = ratings[~ratings.user.str.startswith("0")].iloc[::9]
    ratings.drop(part.index).to_csv(tmp_path / "r.csv", index=False)
    part.to_csv(tmp_path / "part.csv", index=False)
    model = tmp_path / "m"
    told = run("fit", tmp_path / "r.csv", "-o", model, "--rank", 2, "--test", tmp_path / "part.csv")
    assert "held-out RMSE" in told.output
    assert "new user" not in told.output
    shown = run("predict", model, tmp_path / "part.csv", "--unknown", "error").stdout
    assert len(shown.splitlines()) == len(part) + 1
    assert "01" in pygeco.load(model).row_ids_


def test_a_matrix_of_ratings(tmp_path) -> None:
    values = frame().pivot_table(index="user", columns="item", values="rating")
    values.to_csv(tmp_path / "wide.csv", sep=";", decimal=",")
    hint = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "m", "--user", "user", code=2).output
    assert "no column looks like" in hint
    told = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "m", "--matrix", "--rank", 2).output
    assert f"{values.shape[0]} rows are users, {values.shape[1]} columns are items" in told
    model = pygeco.load(tmp_path / "m")
    assert model.row_ids_.tolist() == values.index.tolist()
    assert model.column_ids_.tolist() == sorted(values.columns)


def odd_columns():
    """Ratings under names that say the wrong thing: the true users are in "thing"."""
    table = frame()
    odd = table.rename(columns={"user": "thing", "item": "which", "rating": "how"})
    return odd.assign(user=table.user.to_numpy()[::-1], item="none", score=1.0)


@pytest.mark.parametrize("header", [True, False])
def test_later_commands_remember_the_columns(header, tmp_path) -> None:
    odd = odd_columns()
    odd.to_csv(tmp_path / "r.csv", index=False, header=header)
    frame(seed=1).set_axis(["thing", "which", "how"], axis=1).assign(
        user=1, item="film-1", score=2.0
    ).to_csv(tmp_path / "new.csv", index=False, header=header)
    names = ("thing", "which", "how") if header else ("1", "2", "3")
    told = [it for pair in zip(("--user", "--item", "--rating"), names, strict=True) for it in pair]
    model = tmp_path / "m.geco"
    run("fit", tmp_path / "r.csv", "-o", model, "--rank", "2", *told)
    fitted = pygeco.load(model)
    assert fitted.file_columns_ == names
    for command, wanted in (("evaluate", "rmse"), ("predict", "rows")):
        said = told if command == "evaluate" else told[:4]
        one = json.loads(run(command, model, tmp_path / "new.csv", "--json").stdout)
        two = json.loads(run(command, model, tmp_path / "new.csv", "--json", *said).stdout)
        assert one[wanted] == two[wanted]
    run("report", model, "--ratings", tmp_path / "new.csv", "-o", tmp_path / "r.html")


def test_all_missing_columns_are_told_at_once(tmp_path) -> None:
    (tmp_path / "r.csv").write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n")
    told = run("fit", tmp_path / "r.csv", "-o", tmp_path / "m", code=2).stderr
    assert "no column looks like the user or the item or the rating" in told
    assert "--user --item --rating" in told


def test_marks_are_refused_left_out_and_remembered(tmp_path) -> None:
    table = frame()
    table["rating"] = np.clip(np.round(2 * table.rating), 1, 10)
    hit = np.random.default_rng(0).random(len(table)) < 0.3
    marked = table.assign(rating=np.where(hit, -1.0, table.rating))
    marked.to_csv(tmp_path / "marked.csv", index=False)
    table[~hit].to_csv(tmp_path / "clean.csv", index=False)
    model, clean = tmp_path / "m.geco", tmp_path / "clean.geco"
    fit = ("fit", tmp_path / "marked.csv", "-o", model, "--rank", "2", "--holdout", "0.2")
    told = run(*fit, code=2).stderr
    assert "are -1, apart from the others (2 to 10)" in told
    assert "pass --missing -1 to leave them out, or --missing None to keep them" in told
    said = json.loads(run(*fit, "--missing", "-1", "--json").stdout)
    assert f"{hit.sum():,} ratings of -1 are left out" in said["read"]
    again = ("fit", tmp_path / "clean.csv", "-o", clean, "--rank", "2", "--holdout", "0.2")
    plain = json.loads(run(*again, "--json").stdout)
    assert said["held_out"] == plain["held_out"]
    one, two = (
        json.loads(run("evaluate", path, tmp_path / f"{name}.csv", "--json").stdout)
        for path, name in ((model, "marked"), (clean, "clean"))
    )
    assert one == two
    run(*fit, "--missing", "none")
    assert pygeco.load(model).seen_.values.min() == -1
    assert "--missing: expected numbers" in run(*fit, "--missing", "soon", code=2).stderr


def test_clicks_are_told(tmp_path) -> None:
    frame().assign(rating=1).to_csv(tmp_path / "r.csv", index=False)
    told = run("fit", tmp_path / "r.csv", "-o", tmp_path / "m", "--explicit", code=2).stderr
    assert "every value is 1, so these are clicks" in told
    assert "--implicit" in told
