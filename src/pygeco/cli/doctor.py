"""`geco doctor`: is this machine set up well?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pygeco.cli.console import Voice, report_errors
from pygeco.cli.options import Json
from pygeco.cli.warming import plan_fits

Warm = Annotated[
    bool, typer.Option("--warm", help="First compile every kernel, so that no later fit waits.")
]


def doctor(warm: Warm = False, as_json: Json = False) -> None:
    """Show versions, threads, GPU, cache and the speed of the passes, and say what to fix."""
    with report_errors("doctor"):
        voice = Voice(as_json)
        if warm:
            for name, fit in plan_fits():
                with voice.busy(f"compiling for {name}"):
                    fit()
        found = _found(voice)
        voice.result(found, "\n".join(_lines(found)))


def _found(voice: Voice) -> dict[str, Any]:
    from pygeco.arrays.cores import count_cores
    from pygeco.diagnostics import machine as health
    from pygeco.engines.cpu.health import cache
    from pygeco.engines.cpu.threads import get_num_threads

    load = health.load()
    with voice.busy("measuring the passes"):
        speeds = health.speeds()
    used, kept = get_num_threads(), cache()
    versions, devices = health.versions(), health.gpu()
    return {
        "versions": versions,
        "cores": count_cores(),
        "threads": {"kernels": used, "blas": health.blas()},
        "gpu": devices._asdict(),
        "cache": kept._asdict(),
        "speeds": {name: round(value, 2) for name, value in speeds._asdict().items()},
        "advice": health.advice(versions, used, count_cores(), kept, devices, load),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    speeds, cache, gpu = found["speeds"], found["cache"], found["gpu"]
    listed = ", ".join(
        f"{name} {version}" for name, version in found["versions"].items() if version
    )
    devices = "; ".join(gpu["devices"]) or "none"
    return [
        f"versions  {listed}",
        f"cores     {found['cores']}; kernels run on {found['threads']['kernels']} threads",
        f"BLAS      {'; '.join(found['threads']['blas']) or 'not found'}",
        f"GPU       {devices}; CuPy {gpu['cupy'] or 'not installed'}",
        f"cache     {cache['folder']} ({cache['megabytes']:.1f} MB, "
        f"{'writable' if cache['writable'] else 'not writable'}): {cache['hits']} kernels found, "
        f"{cache['misses']} compiled",
        f"matvec    {speeds['matvec']:.1f} GB/s, where a plain read does {speeds['read']:.1f}",
        f"sweep     {speeds['sweep']:.0f} GFLOP/s at rank 32, where sgemm does "
        f"{speeds['sgemm']:.0f}",
        *(f"fix       {line}" for line in found["advice"]),
        *([] if found["advice"] else ["all well: nothing to fix."]),
    ]
