"""Mutation testing: mutmut writes the mutants, one pytest session tries them all.

mutmut's own runner starts pytest for each mutant and collects 900 tests anew each time. Here the
tests are collected once, with every kernel compiled; a fork of that process then runs one
mutant's tests, those that reach its function, until one fails. Numba's
kernels are not mutated: a mutant lives in plain Python, in the modules that pyproject.toml names.

The mutants come in a random order, the same each time: however early the run ends, what it has
tried is a fair sample. Results are kept in build/mutants.json, each with its function's hash: a
function that has changed since is tried anew. Quick first: --seconds 1, then --again --seconds 9.

A mutant that survives is a test that is missing, unless survivors.txt beside this file says why.

python benchmarks/mutants.py [pattern …] [--minutes M] [--seconds S] [--known] [--resume] [--again]
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import redirect_stdout
from fnmatch import fnmatch
from pathlib import Path

os.environ.setdefault("NUMBA_THREADING_LAYER", "workqueue")  # the one that survives a fork
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import filter_mutants_with_type_checker
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.file_utils import walk_mutatable_files, walk_source_files
from mutmut.utils.format_utils import mangled_name_from_mutant_name

RESULTS = Path("build/mutants.json").absolute()
TESTS = Path("build/mutants-tests.json").absolute()
SURVIVORS = Path(__file__).absolute().with_name("survivors.txt")
MEMORY = 8 << 30
ENDS = {0: "survived", 1: "killed"}  # whatever else ends a process is a limit, of time or memory


class Trial:
    """The pytest plugin: in place of one run of the tests, one run for each mutant."""

    def __init__(self, mutants: list[str], ends: dict[str, str], given: argparse.Namespace) -> None:
        self.mutants, self.ends, self.given = mutants, ends, given
        self.spent: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        cost, reach, breadth = measured(session, self.given.known)
        running: dict[int, str] = {}
        gc.freeze()  # what is there already stays shared with the forks
        until = time.monotonic() + 60 * self.given.minutes
        for mutant in self.mutants:
            reached = reach.get(mangled_name_from_mutant_name(mutant), [])
            items = self.chosen(reached, cost, breadth)
            if not items:
                self.ends[mutant] = "no tests"
                continue
            while len(running) >= self.given.jobs:
                self.ended(running)
            if time.monotonic() > until:
                break
            pid = os.fork()
            if pid == 0:
                attempt(session, mutant, items, 10 + 3 * sum(cost[t] for t in items))
            running[pid] = mutant
        while running:
            self.ended(running)
        for end, seconds in self.spent.items():
            print(f"{seconds:.0f} CPU seconds for those {end}")
        return True

    def chosen(self, items, cost, breadth):
        """For so many seconds, tests that are quick and reach little else before the others.

        Further cases of the same test come later, the more of them were before.
        """
        cases: Counter[str] = Counter()
        worth = {}
        for item in sorted(items, key=cost.get):
            test = item.nodeid.partition("[")[0]
            cases[test] += 1
            worth[item] = cost[item] * breadth[item] * cases[test]
        found, spent = [], 0.0
        for item in sorted(items, key=worth.get):
            if spent + cost[item] <= self.given.seconds:
                found.append(item)
                spent += cost[item]
        return found

    def ended(self, running: dict[int, str]) -> None:
        pid, status, usage = os.wait3(0)
        end = ENDS.get(os.waitstatus_to_exitcode(status), "timeout")
        self.ends[running.pop(pid)] = end
        self.spent[end] += usage.ru_utime + usage.ru_stime
        kept(self.ends)


def measured(session: pytest.Session, known: bool):
    """Seconds of each test without any mutant, and the tests that reach each function.

    Of tests known from the last time only a quick case is run, to have its kernels compiled. None
    is known where other functions are mutated than then.
    """
    set_mutant_under_test("stats")
    then = json.loads(TESTS.read_text()) if known and TESTS.exists() else {}
    last = then["tests"] if then.get("functions") == sorted(marks()) else {}
    cost, reach, breadth, warm = {}, {}, {}, set()
    for item in session.items:
        state()._stats.clear()
        test = item.nodeid.partition("[")[0]
        if item.nodeid not in last or (test not in warm and last[item.nodeid][0] < 1):
            seconds = run([item])
            if session.testsfailed:
                raise pytest.UsageError(f"{item.nodeid} fails without any mutant.")
            if item.nodeid not in last:
                if seconds > 1:  # kernels were compiled, perhaps
                    seconds = run([item])
                last[item.nodeid] = [seconds, sorted(state()._stats)]
            warm.add(test)
        cost[item], functions = last[item.nodeid]
        breadth[item] = len(functions)
        for function in functions:
            reach.setdefault(function, []).append(item)
    TESTS.write_text(json.dumps({"tests": last, "functions": sorted(marks())}))
    return cost, reach, breadth


def run(items) -> float:
    began = time.process_time()
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        if item.session.testsfailed:
            break
    return time.process_time() - began


def attempt(session, mutant: str, items, limit: float) -> None:
    """In a fork: leave with 1 as soon as a test fails, with 0 when none does."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(math.ceil(60 * limit))  # asleep for good; a busy machine is only slow
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    set_mutant_under_test(mutant)
    code = 1
    try:
        run(items)
        code = int(bool(session.testsfailed))
    finally:
        os._exit(code)


def written() -> list[str]:
    """The mutants, written into the folder mutants/ beside a copy of the tests."""
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    mutmut.setup_source_paths()
    with redirect_stdout(io.StringIO()):
        mutmut.create_mutants(2)
    for path in walk_source_files():
        if not config().should_mutate(path):  # numba's cache goes by the time of the file
            shutil.copystat(path, Path("mutants") / path)
    names = []
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        names += [name.replace("__init__.", "") for name in data.exit_code_by_key]
    return names


def kept(ends: dict[str, str]) -> None:
    RESULTS.write_text(json.dumps({"ends": ends, "functions": marks()}, indent=0))


def earlier() -> dict[str, str]:
    """The results of the last run, of functions that have not changed since."""
    then = json.loads(RESULTS.read_text())
    now = marks()
    same = {name for name, mark in then["functions"].items() if now.get(name) == mark}
    return {n: end for n, end in then["ends"].items() if mangled_name_from_mutant_name(n) in same}


def marks() -> dict[str, str]:
    """The hash of each mutated function."""
    return dict(state().current_function_hashes)


def reasons() -> dict[str, str]:
    """Why a mutant survives: the lines below each heading of survivors.txt, as `told` has them."""
    found, reason = {}, ""
    for line in SURVIVORS.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


def told(mutant: str) -> str:
    """The function and its changed lines: the same for as long as neither is written anew."""
    diff = get_diff_for_mutant(mutant).splitlines()[3:]
    changed = " ".join(line[1:].strip() for line in diff if line.startswith("+"))
    module, _, name = mangled_name_from_mutant_name(mutant).rpartition(".")
    function = name.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return f"{module.removeprefix('pygeco.')}.{function}: {changed}"


def shown(ends: dict[str, str]) -> int:
    """How many survivors nothing explains; prints them, and tables of all."""
    known, why, open_ends = reasons(), Counter(), 0
    for mutant, end in sorted(ends.items()):
        if end in ("survived", "no tests"):
            reason = known.get(told(mutant))
            why[reason] += 1
            if reason is None:
                open_ends += 1
                diff = get_diff_for_mutant(mutant).splitlines()[3:]
                changed = [line for line in diff if line.startswith(("+", "-"))]
                print(f"\n{mutant} {end}: {told(mutant)}", *changed, sep="\n")
    kinds = ("killed", "timeout", "typed", "survived", "no tests")
    print(f"\n{'module':32}" + "".join(f"{kind:>10}" for kind in kinds))
    modules = Counter((name.rpartition(".")[0], end) for name, end in ends.items())
    for module in sorted({module for module, _ in modules}):
        print(f"{module:32}" + "".join(f"{modules[module, kind]:10}" for kind in kinds))
    total = Counter(ends.values())
    print(f"{'all':32}" + "".join(f"{total[kind]:10}" for kind in kinds))
    for reason, count in why.most_common():
        print(f"{count:5}  {reason or 'nothing explains these'}")
    return open_ends


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="which mutants, as in a shell")
    parser.add_argument("--minutes", type=float, default=60.0, help="no mutant is tried after this")
    parser.add_argument("--seconds", type=float, default=4.0, help="of tests for a mutant, at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--known", action="store_true", help="no test is timed a second time")
    parser.add_argument("--resume", action="store_true", help="what the last run did not reach")
    parser.add_argument("--again", action="store_true", help="what survived the last run")
    given = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    names = written()
    random.Random(0).shuffle(names)
    typed = filter_mutants_with_type_checker()
    ends = {name: "typed" for name in names if name in typed}
    ends |= earlier() if given.resume or given.again else {}
    left = {"survived", "no tests"} if given.again else set()
    left |= {None} if given.resume or not given.again else set()
    wanted = [
        n for n in names if ends.get(n) in left and any(fnmatch(n, p) for p in given.patterns)
    ]
    os.chdir("mutants")
    selection = config().pytest_add_cli_args_test_selection
    code = pytest.main(["-q", "--rootdir=.", *selection], plugins=[Trial(wanted, ends, given)])
    os.chdir("..")
    kept(ends)
    left_open = shown(ends)
    ran = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    sys.exit(bool(left_open) if ran else int(code))


if __name__ == "__main__":
    main()
