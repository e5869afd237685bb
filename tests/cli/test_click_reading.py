"""`geco fit` tells clicks from ratings, and says what is not for clicks."""

import pytest

import pygeco
from cli_cases import frame, run
from click_table_cases import make_click_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    table = make_click_table(40, 24)
    table.to_csv(folder / "pairs.csv", index=False)
    table.assign(rating=5).to_csv(folder / "fives.csv", index=False)
    counts = 1 + table.user % 3
    table.assign(plays=counts).to_csv(folder / "plays.csv", index=False)
    table.assign(value=(1 + table.user % 7) ** 6).to_csv(folder / "tail.csv", index=False)
    table.assign(rating=table.user % 2).to_csv(folder / "labels.csv", index=False)
    frame().to_csv(folder / "ratings.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("file", "options", "said", "kind"),
    [
        ("pairs.csv", (), "users and items without a rating", "ImplicitCompletion"),
        ("fives.csv", (), "every rating is 5", "ImplicitCompletion"),
        ("plays.csv", (), "counts are their weights", "ImplicitCompletion"),
        ("ratings.csv", ("--implicit",), "each row is a click", "ImplicitCompletion"),
        ("tail.csv", (), "up to 117,649, as counts are; --implicit takes", "MatrixCompletion"),
        ("labels.csv", (), "are 0 and 1; --loss logistic takes them for no", "MatrixCompletion"),
        ("plays.csv", ("--explicit", "--rank", 1), "123 ratings of", "MatrixCompletion"),
        ("plays.csv", ("--loss", "poisson", "--rank", 1), "123 ratings of", "MatrixCompletion"),
    ],
)
def test_what_is_fitted(file, options, said, kind, folder, tmp_path) -> None:
    model = tmp_path / "m.geco"
    told = run("fit", folder / file, "-o", model, "--time-limit", 0.001, *options).output
    assert said in told
    fitted = pygeco.load(model)
    assert type(fitted).__name__ == kind
    if file == "plays.csv" and not options:
        assert set(fitted.seen_.values.tolist()) == {1.0, 2.0, 3.0}


@pytest.mark.parametrize(
    ("file", "options", "said"),
    [
        ("pairs.csv", ("--loss", "huber"), "--loss: is for ratings, and these are clicks"),
        ("pairs.csv", ("--posterior", 3), "--posterior: is for ratings"),
        ("plays.csv", ("--implicit", "--pattern", "yes"), "--pattern: is for ratings"),
        ("pairs.csv", ("--duplicates", "last"), "--duplicates: is for ratings"),
        ("pairs.csv", ("--resume",), "--resume: a fit of clicks keeps no state"),
        ("pairs.csv", ("--explicit",), "too few for user and item and rating"),
        ("pairs.csv", ("--implicit", "--engine", "dask"), "--implicit: clicks are fitted on one"),
    ],
)
def test_what_is_not_for_clicks(file, options, said, folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = run("fit", folder / file, "-o", "m.geco", *options, code=2).output
    assert said in told
    assert len(told.strip().splitlines()) == 1
    assert not (tmp_path / "m.geco").exists()


def test_who_asks_for_labels_is_not_told_of_them(folder, tmp_path) -> None:
    asked = ("fit", folder / "labels.csv", "-o", tmp_path / "m.geco", "--loss", "logistic")
    assert "takes them for" not in run(*asked).output
