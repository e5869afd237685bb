"""Spoils valid files and gives them to their reader; a program, for it may die of what it finds.

    python fuzzing.py TARGET|all RUNS FOLDER [--guided]

Each input is a valid file with a few bytes changed, cut, doubled or put together from two. With
--guided, atheris (libFuzzer) chooses them, by what of the package's code they reach. The process
has little memory to itself, a time for each input, and every warning is an error. The last input
is in FOLDER/work, and FOLDER/told says in JSON how many were read and how many refused.
"""

import faulthandler
import json
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import FunctionType

from file_formats import DOCUMENTED, TARGETS, Target, little_memory

READERS = (
    *("pygeco.data", "pygeco.io.tables", "pygeco.arrays.container", "pygeco.io.model_file"),
    *("pygeco.io.model_records", "pygeco.estimators._checkpoint"),
)
ROOM = 1 << 30  # beyond what the process needs itself
SECONDS = 30  # for one input
INTERESTING = (
    b"0",
    b"-1",
    b"nan",
    b"inf",
    b"1e308",
    b"4e-320",
    b"999999999999",
    b"\xff\xff\xff\xff",
)
SIGNS = (b",", b"::", b"\n", b"\r", b'"', b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"=1+1")


def spoiled(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """`data` with one to four changes."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(found) + 1)
        size = min(rng.choice((1, 1, 2, 4, 8, 40)), len(found) - at)
        kind = rng.randrange(7)
        if kind == 0 and found:
            found[at % len(found)] ^= 1 << rng.randrange(8)
        elif kind == 1 and found:
            found[at % len(found)] = rng.randrange(256)
        elif kind == 2:
            del found[at : at + size]
        elif kind == 3:
            found[at:at] = found[at : at + size] * rng.choice((1, 2, 50))
        elif kind == 4:
            found[at : at + size] = rng.choice(INTERESTING + SIGNS)
        elif kind == 5:
            found[at:] = other[rng.randrange(len(other) + 1) :]
        else:
            number = rng.choice((0, 1, 2**31 - 1, 2**40, 2**63 - 1, 2**64 - 1))
            found[at : at + 8] = number.to_bytes(8, "little")
    return bytes(found)


class Trial:
    """One reader, given files; counts what came of them."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.seeds = target, target.seeds()
        self.path = folder / "work" / f"input{target.ending}"
        self.path.parent.mkdir(exist_ok=True)
        self.told = folder / "told"
        self.counts: Counter[str] = Counter()

    def __call__(self, data: bytes) -> None:
        pack = self.target.pack
        content = pack[len(data) % len(pack)](data)
        self.path.write_bytes(content)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            self.target.read(self.path)
            self.counts["read"] += 1
        except DOCUMENTED as error:
            text = str(error)
            assert text.strip(), "no sentence"
            assert "\n" not in text, f"not one sentence: {text!r}"
            self.counts["refused"] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()
        if self.counts.total() % 50 == 0:  # libFuzzer leaves without a word
            self.told.write_text(json.dumps(self.counts))


def main() -> None:
    name, runs, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    names = list(TARGETS) if name == "all" else [name]
    trials = {name: Trial(TARGETS[name], folder) for name in names}
    for trial in trials.values():
        for seed in trial.seeds:
            trial(seed)  # compiles and loads what it needs before memory gets short
        assert trial.counts["read"], "no seed is a valid file"
    warnings.simplefilter("error")
    with little_memory(ROOM):
        if "--guided" in sys.argv:
            guide(trials[name], runs, folder)
        for key, trial in trials.items():
            rng = random.Random(key)
            for _ in range(runs):
                trial(spoiled(rng.choice(trial.seeds), rng.choice(trial.seeds), rng))
    total = sum((trial.counts for trial in trials.values()), Counter())
    (folder / "told").write_text(json.dumps(total))


def watched(atheris) -> None:
    """Let atheris see which branches of the readers are taken."""
    for name in [name for name in sys.modules if name.startswith(READERS)]:
        module = sys.modules[name]
        inside = [one for one in vars(module).values() if getattr(one, "__module__", "") == name]
        for kind in [one for one in inside if isinstance(one, type)]:
            inside += [one for one in vars(kind).values() if isinstance(one, FunctionType)]
        for one in inside:
            function = getattr(one, "__wrapped__", one)
            if isinstance(function, FunctionType):
                atheris.instrument_func(function)


def guide(trial: Trial, runs: int, folder: Path) -> None:
    """libFuzzer chooses the inputs; it ends the process itself."""
    import atheris

    watched(atheris)
    inputs = folder / "inputs"
    inputs.mkdir()
    for k, seed in enumerate(trial.seeds):
        (inputs / str(k)).write_bytes(seed)
    longest = 2 * max(map(len, trial.seeds))
    arguments = [f"-runs={runs}", "-seed=1", f"-max_len={longest}", f"-artifact_prefix={folder}/"]
    arguments += ["-rss_limit_mb=0", f"-timeout={SECONDS}", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *arguments, *sys.argv[5:], str(inputs)], trial)
    atheris.Fuzz()


if __name__ == "__main__":
    faulthandler.enable()
    main()
