"""Expressions over slabs: one value a slab, on the workers, made when a sum of them is asked for.

A `Node` is a function of other nodes and of constants, slab by slab. Nothing runs until `Grid`
needs a sum over slabs: then one task a slab runs all that leads to it, and keeps what will be used
again. Every task is pure and its inputs are other tasks, down to those that read the data, so
that Dask runs them again where a worker died.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask._expr import LLGExpr
from dask._task_spec import Task, TaskRef

from pygeco.engines.dask import work
from pygeco.engines.dask.anchors import DEEP, Anchor, Scratch, loaded, saved
from pygeco.engines.dask.faults import clear_words, watch
from pygeco.engines.dask.work import Input, Instruction, Program, Result

CHEAP = 3  # times that a value is made before it is kept: keeping is one more task
VIEWS = (operator.getitem, work.field)  # no work at all
FAN = 8  # parts that are added in one task
DIRECT = 1 << 14  # bytes of a part up to which the client adds them itself
SHARED = 1 << 22  # bytes of a constant, times slabs, from which on it is sent once and passed on


class Each(NamedTuple):
    """A constant of its own for each slab."""

    values: tuple[Any, ...]


class Kept(NamedTuple):
    """Where a node's values are: one future a slab, and the place in what that holds."""

    futures: tuple[Any, ...]
    place: int | None


class Past(NamedTuple):
    """How many tasks lead to a value one after the other, and the files at which they begin."""

    depth: int
    anchors: frozenset[Anchor]


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
        self.kept: Kept | None = None
        self.held, self.made = 0, 0
        self.lasting = True  # whether it may be worth a file
        self.past = Past(0, frozenset())
        self.memory: dict[str, Any] = {}  # what was found of it before
        self._hold(1)

    def __del__(self) -> None:
        self._hold(-1)

    def _hold(self, more: int) -> None:
        """A part of a value holds all of it."""
        if self.function is operator.getitem:
            self.args[0].held += more

    @classmethod
    def of(cls, futures: tuple[Any, ...]) -> Node:
        """What tasks hold already."""
        node = cls(work.same)
        node.kept = Kept(futures, None)
        return node

    def settle(self, kept: Kept, past: Past) -> None:
        """From now on the values are there, and what led to them is not needed."""
        self._hold(-1)
        self.kept, self.function, self.args, self.past = kept, work.same, (), past

    @property
    def worth(self) -> bool:
        """Whether to keep what is now being made."""
        often = self.made > CHEAP and self.function not in VIEWS
        return self.held > 0 and (self.costly or often)


class Grid:
    """Slabs on a cluster, and sums over them."""

    def __init__(self, client: Any, slabs: tuple[Any, ...]) -> None:
        self.client, self.count = client, len(slabs)
        self.slab, self.scratch = Node.of(slabs), Scratch(client)
        self.watch = watch(client)
        self.numbers = itertools.count()
        self.name = uuid4().hex[:12]

    def total(self, node: Node, name: str, size: int = 0) -> Any:
        """Σ over slabs, on the client, in a fixed order: a tree over the slabs' numbers.

        `size` is about the bytes of a part: large ones are added on the workers.
        """
        return self.finished(node, name, None, (), size)

    def finished(
        self,
        node: Node,
        name: str,
        finish: Callable[..., Any] | None,
        args: tuple[Any, ...],
        size: int,
    ) -> Any:
        """finish(Σ over slabs, *args), on a worker where the sum is large."""
        batch = _Batch(self, name)
        keys = batch.parts(node)
        while len(keys) > FAN or (size > DIRECT and len(keys) > 1):
            groups = [keys[at : at + FAN] for at in range(0, len(keys), FAN)]
            if len(groups) == 1 and finish is not None:
                last = batch.task("solve", work.together, finish, len(keys), *keys, *args)
                return batch.gather([last])[0]
            keys = [batch.task("sum", work.added, *group) for group in groups]
        found = work.added(*batch.gather(keys))
        return found if finish is None else finish(found, *args)

    def all(self, node: Node, name: str) -> list[Any]:
        """The parts themselves, on the client."""
        batch = _Batch(self, name)
        return batch.gather(batch.parts(node))

    def submit(self, graph: dict[str, Task], wanted: list[str]) -> list[Any]:
        """Futures of some tasks of a graph. Its name is made up: to hash all numbers takes long."""
        sent = LLGExpr(graph, _determ_token=uuid4().hex)
        return list(self.client.get(sent, wanted, sync=False))

    def futures(self, node: Node, name: str) -> tuple[Any, ...]:
        """The parts, each as a future of its own; from now on the node is kept there."""
        if node.kept is None or node.kept.place is not None:
            batch = _Batch(self, name)
            tasks = batch.parts(node)
            sent = batch.send([ref.key for ref in tasks])
            node.settle(Kept(tuple(sent[ref.key] for ref in tasks), None), batch.past)
        assert node.kept is not None
        return node.kept.futures


class _Batch:
    """Tasks that are sent together."""

    def __init__(self, grid: Grid, name: str) -> None:
        self.grid, self.name = grid, name
        self.graph: dict[str, Task] = {}
        self.keep: list[tuple[Node, list[TaskRef], int]] = []
        self.used: list[Any] = []  # futures, so that they live until the tasks are there
        self.past = Past(0, frozenset())
        self.files: list[tuple[Node, Anchor]] = []

    def task(self, step: str, function: Callable[..., Any], *args: Any) -> TaskRef:
        # The part before the first number is what the dashboard shows as a group of tasks.
        name = f"pygeco-{self.name}-{step}" if step else f"pygeco-{self.name}"
        key = f"{name}-{self.grid.name}{next(self.grid.numbers)}"
        self.graph[key] = Task(key, function, *args)
        return TaskRef(key)

    def parts(self, node: Node) -> list[TaskRef]:
        """Tasks with the node's values; what is worth keeping on the way is kept."""
        if node.kept is not None:
            return self._picked(*node.kept)
        order = _order(node)
        self.name = next((step.name for step in order if step.name), self.name)
        inputs, at = _Inputs(self), dict[int, int]()
        instructions: list[Instruction] = []
        for step in order:
            step.made += 1
            at[id(step)] = len(instructions)
            args = tuple(inputs.ref(arg, at) for arg in step.args)
            instructions.append(Instruction(step.function, args))
        keep = [step for step in order if step.worth and step is not node]
        self.past = Past(1 + max(inputs.depths, default=0), frozenset().union(*inputs.anchors))
        if self.past.depth >= DEEP and self.grid.scratch.root is not None:
            instructions += self._saving([step for step in keep if step.lasting], inputs, at)
        wanted = tuple(at[id(step)] for step in [*keep, node])
        program = Program(tuple(instructions), wanted)
        tasks = [self.task("", work.run, program, *inputs.of(t)) for t in range(self.grid.count)]
        if not keep:
            return tasks
        self.keep = [(step, tasks, place) for place, step in enumerate(keep)]
        return [self.task("pick", work.pick, task, len(keep)) for task in tasks]

    def _saving(self, nodes: list[Node], inputs: _Inputs, at: dict[int, int]) -> list[Instruction]:
        """What writes these nodes' values to files."""
        for node in nodes:
            name = f"{self.grid.name}-{next(self.grid.numbers)}"
            self.files.append((node, self.grid.scratch.anchor(name, self.grid.count)))
        return [
            Instruction(saved, (Result(at[id(node)]), inputs.ref(Each(anchor.paths), at)))
            for node, anchor in self.files
        ]

    def _loading(self) -> None:
        """Values whose files are written come from there from now on."""
        graph, count = {}, self.grid.count
        slabs = self.grid.slab.kept.futures if self.grid.slab.kept else ()
        for _, anchor in self.files:
            for path, slab in zip(anchor.paths, slabs, strict=True):
                key = f"pygeco-load-{self.grid.name}{next(self.grid.numbers)}"
                graph[key] = Task(key, loaded, path, TaskRef(slab.key))
        futures = self.grid.submit(graph, list(graph)) if graph else []
        for place, (node, anchor) in enumerate(self.files):
            mine = tuple(futures[place * count : (place + 1) * count])
            node.settle(Kept(mine, None), Past(1, frozenset([anchor])))

    def _picked(self, futures: tuple[Any, ...], place: int | None) -> list[TaskRef]:
        self.used.extend(futures)
        refs = [TaskRef(future.key) for future in futures]
        if place is None:
            return refs
        return [self.task("pick", work.pick, ref, place) for ref in refs]

    def send(self, keys: list[str]) -> dict[str, Any]:
        """Send the tasks: futures of these keys, and of what is kept."""
        kept = [ref.key for _, tasks, _ in self.keep for ref in tasks]
        wanted = list(dict.fromkeys([*kept, *(key for key in keys if key in self.graph)]))
        sent = {future.key: future for future in self.used}
        if wanted:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                futures = self.grid.submit(self.graph, wanted)
            sent |= dict(zip(wanted, futures, strict=True))
        for node, tasks, place in self.keep:
            node.settle(Kept(tuple(sent[ref.key] for ref in tasks), place), self.past)
        return sent

    def gather(self, refs: list[TaskRef]) -> list[Any]:
        """Send the tasks, and fetch these values."""
        client = self.grid.client
        keys = [ref.key for ref in refs]
        with clear_words(client):
            sent = self.send(keys)
            found = client.gather([sent[key] for key in keys])
            self._loading()
        self.grid.watch.tell()
        return list(found)


class _Inputs:
    """What the tasks of a program are given: futures, and constants that differ or are large."""

    def __init__(self, batch: _Batch) -> None:
        self.batch = batch
        self.values: list[tuple[Any, ...]] = []
        self.depths: list[int] = []
        self.anchors: list[frozenset[Anchor]] = []
        self.known: dict[int, Input] = {}

    def ref(self, arg: Any, results: dict[int, int]) -> Any:
        """How an instruction names its argument."""
        if isinstance(arg, Node) and arg.kept is None:
            return Result(results[id(arg)])
        count = self.batch.grid.count
        if isinstance(arg, Node) and arg.kept is not None:
            self.batch.used.extend(arg.kept.futures)
            self.depths.append(arg.past.depth)
            self.anchors.append(arg.past.anchors)
            refs = tuple(TaskRef(future.key) for future in arg.kept.futures)
            return self._input(id(arg), refs)._replace(place=arg.kept.place)
        if isinstance(arg, Each):
            return self._input(id(arg.values), arg.values)
        if isinstance(arg, np.ndarray) and arg.nbytes * count > SHARED:
            if id(arg) in self.known:
                return self.known[id(arg)]
            return self._input(id(arg), (self.batch.task("share", work.same, arg),) * count)
        return arg

    def _input(self, name: int, values: tuple[Any, ...]) -> Input:
        if name not in self.known:
            self.known[name] = Input(len(self.values))
            self.values.append(values)
        return self.known[name]

    def of(self, slab: int) -> list[Any]:
        return [values[slab] for values in self.values]


def _order(node: Node) -> list[Node]:
    """What has to be made for a node, each after what it needs."""
    done: dict[int, Node] = {}

    def visit(step: Node) -> None:
        if step.kept is None and id(step) not in done:
            for arg in step.args:
                if isinstance(arg, Node):
                    visit(arg)
            done[id(step)] = step

    visit(node)
    return list(done.values())
