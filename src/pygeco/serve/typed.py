"""Values from outside by type hints: read and checked, or refused in one sentence.

One set of hints says what a request may hold, checks it, and describes it for others (OpenAPI).
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar

from pygeco.errors.visible_text import escape_controls

T = TypeVar("T")
MAX_TEXT = 1_000  # characters of one text in a request
MAX_SHOWN = 60  # characters of a wrong value that an error repeats


class Between(NamedTuple):
    """The least and the greatest number, or length of a list, that is taken."""

    low: float
    high: float


class RequestError(Exception):
    """A request that is refused: the status, a word for programs, and one sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code, self.sentence = status, code, escape_controls(sentence)


def read_object(kind: type[T], value: object, name: str = "body") -> T:
    """A request of this dataclass from a JSON object."""
    if not isinstance(value, dict):
        _refuse(name, "a JSON object", value)
    owner: Any = kind
    hints, known = _hints(owner), _defaults(owner)
    for key in value:
        if key not in hints:
            listed = ", ".join(hints)
            raise RequestError(422, "unknown_field", f"{show_value(key)}: unknown; use {listed}.")
    found = {key: read_value(hints[key], one, key) for key, one in value.items()}
    for key, needed in known.items():
        if needed and key not in found:
            raise RequestError(422, "missing_field", f"{key}: is missing.")
    return kind(**found)


def read_query(kind: type[T], given: Mapping[str, list[str]]) -> T:
    """A request of this dataclass from the texts of a query, of which lists may repeat a name."""
    owner: Any = kind
    hints = _hints(owner)
    body: dict[str, object] = {}
    for key, texts in given.items():
        if key not in hints:
            raise RequestError(
                422, "unknown_field", f"{show_value(key)}: unknown; use {', '.join(hints)}."
            )
        if _is_list(hints[key]):
            body[key] = texts
        elif len(texts) > 1:
            raise RequestError(
                422, "bad_value", f"{key}: is given {len(texts)} times; once is enough."
            )
        else:
            body[key] = _parse(hints[key], texts[0])
    return read_object(kind, body, "query")


def read_value(hint: Any, value: object, name: str) -> Any:
    """A value that suits the hint; a `RequestError` says what was expected."""
    bound, hint = _unwrap(hint)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _read_union(typing.get_args(hint), value, name)
    if origin is Literal:
        if not isinstance(value, str) or value not in typing.get_args(hint):
            _refuse(name, "one of " + ", ".join(map(repr, typing.get_args(hint))), value)
        return value
    if origin is list:
        return _read_list(typing.get_args(hint)[0], bound, value, name)
    if is_dataclass(hint):
        return read_object(typing.cast(type, hint), value, name)
    return _read_plain(hint, bound, value, name)


def describe_type(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a hint; objects go to `parts` by their names."""
    bound, hint = _unwrap(hint)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [describe_type(one, parts) for one in typing.get_args(hint)]}
    if origin in (typing.NotRequired, typing.Required):
        return describe_type(typing.get_args(hint)[0], parts)
    if origin is Literal:
        return {"type": "string", "enum": list(typing.get_args(hint))}
    if origin is list:
        inner = {"type": "array", "items": describe_type(typing.get_args(hint)[0], parts)}
        return inner | ({"minItems": int(bound.low), "maxItems": int(bound.high)} if bound else {})
    if origin is dict:
        return {
            "type": "object",
            "additionalProperties": describe_type(typing.get_args(hint)[1], parts),
        }
    if is_dataclass(hint) or typing.is_typeddict(hint):
        return _describe_object(typing.cast(type, hint), parts)
    names = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
    more: dict[str, Any] = {"maxLength": MAX_TEXT} if hint is str else {}
    if bound:
        more = {"minimum": bound.low, "maximum": bound.high}
    return {"type": names[hint]} | more


def list_parameters(kind: type) -> list[dict[str, Any]]:
    """The fields of a request as parameters of a query; objects cannot be given there."""
    found = []
    for name, hint in _hints(kind).items():
        parts: dict[str, Any] = {}
        schema = describe_type(_without_none(hint), parts)
        if not parts:
            found.append({"name": name, "in": "query", "required": False, "schema": schema})
    return found


def _describe_object(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in parts:
        parts[kind.__name__] = {}  # found by itself, if it comes again inside
        hints = typing.get_type_hints(kind, include_extras=True)
        needed = [name for name, is_needed in _defaults(kind).items() if is_needed]
        parts[kind.__name__] = {
            "type": "object",
            "properties": {name: describe_type(hint, parts) for name, hint in hints.items()},
            "additionalProperties": False,
        } | ({"required": needed} if needed else {})
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _read_union(hints: tuple[Any, ...], value: object, name: str) -> Any:
    if value is None and type(None) in hints:
        return None
    rest = [hint for hint in hints if hint is not type(None)]
    for hint in rest[:-1]:
        try:
            return read_value(hint, value, name)
        except RequestError:
            continue
    if len(rest) > 1 and all(isinstance(hint, type) for hint in rest):
        try:
            return read_value(rest[-1], value, name)
        except RequestError:
            _refuse(name, " or ".join(_NAMES[hint] for hint in rest), value)
    return read_value(rest[-1], value, name)


def _read_list(hint: Any, bound: Between | None, value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(name, "a list", value)
    if bound and not bound.low <= len(value) <= bound.high:
        raise RequestError(
            413 if len(value) > bound.high else 422,
            "bad_length",
            f"{name}: has {len(value):,} entries; give {bound.low:,} to {bound.high:,}.",
        )
    kinds = set(map(type, value))
    if hint == str | int | float and kinds <= {str, int, float}:
        return _check_ids(value, kinds, name)
    return [read_value(hint, one, f"{name}[{t}]") for t, one in enumerate(value)]


def _check_ids(values: list[Any], kinds: set[type], name: str) -> list[Any]:
    """Many ids at once, without a call for each."""
    if float in kinds and not all(math.isfinite(one) for one in values if type(one) is float):
        _refuse(name, "finite numbers", values)
    if int in kinds and not all(_has_64_bits(one) for one in values if type(one) is int):
        _refuse(name, "integers of 64 bits", values)
    if str in kinds and any(type(one) is str and len(one) > MAX_TEXT for one in values):
        _refuse(name, f"texts of at most {MAX_TEXT:,} characters", values)
    return values


_NAMES = {int: "an integer", float: "a number", str: "a text", bool: "true or false"}


def _read_plain(hint: Any, bound: Between | None, value: object, name: str) -> Any:
    expected = _NAMES[hint] + (f" from {bound.low:g} to {bound.high:g}" if bound else "")
    if hint is float and type(value) is int and abs(value) < 1 << 53:
        value = float(value)
    if type(value) is not hint or (isinstance(value, int) and not _has_64_bits(value)):
        _refuse(name, expected, value)
    if isinstance(value, float) and not math.isfinite(value):
        _refuse(name, expected, value)
    if isinstance(value, str) and len(value) > MAX_TEXT:
        _refuse(name, f"a text of at most {MAX_TEXT:,} characters", value)
    if bound and isinstance(value, (int, float)) and not bound.low <= value <= bound.high:
        _refuse(name, expected, value)
    return value


def _has_64_bits(value: int) -> bool:
    return -(1 << 63) <= value < 1 << 64


def _parse(hint: Any, text: str) -> object:
    """What a text in a query stands for; it stays a text where the hint takes one."""
    _, hint = _unwrap(_without_none(hint))
    try:
        if hint is int:
            return int(text) if text.isascii() and len(text) < 20 else text
        if hint is float:
            return float(text)
    except ValueError:
        return text
    if hint is bool:
        return {"true": True, "false": False, "1": True, "0": False}.get(text.lower(), text)
    return text


@cache
def _is_list(hint: Any) -> bool:
    return typing.get_origin(_unwrap(_without_none(hint))[1]) is list


@cache
def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    rest = [one for one in typing.get_args(hint) if one is not type(None)]
    return rest[0] if len(rest) == 1 else typing.Union[tuple(rest)]  # noqa: UP007


@cache
def _unwrap(hint: Any) -> tuple[Between | None, Any]:
    if typing.get_origin(hint) is Annotated:
        inner, *notes = typing.get_args(hint)
        return next((note for note in notes if isinstance(note, Between)), None), inner
    return None, hint


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


@cache
def _defaults(kind: Any) -> dict[str, bool]:
    """Whether each field must be given."""
    if is_dataclass(kind):
        return {each.name: each.default is MISSING for each in fields(kind)}
    optional = typing.NotRequired
    return {name: typing.get_origin(hint) is not optional for name, hint in _hints(kind).items()}


def _refuse(name: str, expected: str, value: object) -> NoReturn:
    raise RequestError(422, "bad_value", f"{name}: expected {expected}, not {show_value(value)}.")


def show_value(value: object) -> str:
    """A wrong value in a few characters."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]  # in the words of JSON
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**18 else "so large a number"
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
