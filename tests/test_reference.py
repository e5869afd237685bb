"""The reference: every public name says what it takes and gives, as it is, and its examples run."""

import dataclasses
import doctest
import enum
import importlib
import inspect
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from pygeco.data import make_ratings

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
MODULES = (
    "pygeco",
    "pygeco.losses",
    "pygeco.objectives",
    "pygeco.estimators",
    "pygeco.rivals",
    "pygeco.rivals.sparse",
    "pygeco.data",
    "pygeco.diagnostics",
    "pygeco.diagnostics.metrics",
    "pygeco.plot",
    "pygeco.io.partitioned",
    "pygeco.errors",
)
# What is made by others and only read, or needs a file, a cluster or a window to be shown.
WITHOUT_EXAMPLE = {
    "Power", "Signs", "Step", "TracePath", "TraceStep", "guaranteed_gap_at_rank",
    "guaranteed_rank", "report", "ModelFileError",
}  # fmt: skip


def public_things():
    """Each public class and function once, under its shortest name."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(thing, f"{module.__name__}.{name}")
    return {name: thing for thing, name in found.items()}


THINGS = public_things()
ESTIMATORS = {
    name: thing
    for name, thing in THINGS.items()
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
}


def is_file(name: str) -> bool:
    path = ROOT / "src" / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def shown_by(directive: str, members: str) -> list[object]:
    """What the builder of the site shows for `::: directive`.

    It reads files and imports nothing: a function that has the name of a file beside it, such as
    `js` in `rivals/js.py`, is hidden by that file and has to be named as `rivals.js.js`.
    """
    owner, _, name = directive.rpartition(".")
    if is_file(directive):
        thing = importlib.import_module(directive)
    else:
        thing = getattr(importlib.import_module(owner), name)
    if not inspect.ismodule(thing):
        return [thing]
    names = members.split(", ") if members else thing.__all__
    return [getattr(thing, each) for each in names if not is_file(f"{thing.__name__}.{each}")]


def test_the_pages_of_the_reference_show_every_public_name() -> None:
    pages = ROOT / "docs" / "reference"
    directives = re.compile(r"^::: (\S+)\n(?:    options:\n      members: \[(.*)\])?", re.MULTILINE)
    shown: list[object] = []
    for page in pages.glob("*.md"):
        for directive, members in directives.findall(page.read_text(encoding="utf-8")):
            shown += shown_by(directive, members)
    assert not [name for name, thing in THINGS.items() if thing not in shown]


def estimator_methods():
    """The public methods that pygeco itself writes."""
    for owner, kind in ESTIMATORS.items():
        for name, method in inspect.getmembers(kind, callable):
            written_here = (getattr(method, "__module__", None) or "").startswith("pygeco")
            if written_here and not name.startswith("_") and not inspect.isclass(method):
                yield f"{owner}.{name}", method


METHODS = dict(estimator_methods())
FUNCTIONS = {name: thing for name, thing in THINGS.items() if inspect.isfunction(thing)} | METHODS


ORDER = ("Summary", "Parameters", "Attributes", "Returns", "Examples")


def sections(thing) -> dict[str, list[str]]:
    """The lines of each section of a numpydoc docstring; those before the first are "Summary"."""
    assert thing.__doc__, "has no docstring"
    found: dict[str, list[str]] = {"Summary": []}
    lines = inspect.getdoc(thing).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", below):
            assert len(below) == len(line), f"{line} is underlined by {len(below)} dashes"
            assert line in ORDER, f"unknown section {line}"
            found[line] = []
        elif not re.fullmatch("-{3,}", line):
            found[list(found)[-1]].append(line)
    assert list(found) == [name for name in ORDER if name in found], "sections are out of order"
    return found


def names_in(lines: list[str]) -> list[str]:
    """The names of a list of parameters; `a, b : arrays` are two."""
    entries = [line for line in lines if line and not line.startswith(" ")]
    assert all(" : " in entry for entry in entries), "a name lacks its type"
    return [name for entry in entries for name in entry.partition(" : ")[0].split(", ")]


def parameters(thing) -> list[str]:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = inspect.signature(thing).parameters.values()
    return [stars.get(each.kind, "") + each.name for each in given if each.name != "self"]


def is_made_by_users(kind) -> bool:
    """Whether a class has a constructor of its own: protocols, enums and errors have none."""
    return not (
        getattr(kind, "_is_protocol", False) or issubclass(kind, (enum.Enum, Exception, Warning))
    )


def is_record(kind) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


@pytest.mark.parametrize("name", THINGS)
def test_the_summary_is_a_sentence(name) -> None:
    summary = sections(THINGS[name])["Summary"]
    assert summary[0][-1:] in (".", "…"), summary[0]
    assert summary[1:2] in ([], [""]), "the summary is longer than a line"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_document_their_parameters_in_order(name) -> None:
    function = FUNCTIONS[name]
    assert names_in(sections(function).get("Parameters", [])) == parameters(function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_return(name) -> None:
    function = FUNCTIONS[name]
    gives = inspect.signature(function).return_annotation not in ("None", None)
    assert bool(sections(function).get("Returns", [])) == gives


@pytest.mark.parametrize(
    "name",
    [name for name, thing in THINGS.items() if inspect.isclass(thing) and is_made_by_users(thing)],
)
def test_classes_document_their_parameters_or_fields_in_order(name) -> None:
    kind = THINGS[name]
    found = sections(kind)
    listed, wanted = names_in(found.get("Parameters", [])), parameters(kind)
    if is_record(kind) and not listed:  # a value that others make
        fields = names_in(found.get("Attributes", []))
        listed, more = fields[: len(wanted)], fields[len(wanted) :]
        assert all(isinstance(getattr(kind, each), property) for each in more)
    assert listed == wanted


@pytest.mark.parametrize("name", [name for name in THINGS if name.rpartition(".")[0] == "pygeco"])
def test_what_users_call_has_an_example(name) -> None:
    has_example = bool(sections(THINGS[name]).get("Examples", []))
    assert has_example != (name.removeprefix("pygeco.") in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", [name for name, thing in THINGS.items() if ">>>" in thing.__doc__])
def test_examples_run(name) -> None:
    thing, told = THINGS[name], []
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder(recurse=False).find(thing, name, globs={}):
        runner.run(test, out=told.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(told)


def fitted(name: str) -> BaseEstimator:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    kind = ESTIMATORS[name]
    if name == "pygeco.MatrixCompletion":
        return kind(random_state=0).fit(make_ratings((20, 15), 120))
    if name == "pygeco.ImplicitCompletion":
        return kind(random_state=0).fit(np.nonzero(X > 0))
    if name == "pygeco.Attributes":
        return kind().fit({"id": ["a", "b", "c"], "year": [1990, 2000, 2010]})
    settings = {"random_state": 0} | ({"n_components": 1} if name == "pygeco.RobustPCA" else {})
    return kind(**settings).fit(X, np.arange(30) % 2)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_fitted_attributes_are_those_that_are_listed(name) -> None:
    model = fitted(name)
    there = {
        each for each in dir(model) if re.fullmatch(r"[a-z]\w*_", each) and hasattr(model, each)
    }
    listed = names_in(sections(ESTIMATORS[name]).get("Attributes", []))
    assert sorted(listed) == sorted(there)
