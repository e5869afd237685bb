"""Arrays that refuse whatever a GPU's arrays refuse, and an engine that works on them.

`FakeArray` holds a NumPy array and lets NumPy's functions and operators through, but never becomes
a NumPy array by itself, and never mixes with one: as CuPy 14 does. Code that would fail on a GPU
for its kinds of arrays fails on it too, without one. The engine "fake" is the cpu engine behind
such arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pygeco.engines.cpu.engine import ENGINE
from pygeco.engines.protocol import Engine, LocalEngine, TableEngine
from pygeco.engines.values import Cells

UNKNOWN = {np.ones, np.full, np.eye}  # CuPy's do not take what NumPy passes on with `like`
REFUSED = {"initial", "where"}


class FakeArray(NDArrayOperatorsMixin):
    def __init__(self, x):
        self._x = np.asarray(x)

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion to a NumPy array; use `get`")

    def get(self):
        return self._x.copy()

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        _check(kwargs)
        found = getattr(ufunc, method)(*_plain(inputs), out=_plain(out) or None, **_plain(kwargs))
        return out[0] if out else wrapped(found)

    def __array_function__(self, function, types, args, kwargs):
        if function in UNKNOWN:
            raise TypeError(f"{function.__name__} is not there for these arrays")
        if function in (np.asarray, np.array):  # numbers of the host, brought over
            x = args[0]._x if isinstance(args[0], FakeArray) else args[0]
            return wrapped(function(x, *args[1:], **kwargs))
        _check(kwargs)
        return wrapped(function(*_plain(args), **_plain(kwargs)))

    def __getitem__(self, key):
        return wrapped(self._x[_key(key)])

    def __setitem__(self, key, value):
        self._x[_key(key)] = _plain(value)

    def __len__(self):
        return len(self._x)

    def __iter__(self):
        return (wrapped(part) for part in self._x)

    def __float__(self):
        return float(self._x)

    def __int__(self):
        return int(self._x)

    def __index__(self):
        return self._x.__index__()

    def __bool__(self):
        return bool(self._x)

    def __format__(self, form):
        raise TypeError("a device's number must be fetched before it is printed")

    def __getattr__(self, name):
        found = getattr(self._x, name)
        if not callable(found):
            return wrapped(found) if isinstance(found, np.ndarray) else found

        def method(*args, **kwargs):
            _check(kwargs)
            answer = found(*_plain(args), **_plain(kwargs))
            return answer if name in ("tobytes", "tolist") else wrapped(answer)

        return method


def wrapped(x):
    """Results as a device gives them: arrays, also of no dimension, but plain numbers stay."""
    if isinstance(x, (np.ndarray, np.generic)):
        return FakeArray(x)
    if isinstance(x, Cells):
        fields = {name: wrapped(getattr(x, name)) for name in x._fields if name != "engine"}
        return Cells(**fields, engine=FAKE_ENGINE)
    if isinstance(x, tuple):
        parts = [wrapped(part) for part in x]
        named = hasattr(x, "_fields") and hasattr(x, "_replace")
        return type(x)(*parts) if named else tuple(parts)
    return [wrapped(part) for part in x] if isinstance(x, list) else x


def _check(kwargs):
    refused = REFUSED & set(kwargs)
    if refused:
        raise TypeError(f"{sorted(refused)} are not there for these arrays")


def _plain(x):
    if isinstance(x, FakeArray):
        return x._x
    if isinstance(x, np.ndarray):
        raise TypeError("a NumPy array among a device's arrays")
    if isinstance(x, tuple):
        parts = [_plain(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, list):
        return [_plain(part) for part in x]
    return {name: _plain(part) for name, part in x.items()} if isinstance(x, dict) else x


def _key(key):
    """Indices may come from the host."""
    if isinstance(key, tuple):
        return tuple(_key(part) for part in key)
    return key._x if isinstance(key, FakeArray) else key


class _Formulas:
    """A loss that is evaluated on such arrays, for an engine that has plain ones."""

    def __init__(self, loss):
        self.loss, self.clipped = loss, loss.clipped

    def __getattr__(self, name):
        formula = getattr(self.loss, name)
        return lambda z, y: _plain(formula(wrapped(z), wrapped(y)))


def _forward(name):
    """A method that the cpu engine does, on plain arrays."""
    method = getattr(ENGINE, name)

    def call(self, *args, **kwargs):
        return wrapped(method(*map(_inside, args), **kwargs))

    return call


def _inside(x):
    if hasattr(x, "stiffness") and hasattr(x, "slope"):
        return _Formulas(x)
    if hasattr(x, "_fields"):
        fields = {n: getattr(x, n) for n in x._fields}
        host = ("prior", "spectrum", *(["shift"] if np.ndim(fields.get("shift")) == 1 else []))
        done = {n: f if n in host or n == "engine" else _inside(f) for n, f in fields.items()}
        if "engine" in done:
            done["engine"] = ENGINE
        return type(x)(**done)
    if isinstance(x, tuple):
        return tuple(map(_inside, x))
    return _plain(x)


class _FakeCells(Engine):
    """A device's own: jobs run with its arrays, whatever the cpu engine would do."""

    name = "fake"
    kind = FakeArray(np.zeros(0))

    def map_groups(self, cells, job, other, *own):
        return job(self, cells, other, *own)


PASSES = (LocalEngine.__abstractmethods__ | TableEngine.__abstractmethods__) - {
    "kind",
    "map_groups",
}
FakeDevice = type(
    "FakeDevice",
    (_FakeCells, LocalEngine, TableEngine),
    {name: _forward(name) for name in PASSES | {"order_that_serves"}},
)
FAKE_ENGINE = FakeDevice()


def engine():
    return FAKE_ENGINE
