"""Arrays of any kind: NumPy's, or those of a device.

NumPy's functions and operators give, for arrays of another kind, that kind (NEP 13 and 18). What
makes an array from nothing, or from numbers of the host, must be told of which kind: it is here.

One rule says what lives where: m, n or |E| numbers are kept where the data are; singular values,
cores and priors, s or s² numbers, stay on the host, where small algebra is fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.coded import Coded
from pygeco.arrays.tall import (
    multiply,
    multiply_columns,
    multiply_rows,
    multiply_transposed,
    stack_columns,
)

Array = NDArray[np.floating[Any]]

HOST: Array = np.zeros(0)


def kind(x: Any) -> Array:
    """An array of the kind that an objective or an operator works with; NumPy's by default."""
    return getattr(x, "kind", HOST)


def foreign(x: Any) -> bool:
    """Whether x is an array of a device: NumPy's functions dispatch to it, and `get` fetches it."""
    return not isinstance(x, np.ndarray) and hasattr(x, "__array_function__") and hasattr(x, "get")


def distant(x: Any) -> bool:
    """Whether each number that is asked of such arrays is a journey: few at once are better."""
    return bool(getattr(x, "distant", False))


def once(x: Any) -> Any:
    """The same, which is used once: where it is not at hand it need not be kept."""
    return x.once() if distant(x) else x


def fill_masked(x: Any) -> Any:
    """A masked array as a plain one, with NaN where it is masked; of a tuple, each of its parts.

    Whole numbers become float64 if any is masked; text and dates become objects, with None.
    Anything else is as it was.
    """
    if isinstance(x, tuple):
        return tuple(fill_masked(part) for part in x)
    if not isinstance(x, np.ma.MaskedArray):
        return x
    gaps = np.ma.getmaskarray(x)
    if not gaps.any():
        return x.data
    kinds = {"f": x.dtype, "c": x.dtype, "i": float, "u": float, "b": float}
    out = x.data.astype(kinds.get(x.dtype.kind, object))
    out[gaps] = None if out.dtype == object else np.nan
    return out


def as_array(x: ArrayLike) -> NDArray[Any]:
    """The same where it is an array of any kind, coded or not, else one of NumPy's."""
    if foreign(x) or isinstance(x, Coded):
        return x  # type: ignore[return-value]
    return np.asarray(fill_masked(x))


def as_index(x: NDArray[Any]) -> NDArray[Any]:
    """The same; integers where it is empty, for of an empty list NumPy makes floats."""
    return x if x.size else x.astype(np.int64)


def on(x: ArrayLike, like: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """Numbers of the host, or an array of that kind already, as an array like `like`."""
    return np.asarray(fill_masked(x), dtype=dtype, like=like)


def host(x: Any) -> NDArray[Any]:
    """The numbers of an array of any kind as a NumPy array."""
    return x.get() if foreign(x) else np.asarray(x)


def draw_like(
    function: Callable[..., NDArray[Any]], rng: np.random.Generator, x: Array, *others: Array
) -> Array:
    """function(rng, x, *others), drawn on the host, of the kind of x, one number for each of x.

    Where x is not at hand, each of its parts is drawn where it is, from a stream of its own.
    """
    if distant(x):
        found: Array = x.draw(function, rng, *others)  # type: ignore[attr-defined]
        return found
    return on(function(rng, *(host(each) for each in (x, *others))), x)


def look_up(table: Array, index: NDArray[np.integer[Any]]) -> Array:
    """The numbers of a small table at these places, where the places are."""
    if distant(index):
        found: Array = index.look_up(table)  # type: ignore[attr-defined]
        return found
    return table[index]


def answer(x: Any, *asked: Any) -> Any:
    """An answer of the kind in which it was asked for: on the host, unless by a device's arrays."""
    return x if any(foreign(given) for given in asked) else host(x)


def empty(shape: int | tuple[int, ...], like: NDArray[Any], dtype: Any = float) -> NDArray[Any]:
    return np.empty(shape, dtype, like=like)


def zeros(shape: int | tuple[int, ...], like: NDArray[Any], dtype: Any = float) -> NDArray[Any]:
    return np.zeros(shape, dtype, like=like)


def full(shape: int | tuple[int, ...], value: float, like: NDArray[Any], dtype: Any = float) -> Any:
    out = empty(shape, like, dtype)
    out[...] = value
    return out


def ones(shape: int | tuple[int, ...], like: NDArray[Any], dtype: Any = float) -> NDArray[Any]:
    return full(shape, 1.0, like, dtype)


def contiguous(x: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """The same numbers, row after row in memory."""
    dtype = np.dtype(x.dtype if dtype is None else dtype)
    if (
        isinstance(x, np.ndarray)
        and x.ndim == 2
        and not (x.flags.c_contiguous and x.dtype == dtype)
    ):
        return stack_columns([x], dtype)
    return x.astype(dtype, order="C", copy=False)


def stack(parts: Sequence[NDArray[Any]], dtype: Any = None) -> NDArray[Any]:
    """The columns of tall arrays (m, k) or (m,) of one kind side by side, row after row."""
    if any(map(foreign, parts)):
        found = np.column_stack(parts)
        return found if dtype is None else contiguous(found, dtype)
    return stack_columns(parts, np.result_type(*parts) if dtype is None else dtype)


def times(X: Array, B: Array) -> Array:
    """X B for a tall X of any kind and a small B of the host."""
    if distant(X):  # which mixes with B as it is; of its kind, a B with as many lines is tall too
        return X @ B
    return X @ on(B, X) if foreign(X) else multiply(X, np.asarray(B))


def scaled(X: Array, s: Array) -> Array:
    """X diag(s) for a tall X of any kind and a small s of the host."""
    return X * on(s, X) if foreign(X) else multiply_columns(X, np.asarray(s))


def scaled_rows(X: Array, r: Array) -> Array:
    """diag(r) X for a tall X and an r of any kind."""
    return r[:, None] * X if foreign(X) or foreign(r) else multiply_rows(X, r)


def inner(X: Array, Y: Array) -> Array:
    """XᵀY of two tall arrays, on the host."""
    return host(X.T @ Y) if foreign(X) or foreign(Y) else multiply_transposed(X, Y)


def moved(x: Any, like: NDArray[Any]) -> Any:
    """The same object with its large arrays of another kind.

    Goes into dataclasses, named tuples, tuples and lists; `on_host()` of an object names the fields
    that stay.
    """
    stay = x.on_host() if hasattr(x, "on_host") else ()
    if is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in fields(x) if f.init and f.name not in stay]
        return replace(x, **{name: moved(getattr(x, name), like) for name in names})
    if hasattr(x, "_fields"):
        return x._replace(**{n: moved(getattr(x, n), like) for n in x._fields if n not in stay})
    if isinstance(x, (tuple, list)):
        return type(x)(moved(part, like) for part in x)
    if (isinstance(x, np.ndarray) or foreign(x)) and x.ndim:
        return host(x) if isinstance(like, np.ndarray) else on(x, like)
    return x


def spread_lines(x: Array, size: int, place: NDArray[np.integer[Any]]) -> Array:
    """The lines of x at these places among `size` of them, zeros elsewhere."""
    out = zeros((size, *x.shape[1:]), x, x.dtype)
    out[on(place, x)] = x
    return out


def parts(count: int, size: int = 1 << 22) -> Iterator[slice]:
    """Slices that cover `count` numbers, so that what is made of them stays small."""
    return (slice(at, min(at + size, count)) for at in range(0, count, size))


def runs(x: NDArray[Any], size: int = 1 << 22) -> Iterator[slice]:
    """Slices that cover x for the same purpose; all of it where it is in slabs already."""
    return iter([slice(None)]) if distant(x) else parts(len(x), size)
