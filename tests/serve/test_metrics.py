"""Counters add up over processes, in the format that Prometheus reads."""

import re

from pygeco.serve.metrics import BOUNDS, make_counters, resident_bytes


def test_workers_share_a_table(tmp_path) -> None:
    file = tmp_path / "counters"
    first, second = (make_counters(file, 2, line) for line in (0, 1))
    first.record("/v1/predict", 200, 0.002)
    second.record("/v1/predict", 200, 0.2)
    second.record("/nothing", 404, 0.002)
    for _ in range(3):
        second.count("cache_hits_total")
    text = first.write("abc", 1)
    assert 'geco_requests_total{route="/v1/predict",status="2xx"} 2\n' in text
    assert 'geco_requests_total{route="other",status="4xx"} 1\n' in text
    assert "geco_cache_hits_total 3\n" in text
    assert 'geco_request_seconds_bucket{route="/v1/predict",le="0.0025"} 1\n' in text
    assert 'geco_request_seconds_bucket{route="/v1/predict",le="+Inf"} 2\n' in text
    assert 'geco_request_seconds_sum{route="/v1/predict"} 0.202000\n' in text
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+)')
    assert all(line.fullmatch(one) for one in text.splitlines())
    assert text.count("_bucket{") == 9 * (len(BOUNDS) + 1)
    assert resident_bytes() > 1 << 20
