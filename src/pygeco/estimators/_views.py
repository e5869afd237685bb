"""Fitted attributes that are parts of the fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, Protocol, TypeVar, overload

from pygeco.models import FittedModel

Part = TypeVar("Part")


class HasModel(Protocol):
    model_: FittedModel


class View(Generic[Part]):
    """`part(estimator.model_)` under the name of a fitted attribute; there is none before a fit."""

    def __init__(self, part: Callable[[FittedModel], Part]) -> None:
        self.part = part

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, estimator: None, owner: type) -> View[Part]: ...
    @overload
    def __get__(self, estimator: HasModel, owner: type) -> Part: ...
    def __get__(self, estimator: HasModel | None, owner: type) -> View[Part] | Part:
        if estimator is None:
            return self
        if "model_" not in vars(estimator):
            raise AttributeError(f"{owner.__name__!r} is not fitted, so it has no {self.name!r}.")
        return self.part(estimator.model_)

    def __set__(self, estimator: HasModel, value: Any) -> NoReturn:
        raise AttributeError(
            f"{self.name}: is a part of `model_`, which is frozen; assign a model that has another "
            "one, by dataclasses.replace."
        )
