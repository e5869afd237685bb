"""The model in a file: the parts of a fitted model under the names of an estimator's attributes."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pygeco.arrays.container import read
from pygeco.clicks.model import ClickModel
from pygeco.errors import ModelFileError
from pygeco.io.click_contents import CLICK_CHECKS
from pygeco.io.model_checks import check_attributes
from pygeco.io.model_contents import COMPLETION, MAY_LACK
from pygeco.io.model_file import explain_damage
from pygeco.io.model_records import Decoder
from pygeco.models.completion import CompletionModel

# The attributes of MatrixCompletion that are parts of its model, and what they are called there.
MODEL_PARTS = {
    "factors_": "factors",
    "biases_": "biases",
    "posterior_": "posterior",
    "average_": "average",
    "loss_": "loss",
    "seen_": "seen",
    "held_out_": "held_out",
    "offsets_": "offsets",
    "penalty_": "penalty",
    "total_weight_": "total_weight",
    "levels_": "levels",
    "range_": "bounds",
    "clip_": "clips",
    "row_attributes_": "row_attributes",
    "column_attributes_": "column_attributes",
    "lists_": "lists",
}
# The same of ImplicitCompletion, which has more of them.
CLICK_PARTS = MODEL_PARTS | {
    "spectral_settings_": "spectral_settings",
    "squares_settings_": "squares_settings",
    "share_": "share",
    "spectral_": "spectral",
    "squares_": "squares",
    "trials_": "trials",
    "row_map_": "row_map",
    "column_map_": "column_map",
    "count_rule_": "count_rule",
}
# What each kind of estimator that can be asked about rows and columns keeps in a file.
KINDS: dict[str, tuple[type[CompletionModel], dict[str, str], dict[str, Any]]] = {
    "MatrixCompletion": (CompletionModel, MODEL_PARTS, COMPLETION),
    "ImplicitCompletion": (ClickModel, CLICK_PARTS, COMPLETION | CLICK_CHECKS),
}
# Without one of these a file is of an earlier version, and the estimator has to fill the gap.
NEEDED = ("held_out_", "levels_", "clip_", "penalty_", "offsets_", "lists_")


class ModelParts(NamedTuple):
    """A fitted model with its ids and what the file says of itself, without an estimator.

    `clip` is the estimator's setting, `counts` that of a model of clicks.
    """

    model: CompletionModel
    row_ids: NDArray[Any] | None
    column_ids: NDArray[Any] | None
    kind: str
    saved: str
    versions: dict[str, str]
    settings: dict[str, Any]


def load_parts(path: str | os.PathLike[str], *, mmap: bool = False) -> ModelParts:
    """The model in a file, which `load` gives as an estimator, without importing estimators.

    A file that is damaged, foreign, of another kind of estimator or of an early version raises
    `ModelFileError`. `mmap` is as in `load`.
    """
    contents, name = read(path, mapped=mmap), os.fspath(path)
    tree = contents.tree
    kind = tree.get("model") if isinstance(tree, dict) else None
    if kind not in KINDS:
        raise ModelFileError(
            f"{name} holds a {kind!r}, which knows no users and items; use a model that `geco fit` "
            "wrote."
        )
    owner, parts, checks = KINDS[kind]

    def build() -> ModelParts:
        decode = Decoder(contents)
        fitted, settings = decode.mapping(tree["fitted"]), decode.mapping(tree["settings"])
        check_attributes(fitted, checks, MAY_LACK, thorough=not mmap)
        if any(part not in fitted for part in NEEDED):
            raise ModelFileError(
                f"{name} was written by an earlier version of pygeco; load it and save it again."
            )
        own: dict[str, Any] = {part: fitted.get(called) for called, part in parts.items()}
        if settings.get("clip", "auto") != "auto":
            own["clips"] = bool(settings["clip"])
        about = str(tree.get("saved")), dict(tree.get("versions") or {})
        ids = fitted["row_ids_"], fitted["column_ids_"]
        return ModelParts(owner(**own), *ids, kind, *about, settings)

    return explain_damage(name, build)
