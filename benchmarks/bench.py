"""Speed, growth, memory and quality as short tables, and as JSON in benchmarks/out/.

    python benchmarks/bench.py                   every section, a few minutes
    python benchmarks/bench.py kernels growth    some of them
    python benchmarks/bench.py --large           with 10⁸ cells too: growth and memory
    python benchmarks/bench.py --cpu             figures from CPU seconds, on a busy machine
    python benchmarks/bench.py --save            keep the figures as the baseline

Each line has what is wanted beside what was measured. Figures that hardly depend on the machine are
compared with benchmarks/baseline.json; the last lines say which got worse. Sections that read
MovieLens find it through PYGECO_DATA and are skipped without it. Compare seconds of one run only:
machines and their load differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path

from pygeco.diagnostics.machine import load
from sections.baseline import Found, compare, save
from sections.fits import fits
from sections.growth import growth
from sections.kernels import kernels
from sections.measuring import FOLDER, Line, Plan
from sections.memory import memory
from sections.paper import movielens
from sections.startup import startup

BASELINE = FOLDER / "baseline.json"
SECTIONS: dict[str, Callable[[Plan], list[Line] | None]] = {
    "kernels": kernels,
    "growth": growth,
    "memory": memory,
    "fits": fits,
    "movielens": movielens,
    "startup": startup,
}


def measure(chosen: list[str], plan: Plan) -> Found:
    """Run the sections, each with its table and its JSON; what they found."""
    plan.out.mkdir(parents=True, exist_ok=True)
    found: Found = {}
    for name in chosen:
        lines = SECTIONS[name](plan)
        if lines is not None:
            found[name] = lines
            text = json.dumps([line.record() for line in lines], indent=1, ensure_ascii=False)
            (plan.out / f"{name}.json").write_text(text + "\n")
    return found


def main(arguments: list[str] | None = None, plan: Plan | None = None) -> None:
    parser = argparse.ArgumentParser(description="Print pygeco's benchmark tables.")
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--large", action="store_true", help="10⁸ cells too")
    parser.add_argument("--cpu", action="store_true", help="figures from CPU seconds")
    parser.add_argument("--save", action="store_true", help="keep the figures as the baseline")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="another file to keep")
    given = parser.parse_args(arguments)
    if given.save and given.cpu:
        parser.error("--save: the baseline is kept by the wall clock; leave --cpu out")
    unknown = [name for name in given.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; use any of {', '.join(SECTIONS)}")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, load {load():.1f}\n")
    plan = plan or Plan(large=given.large, cpu=given.cpu)
    found = measure(given.sections or list(SECTIONS), plan)
    print("\n".join(compare(found, given.baseline)))
    if given.save:
        save(found, given.baseline)


if __name__ == "__main__":
    main()
