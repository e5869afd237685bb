"""A loss of the user's own in a model file: by reference, the module and the name.

A file cannot hold code. It says where the loss is, `shop.losses:Gamma`, and with which numbers. It
is taken from modules that the program has imported itself, and only if it is a loss: a file
never makes a program import or call anything else.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from pygeco.errors import ModelFileError
from pygeco.losses.base import Loss
from pygeco.losses.custom import Custom


class Reference(NamedTuple):
    """Where a loss is found again; `state` are the attributes of an object of a class there."""

    module: str
    name: str
    state: dict[str, Any] | None


def reference_of(loss: Loss) -> Reference:
    """The module-level object that this loss is a copy of, or its class and its attributes."""
    kind = type(loss)
    if isinstance(loss, Custom):
        home = str(loss._value.__module__)
        for name, other in vars(sys.modules[home]).items() if home in sys.modules else ():
            if type(other) is kind and vars(other) == vars(loss):  # functions are equal if the same
                return Reference(home, name, None)
    elif "<" not in kind.__qualname__:
        return Reference(kind.__module__, kind.__qualname__, dict(vars(loss)))
    raise TypeError(
        "a loss of your own is kept by its module and name; define this one at the top level of a "
        f"module, as my_loss = {kind.__name__}(...) or as a class, and use that."
    )


def loss_at(module: str, name: str, state: dict[str, Any] | None) -> Loss:
    """The loss that a reference stands for, from the modules imported so far."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if state is None and isinstance(found, Loss):
        return found
    if state is not None and isinstance(found, type) and issubclass(found, Loss):
        loss = found.__new__(found)
        vars(loss).update(state)
        return loss
    where = f"import {module} first" if module not in sys.modules else f"define it in {module}"
    raise ModelFileError(
        f"the model was fitted with the loss {name} of {module}, which is not here; {where}, and "
        "load the model again."
    )
