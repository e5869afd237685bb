"""Sums of what the tests of trust have tried, also over the processes of pytest-xdist."""

from collections import Counter

import pytest

from soak import SOAK, TRIED, begin


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    begin()
    result = yield
    item.user_properties.append(("tried", dict(TRIED)))
    return result


def pytest_terminal_summary(terminalreporter):
    total: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        if report.when == "call":
            for counts in (value for name, value in report.user_properties if name == "tried"):
                total.update(counts)
    if total:
        terminalreporter.section(f"tried, in the {'long' if SOAK else 'short'} form")
        for what, count in sorted(total.items()):
            terminalreporter.line(f"{count:9,}  {what}")
