"""Served models, made once."""

import pytest

from serve_cases import open_models


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def models(model_folder):
    return open_models(model_folder)


@pytest.fixture(scope="session")
def ratings(models):
    return models["ratings"]


@pytest.fixture(scope="session")
def clicks(models):
    return models["clicks"]
