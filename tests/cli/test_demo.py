"""`geco demo` on synthetic ratings."""

import re

from cli_cases import run


def test_demo_fits_shows_the_path_and_draws_it(tmp_path) -> None:
    result = run("demo", "--rank", "6", "--output", tmp_path / "new")
    lines, said = result.output.splitlines(), " ".join(result.output.split())
    table = [line.split() for line in lines if line[:4].strip().isdigit() and "ratings" not in line]
    assert [int(row[0]) for row in table] == [1, 2, 3, 4, 5, 6]
    train, test = ([float(row[k]) for row in table] for k in (1, 2))
    assert train == sorted(train, reverse=True)
    assert test[3] < test[2] - 0.05  # the fourth taste is found
    assert "99.9% sure" in result.output
    default = float(re.search(r"with nothing set, finds rank \d: test RMSE (\d\.\d+)", said)[1])
    assert default < min(test)
    picture = tmp_path / "new" / "path.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in result.output.replace("\n", "")
    assert "Synthetic ratings" in (tmp_path / "new" / "report.html").read_text()


def test_a_folder_that_cannot_be_made_is_told_before_the_fit(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    result = run("demo", "--output", tmp_path / "file" / "folder", code=4)
    assert "cannot write to" in result.output
    assert "rank" not in result.output
