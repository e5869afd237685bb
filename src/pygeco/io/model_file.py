"""Model files: `model.save(path)` and `pygeco.load(path)`.

A model is its settings and its fitted attributes. Both become a tree of plain values (see
`model_records`); arrays go beside it (see `container`).
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy

from pygeco.arrays.container import read, read_tree, write
from pygeco.errors import ModelFileError
from pygeco.io.model_checks import Check, check_attributes, check_types
from pygeco.io.model_records import Decoder, Encoder

T = TypeVar("T")

_MODELS: dict[str, type[Any]] = {}
# Parameters that are functions of the caller's, or where a model was: a file does not keep them.
_DROPPED = ("callback", "observer", "engine")


class Saveable:
    """An estimator that can be written to a file. `pygeco.load(path)` reads it."""

    # The checks of its fitted attributes, in order, and those of them that a file may lack.
    _contents: ClassVar[dict[str, Check]] = {}
    _may_lack: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        is_own = cls.__module__.split(".")[0] == "pygeco" and not cls.__name__.startswith("_")
        if is_own and cls._contents:  # else a base of others
            _MODELS[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Write the model to one file, completely or not at all; an existing file is replaced.

        The file holds the settings (except `callback`, `observer`, `engine`, and a `random_state`
        that is not an integer), everything that was fitted, ids, path and versions.

        Parameters
        ----------
        path : path
            The path of the file.

        Returns
        -------
        estimator
            Itself.
        """
        save(self, path)
        return self

    def fitted_attributes(self) -> dict[str, Any]:
        """Gather what a file keeps besides the settings.

        Returns
        -------
        dict
            By name.
        """
        settings = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in settings}

    def _restore(self, fitted: dict[str, Any]) -> None:
        """Take over what a file kept, once it has been checked."""
        for name, value in fitted.items():
            setattr(self, name, value)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; see `Saveable.save`."""
    kind = type(model).__name__
    if _MODELS.get(kind) is not type(model):
        raise TypeError(f"model: only pygeco's own estimators can be saved, not {kind}.")
    arrays: list[Any] = []
    encoder = Encoder(arrays)
    params = {name: _setting(name, it) for name, it in model.get_params(deep=False).items()}
    state = model.fitted_attributes()
    if not state:
        raise ValueError("model: is not fitted, so there is nothing to save; call fit first.")
    tree = {
        "model": kind,
        "versions": _versions(),
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": encoder.mapping(params),
        "fitted": encoder.mapping(state),
    }
    write(path, tree, arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load a model that `save` wrote; its predictions are the same to the last bit.

    A file that is cut short, damaged, foreign or too new, or whose parts do not match, raises
    `ModelFileError`.

    Parameters
    ----------
    path : path
        The path of the file.
    mmap : bool, default=False
        Leave the arrays in the file and read them when they are used, so that loading takes no
        time and processes that serve the same model share its memory. Checksums of the arrays are
        then not compared; only their shapes and types are checked.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Examples
    --------
    >>> import tempfile, pathlib, pygeco
    >>> from pygeco.data import make_ratings
    >>> model = pygeco.MatrixCompletion(random_state=0).fit(make_ratings((20, 15), 120))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "ratings.model"
    ...     again = pygeco.load(model.save(file) and file)
    >>> bool(again.predict([3], [4]) == model.predict([3], [4]))
    True
    """
    contents = read(path, mapped=mmap)
    name = os.fspath(path)
    tree = contents.tree
    kind = tree.get("model") if isinstance(tree, dict) else None
    if kind not in _MODELS:
        raise ModelFileError(f"{name} holds no model that this pygeco knows, but {kind!r}.")

    def build() -> Any:
        decode = Decoder(contents)
        settings = decode.mapping(tree["settings"])
        check_types(_MODELS[kind].__init__, settings)
        if not isinstance(settings.get("random_state"), int | None):
            raise ValueError("random_state is no integer")
        model = _MODELS[kind](**settings)
        fitted = decode.mapping(tree["fitted"])
        check_attributes(fitted, model._contents, model._may_lack, thorough=not mmap)
        model._restore(fitted)
        return model

    return explain_damage(name, build)


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the kind, versions and time of a model file from its header.

    Parameters
    ----------
    path : path
        The path of the file.

    Returns
    -------
    dict
        With the keys "model", "versions" and "saved".
    """
    tree = read_tree(path)
    if not isinstance(tree, dict) or tree.get("model") not in _MODELS:
        raise ModelFileError(f"{os.fspath(path)} holds no model that this pygeco knows.")
    return {name: tree.get(name) for name in ("model", "versions", "saved")}


def save_record(value: Any, path: str | os.PathLike[str]) -> None:
    """Any value that a model may hold, alone in a file."""
    arrays: list[Any] = []
    write(path, {"record": Encoder(arrays)(value)}, arrays)


def load_record(path: str | os.PathLike[str]) -> Any:
    """What `save_record` wrote."""
    contents = read(path)
    return explain_damage(os.fspath(path), lambda: Decoder(contents)(contents.tree["record"]))


def explain_damage(name: str, build: Callable[[], T]) -> T:
    """The result, or one sentence about a file whose header lies."""
    try:
        return build()
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"its description makes no sense ({error})"
        raise ModelFileError(f"{name} is damaged: {what}; take another copy.") from error
    except RecursionError as error:
        raise ModelFileError(f"{name} is damaged: its description has no end.") from error


def _setting(name: str, value: Any) -> Any:
    if name in _DROPPED:
        return None
    if name == "random_state" and not isinstance(value, (int, np.integer)):
        return None
    return value


def _versions() -> dict[str, str]:
    return {
        "pygeco": sys.modules["pygeco"].__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
