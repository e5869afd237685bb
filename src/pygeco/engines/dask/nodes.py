"""Expressions over slabs: one value a slab, on the workers.

A `Node` is a function of other nodes and of constants, slab by slab. Nothing runs until `Grid`
needs a sum over slabs. A `Plan` is all that leads to a node's value, as a program that a task runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from dask._task_spec import TaskRef
from distributed import Future
from numpy.typing import NDArray

from pygeco.engines.dask import programs as work
from pygeco.engines.dask.programs import Input, Instruction, Program, Result
from pygeco.engines.dask.scratch_files import Anchor

CHEAP = 3  # times that a value is made before it is kept: keeping is one more task
OFTEN = 4 * CHEAP  # the same, where no task is made otherwise
VIEWS = (operator.getitem, work.field)  # no work at all
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


class Plan:
    """What has to be made for a node, each after what it needs, and what of it is worth keeping."""

    def __init__(self, node: Node) -> None:
        self.node, self.order = node, _order(node)
        self.at = {id(step): place for place, step in enumerate(self.order)}
        for step in self.order:
            step.made += 1
        self.keep = [step for step in self.order if step.worth and step is not node]
        # What was cheap to make stays cheap for a while, where no task is made for it.
        self.lasting = any(step.costly or step.made > OFTEN for step in self.keep)

    def result(self, node: Node) -> Result:
        return Result(self.at[id(node)])

    def program(self, inputs: Inputs, keep: Sequence[Node] = ()) -> Program:
        """Instructions for it; what they are given is added to the inputs. Results: what is to be
        kept, and the node's value last.
        """

        def named(arg: Any) -> Any:
            made = isinstance(arg, Node) and arg.kept is None
            return self.result(arg) if made else inputs.ref(arg)

        instructions = [Instruction(s.function, tuple(map(named, s.args))) for s in self.order]
        wanted = tuple(self.at[id(step)] for step in [*keep, self.node])
        return Program(tuple(instructions), wanted)


class Inputs:
    """What the slabs' programs are given: futures, and constants that differ or are `shared`."""

    def __init__(self, count: int, shared: Callable[[NDArray[Any]], TaskRef] | None = None) -> None:
        self.count, self.shared, self.size = count, shared, 0
        self.values: list[tuple[Any, ...]] = []
        self.futures: list[Any] = []
        self.depths: list[int] = []
        self.anchors: list[frozenset[Anchor]] = []
        self.known: dict[int, Input] = {}

    def ref(self, arg: Any) -> Any:
        """How an instruction names its argument."""
        if isinstance(arg, Node):
            assert arg.kept is not None
            self.futures.extend(arg.kept.futures)
            self.depths.append(arg.past.depth)
            self.anchors.append(arg.past.anchors)
            return self._input(id(arg), arg.kept.futures)._replace(place=arg.kept.place)
        if isinstance(arg, Each):
            self.size += sum(getattr(x, "nbytes", 8) for x in arg.values)
            return self._input(id(arg.values), arg.values)
        size = arg.nbytes if isinstance(arg, np.ndarray) else 0
        self.size += size
        if self.shared is not None and size * self.count > SHARED:
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


def refs(inputs: list[Any]) -> list[Any]:
    return [TaskRef(x.key) if isinstance(x, Future) else x for x in inputs]


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
