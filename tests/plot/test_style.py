"""Axes, and what is needed to draw."""

import builtins
import sys

import pytest
from matplotlib import pyplot as plt

from pygeco import plot
from pygeco.plot import style
from report_cases import by_path


def test_pictures_go_where_they_are_told() -> None:
    others = plt.get_fignums()  # of tests before this one
    figure, axes = plt.subplots(1, 5)
    drawn = [
        plot.path(by_path(), ax=axes[0]),
        plot.spectrum(by_path(), ax=axes[1]),
        plot.residuals(by_path(), ax=axes[2]),
        plot.calibration(by_path(), ax=axes[3]),
        plot.factors(by_path(), ax=axes[4]),
    ]
    assert all(one is given for one, given in zip(drawn, axes, strict=True))
    assert plt.get_fignums() == [*others, figure.number]


def test_a_missing_matplotlib_is_named(monkeypatch) -> None:
    real = builtins.__import__

    def missing(module, *rest, **options):
        if module.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("gone", name="matplotlib")
        return real(module, *rest, **options)

    for loaded in [key for key in sys.modules if key.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pygeco\[plot\]'"):
        plot.spectrum(by_path())


def test_whole_numbers_are_whole_however_few() -> None:
    figure, ax = plt.subplots()
    ax.plot([0], [1.0])
    style.whole_numbers(ax)
    low, high = ax.get_xlim()
    ticks = [x for x in ax.get_xticks() if low <= x <= high]
    assert ticks == [0]
    plt.close(figure)


def test_names_from_data_are_drawn_as_they_stand() -> None:
    names = [r"$\frac$ and $x_", "US$ to $", "a\nb\t c", "\u65e5\u672c\u8a9e" * 20, "", "x" * 99]
    shown = [style.shorten(name) for name in names]
    figure, ax = plt.subplots()
    plain = [name for name in shown if name.isascii() or name[0] == "x"]  # a font has no others
    drawn = [ax.text(0, 0, name) for name in plain]
    ax.set_yticks(range(len(plain)), plain)
    figure.canvas.draw()  # where a formula that is none is an error
    widest = drawn[-1].get_window_extent().width
    assert all(text.get_window_extent().width < 1.6 * widest for text in drawn)
    assert shown[2] == "a b c"
    assert shown[3] == "\u65e5\u672c\u8a9e" * 4 + "\u65e5\u2026"
    assert shown[5] == "x" * 27 + "\u2026"
    plt.close(figure)
