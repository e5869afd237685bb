"""Expressions over slabs, what a worker is told to make of them, and how it does so.

A `Node` is a function of other nodes and of constants, slab by slab. Nothing runs until `Grid`
needs a sum over slabs. A `Plan` is all that leads to a node's value; its `Program` is what a worker
runs for each of its slabs, as a task or to answer a question.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.fork_safety import ForkSafeLock
from pygeco.arrays.kinds import Array
from pygeco.engines.cpu.cells import cut_blocks
from pygeco.engines.cpu.engine import ENGINE
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.engines.dask import local, sweeps
from pygeco.engines.dask.adapter import TaskRef, thread_count
from pygeco.engines.dask.scratch_files import SlabFiles
from pygeco.engines.dask.slab_functions import OrderedSlab, add_parts, cell_field, identity

REPEATS_KEPT = 3  # times that a value is made before it is kept: keeping is one more task
REPEATS_TASKED = 4 * REPEATS_KEPT  # the same, where no task is made otherwise
VIEWS = (operator.getitem, cell_field)  # no work at all
MIN_SHARED_BYTES = 1 << 22  # of a constant, times slabs, to be sent once and passed on

# A task uses all threads of its worker; two at a time would only get in each other's way.
_LOCK = ForkSafeLock()


class Each(NamedTuple):
    """A constant of its own for each slab."""

    values: tuple[Any, ...]


class Location(NamedTuple):
    """Where a node's values are: one future a slab, and the place in what that holds."""

    futures: tuple[Any, ...]
    place: int | None


class History(NamedTuple):
    """How many tasks lead to a value one after the other, and the files at which they begin."""

    depth: int
    files: frozenset[SlabFiles]


class Node:
    """function(*args) on each slab; args are nodes, `Each`, and constants.

    A `costly` value is kept at once, another when it was made a few times; both only while
    somebody holds it. `name` is what the dashboard calls it.
    """

    def __init__(
        self, function: Callable[..., Any], *args: Any, costly: bool = False, name: str = ""
    ) -> None:
        # Copies: what runs later must see the numbers of now.
        args = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args)
        self.function, self.args, self.costly, self.name = function, args, costly, name
        self.location: Location | None = None
        self.holders, self.times_made = 0, 0
        self.may_be_filed = True  # whether a file is worth its while
        self.history = History(0, frozenset())
        self.memory: dict[str, Any] = {}  # what was found of it before
        self._hold(1)

    def __del__(self) -> None:
        self._hold(-1)

    def _hold(self, more: int) -> None:
        """A part of a value holds all of it."""
        if self.function is operator.getitem:
            self.args[0].holders += more

    @classmethod
    def of(cls, futures: tuple[Any, ...]) -> Node:
        """What tasks hold already."""
        node = cls(identity)
        node.location = Location(futures, None)
        return node

    def settle(self, location: Location, history: History) -> None:
        """From now on the values are there, and what led to them is not needed."""
        self._hold(-1)
        self.location, self.history = location, history
        self.function, self.args = identity, ()

    @property
    def is_worth_keeping(self) -> bool:
        """Whether to keep what is now being made."""
        often = self.times_made > REPEATS_KEPT and self.function not in VIEWS
        return self.holders > 0 and (self.costly or often)


class Plan:
    """What has to be made for a node, each after what it needs, and what of it is worth keeping."""

    def __init__(self, node: Node) -> None:
        self.node, self.order = node, _order(node)
        self.at = {id(step): place for place, step in enumerate(self.order)}
        for step in self.order:
            step.times_made += 1
        self.keep = [step for step in self.order if step.is_worth_keeping and step is not node]
        # What was cheap to make stays cheap for a while, where no task is made for it.
        self.needs_tasks = any(
            step.costly or step.times_made > REPEATS_TASKED for step in self.keep
        )

    def result(self, node: Node) -> Result:
        return Result(self.at[id(node)])

    def program(self, inputs: Inputs, keep: Sequence[Node] = ()) -> Program:
        """Instructions for it; what they are given is added to the inputs. Results: what is to be
        kept, and the node's value last.
        """

        def name_argument(arg: Any) -> Any:
            made = isinstance(arg, Node) and arg.location is None
            return self.result(arg) if made else inputs.ref(arg)

        instructions = [
            Instruction(s.function, tuple(map(name_argument, s.args))) for s in self.order
        ]
        wanted = tuple(self.at[id(step)] for step in [*keep, self.node])
        return Program(tuple(instructions), wanted)


def _order(node: Node) -> list[Node]:
    """What has to be made for a node, each after what it needs."""
    done: dict[int, Node] = {}

    def visit(step: Node) -> None:
        if step.location is None and id(step) not in done:
            for arg in step.args:
                if isinstance(arg, Node):
                    visit(arg)
            done[id(step)] = step

    visit(node)
    return list(done.values())


class Inputs:
    """What the slabs' programs are given: futures, and constants that differ or are `shared`."""

    def __init__(self, count: int, shared: Callable[[NDArray[Any]], TaskRef] | None = None) -> None:
        self.count, self.shared, self.size = count, shared, 0
        self.values: list[tuple[Any, ...]] = []
        self.futures: list[Any] = []
        self.depths: list[int] = []
        self.files: list[frozenset[SlabFiles]] = []
        self.known: dict[int, Input] = {}

    def ref(self, arg: Any) -> Any:
        """How an instruction names its argument."""
        if isinstance(arg, Node):
            assert arg.location is not None
            self.futures.extend(arg.location.futures)
            self.depths.append(arg.history.depth)
            self.files.append(arg.history.files)
            return self._input(id(arg), arg.location.futures)._replace(place=arg.location.place)
        if isinstance(arg, Each):
            self.size += sum(_byte_count(x) for x in arg.values)
            return self._input(id(arg.values), arg.values)
        size = arg.nbytes if isinstance(arg, np.ndarray) else 0
        self.size += size
        if self.shared is not None and size * self.count > MIN_SHARED_BYTES:
            if id(arg) in self.known:
                return self.known[id(arg)]
            return self._input(id(arg), (self.shared(arg),) * self.count)
        return arg

    def _input(self, name: int, values: tuple[Any, ...]) -> Input:
        if name not in self.known:
            self.known[name] = Input(len(self.values))
            self.values.append(values)
        return self.known[name]

    def of(self, slab: int) -> list[Any]:
        return [values[slab] for values in self.values]


class Input(NamedTuple):
    """What a task is given, or the part of it at a place."""

    at: int
    place: int | None = None


class Result(NamedTuple):
    """What an earlier instruction gave."""

    at: int


class Instruction(NamedTuple):
    function: Callable[..., Any]
    args: tuple[Any, ...]


class Program(NamedTuple):
    """Instructions in order, and which of their results are wanted."""

    instructions: tuple[Instruction, ...]
    wanted: tuple[int, ...]


def _byte_count(x: Any) -> int:
    return x.nbytes if isinstance(x, (np.ndarray, np.generic)) else 8


def run_task(program: Program, *inputs: Any) -> Any:
    """A task: the wanted results, in a tuple where they are several."""
    return run_program(program, inputs, thread_count())


def run_program(program: Program, inputs: Sequence[Any], threads: int) -> Any:
    """The same by as many threads, for a task or a question."""
    results: list[Any] = []

    def value(arg: Any) -> Any:
        if isinstance(arg, Input):
            return inputs[arg.at] if arg.place is None else inputs[arg.at][arg.place]
        return results[arg.at] if isinstance(arg, Result) else arg

    with _LOCK.lock, one_blas_thread():
        set_num_threads(threads)
        for function, args in program.instructions:
            results.append(function(*map(value, args)))
    found = tuple(results[at] for at in program.wanted)
    return found[0] if len(found) == 1 else found


def finish_sum(finish: Callable[..., Any], count: int, *args: Any) -> Any:
    """A task: finish(Σ of the first `count`, *rest)."""
    with _LOCK.lock, one_blas_thread():
        set_num_threads(thread_count())
        return finish(add_parts(*args[:count]), *args[count:])


def run_pass(
    what: str | Callable[..., Any],
    by_col: bool,
    part: slice | None,
    keywords: dict[str, Any],
    slab: OrderedSlab,
    values: Array,
    weights: Array,
    *args: Any,
) -> Any:
    """A pass over the slab, of the worker's engine where it is a name, with these values."""
    own = local.engine()
    if (
        not own.uses_host_arrays and what is not sweeps.column_tables
    ):  # whose kernel is for the cores
        call = getattr(own, what) if isinstance(what, str) else what
        call = partial(call, **keywords)
        return local.on_device(own, call, slab, by_col, part, values, weights, *args)
    cells = slab[by_col]._replace(values=values, weights=weights)
    if part is not None:
        pointers = cells.pointers[part.start : part.stop + 1]
        cells = cells._replace(pointers=pointers, blocks=cut_blocks(pointers - pointers[0]))
    call = getattr(ENGINE, what) if isinstance(what, str) else what
    return call(cells, *args, **keywords)
