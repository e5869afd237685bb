"""Sums over slabs, where expressions over them are made.

One task a slab runs all that leads to a sum, and keeps what will be used again. Where nothing is to
be kept, the workers are asked without a task, see `asks`. Every task is pure and its inputs are
other tasks, down to those that read the data, so that Dask runs them again where a worker died.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import dask
from dask._expr import LLGExpr
from dask._task_spec import Task, TaskRef
from numpy.typing import NDArray

from pygeco.engines.dask import programs as work
from pygeco.engines.dask.faults import clear_words, watch
from pygeco.engines.dask.nodes import Each, Inputs, Kept, Node, Past, Plan, refs
from pygeco.engines.dask.patience import awaited, gathered
from pygeco.engines.dask.programs import Input, Instruction, Program
from pygeco.engines.dask.rpc import MOST, asks
from pygeco.engines.dask.scratch_files import DEEP, Anchor, Scratch, loaded, saved

FAN = 8  # parts that are added in one task
DIRECT = 1 << 14  # bytes of a part up to which the client adds them itself


class Grid:
    """Slabs on a cluster, and sums over them."""

    def __init__(self, client: Any, slabs: tuple[Any, ...]) -> None:
        self.client, self.count = client, len(slabs)
        self.slab, self.scratch = Node.of(slabs), Scratch(client)
        self.watch, self.asks = watch(client), asks(client)
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
        plan = Plan(node)
        parts = self._asked(plan, size)
        if parts is None and plan.keep and size * self.count <= MOST:
            parts = self._kept(plan, name)
        if parts is not None:
            while len(parts) > FAN:
                parts = [work.added(*parts[at : at + FAN]) for at in range(0, len(parts), FAN)]
            found = work.added(*parts)
            return found if finish is None else finish(found, *args)
        batch = _Batch(self, name)
        keys = batch.parts(plan)
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
        return batch.gather(batch.parts(Plan(node)))

    def _asked(self, plan: Plan, size: int) -> list[Any] | None:
        """The parts, where the workers can be asked for them. `size` is about that of a part."""
        if plan.lasting or not plan.order or size * self.count > MOST:
            return None
        inputs = Inputs(self.count)
        program = plan.program(inputs)
        if inputs.size * self.asks.workers > MOST:
            return None
        with clear_words(self.client):
            return self.asks.parts(program, [inputs.of(t) for t in range(self.count)])

    def _kept(self, plan: Plan, name: str) -> list[Any]:
        """The parts, by tasks that keep what is worth it; the parts are then asked for."""
        batch, place = _Batch(self, name), len(plan.keep)
        tasks = batch.runs(plan)
        with clear_words(self.client):
            sent = batch.send([])
            futures = tuple(sent[task.key] for task in tasks)
            awaited(self.client, futures)
            batch.loading()
            pick = Program((Instruction(work.same, (Input(0, place),)),), (0,))
            parts = self.asks.parts(pick, [[future] for future in futures])
        self.watch.tell()
        if parts is None:
            batch = _Batch(self, name)
            parts = batch.gather(batch.picked(futures, place))
        return parts

    def submit(self, graph: dict[str, Task], wanted: list[str]) -> list[Any]:
        """Futures of some tasks of a graph. Its name is made up: to hash all numbers takes long."""
        sent = LLGExpr(graph, _determ_token=uuid4().hex)
        return list(self.client.get(sent, wanted, sync=False))

    def futures(self, node: Node, name: str) -> tuple[Any, ...]:
        """The parts, each as a future of its own; from now on the node is kept there."""
        if node.kept is None or node.kept.place is not None:
            batch = _Batch(self, name)
            tasks = batch.parts(Plan(node))
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

    def parts(self, plan: Plan) -> list[TaskRef]:
        """Tasks with the node's values; what is worth keeping on the way is kept."""
        if plan.node.kept is not None:
            return self.picked(*plan.node.kept)
        tasks = self.runs(plan)
        if not plan.keep:
            return tasks
        return [self.task("pick", work.pick, task, len(plan.keep)) for task in tasks]

    def runs(self, plan: Plan) -> list[TaskRef]:
        """Tasks that give what is to be kept, and the node's values last."""
        keep, inputs = plan.keep, Inputs(self.grid.count, self._shared)
        self.name = next((step.name for step in plan.order if step.name), self.name)
        program = plan.program(inputs, keep)
        self.used.extend(inputs.futures)
        self.past = Past(1 + max(inputs.depths, default=0), frozenset().union(*inputs.anchors))
        if self.past.depth >= DEEP and self.grid.scratch.root is not None:
            saving = self._saving([step for step in keep if step.lasting], inputs, plan)
            program = program._replace(instructions=(*program.instructions, *saving))
        tasks = [self.task("", work.run, program, *refs(inputs.of(t))) for t in range(inputs.count)]
        self.keep = [(step, tasks, place) for place, step in enumerate(keep)]
        return tasks

    def _shared(self, array: NDArray[Any]) -> TaskRef:
        return self.task("share", work.same, array)

    def _saving(self, nodes: list[Node], inputs: Inputs, plan: Plan) -> list[Instruction]:
        """What writes these nodes' values to files."""
        for node in nodes:
            name = f"{self.grid.name}-{next(self.grid.numbers)}"
            self.files.append((node, self.grid.scratch.anchor(name, self.grid.count)))
        return [
            Instruction(saved, (plan.result(node), inputs.ref(Each(anchor.paths))))
            for node, anchor in self.files
        ]

    def loading(self) -> None:
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

    def picked(self, futures: tuple[Any, ...], place: int | None) -> list[TaskRef]:
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
            found = gathered(client, [sent[key] for key in keys])
            self.loading()
        self.grid.watch.tell()
        return found
