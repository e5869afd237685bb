"""Settings that are not safe are refused."""

from pathlib import Path

import pytest

from pygeco.serve.settings import Limits, Settings, is_loopback


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"host": "0.0.0.0"}, "can be reached by others"),
        ({"host": "example.org"}, "can be reached by others"),
        ({"host": "0.0.0.0", "token": "short"}, "less than 16 characters"),
        ({"workers": 0}, "--workers"),
        ({"port": 70000}, "--port"),
    ],
)
def test_what_is_not_safe_is_refused(given, message) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(model=Path("x"), **given).check()


def test_they_come_through_a_pipe_as_they_were() -> None:
    settings = Settings(
        model=Path("a b"), titles=Path("t"), token="x" * 20, limits=Limits(max_body=7)
    )
    assert Settings.from_json(settings.to_json()) == settings
    settings.check()
    Settings(model=Path("x"), host="0.0.0.0", token="x" * 20).check()
    assert [is_loopback(name) for name in ("127.8.8.8", "::1", "localhost", "10.0.0.1", "x")] == [
        *(True, True, True, False, False)
    ]
