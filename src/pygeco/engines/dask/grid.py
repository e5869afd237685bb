"""Sums over slabs, where expressions over them are made.

One task a slab runs all that leads to a sum, and keeps what will be used again. Where nothing is to
be kept, the workers are asked without a task, see `adapter`. Every task is pure and its inputs are
other tasks, down to those that read the data, so that Dask runs them again where a worker died.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from distributed import Future
from numpy.typing import NDArray

from pygeco.engines.dask.adapter import Task, TaskRef, submit_graph, worker_calls
from pygeco.engines.dask.faults import explain_errors, watch
from pygeco.engines.dask.patience import await_futures, gather_values
from pygeco.engines.dask.programs import (
    Each,
    History,
    Input,
    Inputs,
    Instruction,
    Location,
    Node,
    Plan,
    Program,
    finish_sum,
    run_program,
    run_task,
)
from pygeco.engines.dask.scratch_files import Scratch, SlabFiles, load_value, save_value
from pygeco.engines.dask.slab_functions import add_parts, identity, pick

PARTS_PER_SUM = 8  # that are added in one task
MAX_CLIENT_SUM_BYTES = 1 << 14  # of a part up to which the client adds them itself
MAX_QUESTION_BYTES = 1 << 25  # that may pass through the scheduler for a question, or its answers
MAX_CHAIN_TASKS = 16  # one after the other, after which there is a file


class Grid:
    """Slabs on a cluster, and sums over them."""

    def __init__(self, client: Any, slabs: tuple[Any, ...]) -> None:
        self.client, self.count = client, len(slabs)
        self.slab, self.scratch = Node.of(slabs), Scratch(client)
        self.watch, self.calls = watch(client), worker_calls(client)
        self.numbers = itertools.count()
        self.name = uuid4().hex[:12]

    def total(self, node: Node, name: str, size: int = 0) -> Any:
        """Σ over slabs, on the client, in a fixed order: a tree over the slabs' numbers.

        `size` is about the bytes of a part: large ones are added on the workers.
        """
        return self.finish_total(node, name, None, (), size)

    def finish_total(
        self,
        node: Node,
        name: str,
        finish: Callable[..., Any] | None,
        args: tuple[Any, ...],
        size: int,
    ) -> Any:
        """finish(Σ over slabs, *args), on a worker where the sum is large."""
        plan = Plan(node)
        parts = self._ask_parts(plan, size)
        if parts is None and plan.keep and size * self.count <= MAX_QUESTION_BYTES:
            parts = self._keep_and_ask(plan, name)
        if parts is not None:
            while len(parts) > PARTS_PER_SUM:
                parts = [add_parts(*group) for group in _groups(parts)]
            found = add_parts(*parts)
            return found if finish is None else finish(found, *args)
        batch = _Batch(self, name)
        keys = batch.parts(plan)
        while len(keys) > PARTS_PER_SUM or (size > MAX_CLIENT_SUM_BYTES and len(keys) > 1):
            groups = _groups(keys)
            if len(groups) == 1 and finish is not None:
                last = batch.task("solve", finish_sum, finish, len(keys), *keys, *args)
                return batch.gather([last])[0]
            keys = [batch.task("sum", add_parts, *group) for group in groups]
        found = add_parts(*batch.gather(keys))
        return found if finish is None else finish(found, *args)

    def fetch_parts(self, node: Node, name: str) -> list[Any]:
        """The parts themselves, on the client."""
        batch = _Batch(self, name)
        return batch.gather(batch.parts(Plan(node)))

    def _ask_parts(self, plan: Plan, size: int) -> list[Any] | None:
        """The parts, where the workers can be asked for them. `size` is about that of a part."""
        if plan.needs_tasks or not plan.order or size * self.count > MAX_QUESTION_BYTES:
            return None
        inputs = Inputs(self.count)
        program = plan.program(inputs)
        if inputs.size * self.calls.worker_count > MAX_QUESTION_BYTES:
            return None
        with explain_errors(self.client):
            given = [inputs.of(t) for t in range(self.count)]
            return self.calls.ask(run_program, program, given)

    def _keep_and_ask(self, plan: Plan, name: str) -> list[Any]:
        """The parts, by tasks that keep what is worth it; the parts are then asked for."""
        batch, place = _Batch(self, name), len(plan.keep)
        tasks = batch.run_plan(plan)
        with explain_errors(self.client):
            sent = batch.send([])
            futures = tuple(sent[task.key] for task in tasks)
            await_futures(self.client, futures)
            batch.load_from_files()
            program = Program((Instruction(identity, (Input(0, place),)),), (0,))
            parts = self.calls.ask(run_program, program, [[future] for future in futures])
        self.watch.tell()
        if parts is None:
            batch = _Batch(self, name)
            parts = batch.gather(batch.pick(futures, place))
        return parts

    def futures(self, node: Node, name: str) -> tuple[Any, ...]:
        """The parts, each as a future of its own; from now on the node is kept there."""
        if node.location is None or node.location.place is not None:
            batch = _Batch(self, name)
            tasks = batch.parts(Plan(node))
            sent = batch.send([ref.key for ref in tasks])
            node.settle(Location(tuple(sent[ref.key] for ref in tasks), None), batch.history)
        assert node.location is not None
        return node.location.futures


class _Batch:
    """Tasks that are sent together."""

    def __init__(self, grid: Grid, name: str) -> None:
        self.grid, self.name = grid, name
        self.graph: dict[str, Task] = {}
        self.keep: list[tuple[Node, list[TaskRef], int]] = []
        self.used: list[Any] = []  # futures, so that they live until the tasks are there
        self.history = History(0, frozenset())
        self.files: list[tuple[Node, SlabFiles]] = []

    def task(self, step: str, function: Callable[..., Any], *args: Any) -> TaskRef:
        # The part before the first number is what the dashboard shows as a group of tasks.
        name = f"pygeco-{self.name}-{step}" if step else f"pygeco-{self.name}"
        key = f"{name}-{self.grid.name}{next(self.grid.numbers)}"
        self.graph[key] = Task(key, function, *args)
        return TaskRef(key)

    def parts(self, plan: Plan) -> list[TaskRef]:
        """Tasks with the node's values; what is worth keeping on the way is kept."""
        if plan.node.location is not None:
            return self.pick(*plan.node.location)
        tasks = self.run_plan(plan)
        if not plan.keep:
            return tasks
        return [self.task("pick", pick, task, len(plan.keep)) for task in tasks]

    def run_plan(self, plan: Plan) -> list[TaskRef]:
        """Tasks that give what is to be kept, and the node's values last."""
        keep, inputs = plan.keep, Inputs(self.grid.count, self._share)
        self.name = next((step.name for step in plan.order if step.name), self.name)
        program = plan.program(inputs, keep)
        self.used.extend(inputs.futures)
        depth = 1 + max(inputs.depths, default=0)
        self.history = History(depth, frozenset().union(*inputs.files))
        if depth >= MAX_CHAIN_TASKS and self.grid.scratch.root is not None:
            saving = self._save([step for step in keep if step.may_be_filed], inputs, plan)
            program = program._replace(instructions=(*program.instructions, *saving))
        tasks = [
            self.task("", run_task, program, *_refs(inputs.of(t))) for t in range(inputs.count)
        ]
        self.keep = [(step, tasks, place) for place, step in enumerate(keep)]
        return tasks

    def _share(self, array: NDArray[Any]) -> TaskRef:
        return self.task("share", identity, array)

    def _save(self, nodes: list[Node], inputs: Inputs, plan: Plan) -> list[Instruction]:
        """What writes these nodes' values to files."""
        for node in nodes:
            name = f"{self.grid.name}-{next(self.grid.numbers)}"
            self.files.append((node, self.grid.scratch.name_files(name, self.grid.count)))
        return [
            Instruction(save_value, (plan.result(node), inputs.ref(Each(files.paths))))
            for node, files in self.files
        ]

    def load_from_files(self) -> None:
        """Values whose files are written come from there from now on."""
        graph, count = {}, self.grid.count
        slabs = self.grid.slab.location.futures if self.grid.slab.location else ()
        for _, files in self.files:
            for path, slab in zip(files.paths, slabs, strict=True):
                key = f"pygeco-load-{self.grid.name}{next(self.grid.numbers)}"
                graph[key] = Task(key, load_value, path, TaskRef(slab.key))
        futures = submit_graph(self.grid.client, graph, list(graph)) if graph else []
        for place, (node, files) in enumerate(self.files):
            mine = tuple(futures[place * count : (place + 1) * count])
            node.settle(Location(mine, None), History(1, frozenset([files])))

    def pick(self, futures: tuple[Any, ...], place: int | None) -> list[TaskRef]:
        self.used.extend(futures)
        refs = [TaskRef(future.key) for future in futures]
        if place is None:
            return refs
        return [self.task("pick", pick, ref, place) for ref in refs]

    def send(self, keys: list[str]) -> dict[str, Any]:
        """Send the tasks: futures of these keys, and of what is kept."""
        kept = [ref.key for _, tasks, _ in self.keep for ref in tasks]
        wanted = list(dict.fromkeys([*kept, *(key for key in keys if key in self.graph)]))
        sent = {future.key: future for future in self.used}
        if wanted:
            futures = submit_graph(self.grid.client, self.graph, wanted)
            sent |= dict(zip(wanted, futures, strict=True))
        for node, tasks, place in self.keep:
            node.settle(Location(tuple(sent[ref.key] for ref in tasks), place), self.history)
        return sent

    def gather(self, refs: list[TaskRef]) -> list[Any]:
        """Send the tasks, and fetch these values."""
        client = self.grid.client
        keys = [ref.key for ref in refs]
        with explain_errors(client):
            sent = self.send(keys)
            found = gather_values(client, [sent[key] for key in keys])
            self.load_from_files()
        self.grid.watch.tell()
        return found


def _groups(parts: list[Any]) -> list[list[Any]]:
    """Those that are added together."""
    return [parts[at : at + PARTS_PER_SUM] for at in range(0, len(parts), PARTS_PER_SUM)]


def _refs(inputs: list[Any]) -> list[Any]:
    return [TaskRef(x.key) if isinstance(x, Future) else x for x in inputs]
