"""A look at the machine."""

from pygeco.diagnostics import machine as health
from pygeco.engines.cpu.health import Cache

WELL = Cache("somewhere", True, 1.0, 5, 0)


NO_GPU = health.Gpu([], None)


def test_advice_names_each_fault() -> None:
    whole = dict.fromkeys(("python", "pygeco", *health.NEEDED, *health.EXTRAS), "1.0")
    assert health.advice(whole, 4, 4, WELL, NO_GPU) == []
    cases = {
        "use 1 of 4 cores": health.advice(whole, 1, 4, WELL, NO_GPU),
        "NUMBA_CACHE_DIR": health.advice(whole, 4, 4, WELL._replace(writable=False), NO_GPU),
        "run geco doctor again": health.advice(whole, 4, 4, WELL._replace(misses=3), NO_GPU),
        "pygeco[report]": health.advice(whole | {"jinja2": None}, 4, 4, WELL, NO_GPU),
        "no CuPy": health.advice(whole, 4, 4, WELL, health.Gpu(["H200"], None)),
        "keep this machine busy": health.advice(whole, 4, 4, WELL, NO_GPU, load=9.0),
    }
    for said, lines in cases.items():
        assert len(lines) == 1
        assert said in lines[0]


def test_cells_for_the_measure_are_distinct() -> None:
    assert health._cells(40_000).size == 40_000
