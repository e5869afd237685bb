"""A fit changes an estimator as a whole, once it has succeeded, or not at all."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, runtime_checkable

Arguments = ParamSpec("Arguments")
Estimator = TypeVar("Estimator")


@runtime_checkable
class ModelListener(Protocol):
    """A callback that is also shown the model in the making, before its first step.

    The model's ids, loss and offsets are known then. The estimator that is being fitted knows
    nothing of them until the fit has succeeded.
    """

    def on_model(self, model: Any) -> None: ...


def all_or_nothing(
    method: Callable[Concatenate[Estimator, Arguments], Any],
) -> Callable[Concatenate[Estimator, Arguments], Estimator]:
    """Run a method on a copy, and take over what it did once it has returned.

    An error or an interrupt leaves the estimator as it was, and another thread never meets the
    new ids beside the old factors. The copy is shallow: a method replaces values, and never
    writes into them.
    """

    @wraps(method)
    def run_on_copy(self: Estimator, /, *args: Arguments.args, **settings: Arguments.kwargs) -> Any:
        draft = copy.copy(self)
        method(draft, *args, **settings)
        self.__dict__ = vars(draft)  # one assignment, which no signal can halve
        return self

    return run_on_copy
