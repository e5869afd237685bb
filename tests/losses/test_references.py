"""Losses of the user's own in model files: by module and name, in another process too."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import pygeco
from pygeco import MatrixCompletion, ModelFileError
from pygeco.losses import Custom, Huber, Loss
from pygeco.losses.references import loss_at, reference_of

MODULE = """
import numpy as np
from pygeco.losses import Custom, Loss

soft = Custom(lambda z, y: np.logaddexp(z - y, y - z), lambda z, y: np.tanh(z - y), smoothness=1.0)

class Scaled(Loss):
    name = "scaled"
    regression = True
    def __init__(self, scale):
        self.scale = scale
    def value(self, z, y):
        return ((z - y) / self.scale) ** 2
    def slope(self, z, y):
        return 2 * (z - y) / self.scale**2
    def curvature(self, z, y):
        return np.full_like(z, 2 / self.scale**2)

class Outer:
    class Inner(Scaled):
        pass
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A module of the user's, on the path of this process."""
    (tmp_path / "shop_losses.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("shop_losses", None)  # a page of the documentation has one too
    import shop_losses  # type: ignore[import-not-found]

    yield shop_losses
    sys.modules.pop("shop_losses", None)


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


def test_a_model_with_an_own_loss_is_saved_and_loaded_elsewhere(shop, tmp_path) -> None:
    losses = [shop.soft, shop.Scaled(2.0), shop.Outer.Inner(0.5)]
    X, file = table(), tmp_path / "m.geco"
    for loss in losses:
        model = clone(MatrixCompletion(1, loss=loss, random_state=0)).fit(X)  # its loss is a copy
        model.save(file)
        again = pygeco.load(file)
        np.testing.assert_array_equal(again.to_dense(), model.to_dense())
        assert again.score(X) == model.score(X)
        assert type(again.loss_) is type(loss)
        assert vars(again.loss_) == vars(loss)
    code = (
        "import pygeco\n"
        "try:\n"
        "    pygeco.load('m.geco')\n"
        "except Exception as error:\n"
        "    print(error)\n"
        "import shop_losses\n"
        "print(pygeco.load('m.geco').loss_.scale)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    alone, together = done.stdout.strip().splitlines()
    assert "which is not here; import shop_losses first, and load the model again" in alone
    assert "damaged" not in alone
    assert together == "0.5"


def test_what_has_no_name_is_refused_when_saved(tmp_path) -> None:
    class Local(Loss):
        def value(self, z, y):
            return (z - y) ** 2

        def slope(self, z, y):
            return 2 * (z - y)

    nameless = Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    for loss in (Local(), nameless):
        with pytest.raises(TypeError, match="is kept by its module and name"):
            reference_of(loss)


@pytest.mark.parametrize(
    ("module", "name", "state"),
    [
        ("os", "system", None),
        ("os", "system", {}),
        ("subprocess", "Popen", {"args": ["true"]}),
        ("pygeco.losses", "Huber", None),  # a class, not an object
        ("builtins", "object", {}),
        ("antigravity", "fly", None),
        ("pygeco", "losses.nothing.at.all", {}),
    ],
)
def test_a_file_reaches_nothing_but_losses(module, name, state) -> None:
    before = set(sys.modules)
    with pytest.raises(ModelFileError, match="which is not here"):
        loss_at(module, name, state)
    assert "antigravity" not in set(sys.modules) - before


def test_a_class_comes_back_with_its_numbers() -> None:
    loss = Huber(3.0)
    assert loss_at(*reference_of(loss)) == loss
