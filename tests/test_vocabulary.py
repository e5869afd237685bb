"""One public word for one idea: what parameters of public names may not be called."""

import inspect
from importlib import import_module

import pytest

ROOMS = ("", ".data", ".losses", ".objectives", ".rivals", ".rivals.sparse")
OTHER_WORDS = {
    "iterations": "max_iter", "n_iter": "max_iter", "maxiter": "max_iter",
    "tolerance": "tol", "eps": "tol", "seed": "random_state", "rng": "random_state",
    "n_factors": "rank", "factors": "rank", "regularization": "alpha", "lam": "alpha",
    "centre": "center", "threads": "n_jobs",
}  # fmt: skip
# What a run found is no parameter: how many iterations it took, and from which seed.
RESULTS = {("Decomposition", "n_iter"), ("Path", "seed")}


def find_public() -> dict[str, object]:
    rooms = [import_module(f"pygeco{room}") for room in ROOMS]
    return {
        f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__
    }


@pytest.mark.parametrize("name", sorted(k for k, v in find_public().items() if callable(v)))
def test_parameters_have_the_projects_words(name) -> None:
    public, short = find_public()[name], name.rpartition(".")[2]
    methods = inspect.getmembers(public, inspect.isfunction) if inspect.isclass(public) else []
    for what in (public, *(method for key, method in methods if not key.startswith("_"))):
        try:
            given = inspect.signature(what).parameters
        except ValueError:  # a class of errors, in C
            continue
        wrong = {word for word in given if word in OTHER_WORDS and (short, word) not in RESULTS}
        assert not wrong, {word: OTHER_WORDS[word] for word in wrong}
