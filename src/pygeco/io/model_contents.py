"""What a model file must hold for each estimator; see `model_checks`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # its parts are imported when used

from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Schatten, Trace
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.column_codes import NumberCode, ValueCode
from pygeco.bayes.mixed_table import MixedTable
from pygeco.bayes.table_gaussian import TableGaussian
from pygeco.io.click_contents import LISTS
from pygeco.io.column_kinds import Columns
from pygeco.io.model_checks import (
    Check,
    Sizes,
    array,
    each,
    ids,
    items,
    match_size,
    names,
    number,
    of,
    optional,
    parts,
    size,
)
from pygeco.io.posterior_contents import AVERAGE, POSTERIOR, low_rank
from pygeco.io.typed_columns import Field
from pygeco.losses import Loss
from pygeco.models import Seen
from pygeco.objectives.entries.biases import Biases


def path(m: str, n: str) -> Check:
    """A path has the shape of its fit, to which new rows and columns may have been added since."""
    step = parts(Step, rank=size("s"), A=low_rank(m, n, "s"), objective=number())
    # The shape first: what one step says of sizes is not held against the next one.
    return parts(Path, shape=items(tuple, size(m), size(n)), steps=each(tuple, step, "s"))


def attribute_values(m: str) -> Check:
    def check(name: str, value: Any, sizes: Sizes) -> None:
        parts(
            AttributeValues,
            known=array("b", m),
            names=each(tuple, of(str)),
            sizes=each(tuple, of(int)),
        )(name, value, sizes)
        if not scipy.sparse.issparse(value.matrix) or len(value.names) != len(value.sizes):
            raise ValueError(f"{name} is not a table of attributes")
        match_size(f"{name}.matrix", value.matrix.shape[0], m, sizes)
        match_size(f"{name}.matrix", value.matrix.shape[1], sum(value.sizes), sizes)

    return check


def cells(name: str, value: Any, sizes: Sizes) -> None:
    """Cells row by row: pointers that rise, indices of columns, a value each."""
    parts(
        Seen,
        pointers=array("i", "m+1"),
        indices=array("i", "cells"),
        values=array("f", "cells"),
        weights=array("f", "cells" if len(value.weights) else 0),
        times=array("f", "cells" if len(value.times) else 0),
    )(name, value, sizes)
    p, at = value.pointers, value.indices
    match_size(f"{name}.indices", len(at), int(p[-1]), sizes)
    if not sizes.thorough:
        return
    if p[0] != 0 or np.any(np.diff(p) < 0):
        raise ValueError(f"{name}.pointers are not the ends of rows")
    if len(at) and (at.min() < 0 or at.max() >= sizes["n"]):
        raise ValueError(f"{name}.indices lead out of the matrix")
    if np.any(value.weights < 0):
        raise ValueError(f"{name}.weights holds a weight below zero")


def own_cells(name: str, value: Any, sizes: Sizes) -> None:
    """The same, of another number of cells."""
    cells(name, value, sizes.without("cells"))


def sparse(m: str, n: str) -> Check:
    def check(name: str, value: Any, sizes: Sizes) -> None:
        if not scipy.sparse.issparse(value):
            raise ValueError(f"{name} is not a sparse matrix")
        for found, dim in zip(value.shape, (m, n), strict=True):
            match_size(name, found, dim, sizes)
        array("f", "outliers")(f"{name}.data", value.data, sizes)

    return check


def thresholds(name: str, value: Any, sizes: Sizes) -> None:
    """A number ≥ 0 for each column; an earlier version had one for all."""
    if not isinstance(value, np.ndarray):
        number(0)(name, value, sizes)
        return
    array("f", "n")(name, value, sizes)
    if sizes.thorough and np.any(value < 0):
        raise ValueError(f"{name} holds a number below zero")


def span(name: str, value: Any, sizes: Sizes) -> None:
    """The least and the greatest of the values."""
    items(tuple, of(int, float), of(int, float))(name, value, sizes)
    if not value[0] <= value[1]:
        raise ValueError(f"{name} has its ends in the wrong order")


def coded_table(name: str, value: Any, sizes: Sizes) -> None:
    """The codes of columns and the Gaussian of their coordinates; None beside an array's fit."""
    if value is None:
        match_size("mean_", sizes["d"], "n", sizes)
        match_size("trials_", 0, "used", sizes)
        return
    gaussian = parts(
        TableGaussian, mean=array("f", "d"), components=array("f", "r", "d"), noise=number(0)
    )
    parts(
        MixedTable, codes=each(tuple, column_code), gaussian=gaussian, widths=array("f", "used", 5)
    )(name, value, sizes)
    if sum(code.width for code in value.codes) != sizes["d"]:
        raise ValueError(f"{name}.codes have not as many coordinates as the Gaussian")
    match_size(f"{name}.codes", len(value.codes), "used", sizes)


def column_code(name: str, value: Any, sizes: Sizes) -> None:
    """How a column's cells become coordinates; knots and values rise."""
    if isinstance(value, NumberCode):
        own = array("f", "knots")
        parts(NumberCode, knots=own, scores=own, scale=number(0))(name, value, Sizes())
        rising = value.knots
    else:
        k = array("f", "k")
        parts(ValueCode, values=k, shares=k, points=array("f", "k", "q"))(name, value, Sizes())
        rising = value.values
    if sizes.thorough and np.any(np.diff(rising) <= 0):
        raise ValueError(f"{name} has values that do not rise")


def classes(name: str, value: Any, sizes: Sizes) -> None:
    """As many as there are functions, or two for one."""
    ids("classes")(name, value, sizes)
    if sizes["classes"] != max(2, sizes["k"]) or (sizes["classes"] == 2 and sizes["k"] != 1):
        raise ValueError(f"{name} has length {len(value)} for {sizes['k']} functions")


COMPLETION: dict[str, Check] = {
    "factors_": low_rank("m", "n", "r"),
    "rank_": size("r"),
    "singular_values_": array("f", "r"),
    "components_": array("f", "coordinates", "n"),
    "_n_features_out": size("coordinates"),
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "row_ids_": optional(ids("m")),
    "column_ids_": optional(ids("n")),
    "table_columns_": optional(items(tuple, of(str), of(str), of(str))),
    "time_column_": optional(of(str)),
    "biases_": parts(Biases, mean=number(), row=array("f", "m"), col=array("f", "n")),
    "seen_": cells,
    "held_out_": optional(own_cells),
    "posterior_": optional(POSTERIOR),
    "average_": optional(AVERAGE),
    "row_attributes_": optional(attribute_values("m")),
    "column_attributes_": optional(attribute_values("n")),
    "lists_": optional(LISTS),
    "row_encoder_": optional(of(dict)),
    "column_encoder_": optional(of(dict)),
    "path_": path("fit_m", "fit_n"),
    "stop_reason_": of(Stop),
    "loss_": of(Loss),
    "range_": span,
    "levels_": items(tuple, number(0), number(0)),
    "total_weight_": number(0),
    "clip_": of(bool),
    "penalty_": optional(of(str, Schatten, Trace)),
    "offsets_": each(tuple, of(str)),
    "n_iter_": of(int),
}
ROBUST: dict[str, Check] = {
    "components_": array("f", "r", "n"),
    "n_components_": size("r"),
    "_n_features_out": size("r"),
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "location_": array("f", "n"),
    "singular_values_": array("f", "r"),
    "low_rank_": low_rank("m", "n", "with location"),
    "outliers_": sparse("m", "n"),
    "scale_": number(0),
    "spread_": number(0),
    "threshold_": thresholds,
    "loss_": of(Loss),
    "n_iter_": of(int),
}
IMPUTER: dict[str, Check] = {
    "components_": array("f", "r", "d"),
    "n_components_": size("r"),
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "mean_": array("f", "d"),
    "scale_": array("f", "d"),
    "deviations_": array("f", "r"),
    "noise_": number(0),
    "alpha_": optional(number(0)),
    "fields_": each(tuple, of(Field)),
    "table_": coded_table,
    "columns_": optional(of(Columns)),
    "shape_": of(str),
    "fit_rows_": of(int),
    "trials_": array("f", "used", 3),
    "imputation_std_": array("f", "n"),
    "marked_": array("b", "n"),
}
IMPUTER_MAY_LACK = (  # of data without names, or in files of an earlier version
    *("feature_names_in_", "fields_", "table_", "columns_", "shape_", "fit_rows_", "trials_"),
    *("imputation_std_", "marked_"),
)
LINEAR: dict[str, Check] = {
    "factors_": low_rank("k", "n", "r"),
    "rank_": size("r"),
    "intercept_": array("f", "k"),
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "path_": path("k", "n"),
    "alpha_": number(0),
    "trials_": each(tuple, items(tuple, number(0), of(int), of(float), of(float))),
    "n_iter_": of(int),
}
QUADRATIC: dict[str, Check] = {
    "components_": array("f", "k", "r", "n"),
    "rank_": size("r"),
    "eigenvalues_": array("f", "k", "r"),
    "shifts_": array("f", "k", "r"),
    "coef_": array("f", "k", "n"),
    "intercept_": array("f", "k"),
    "objectives_": each(list, each(tuple, number())),
    "alpha_": number(0),
    "trials_": each(tuple, items(tuple, number(0), of(int), of(float), of(float))),
    "n_features_in_": size("n"),
    "feature_names_in_": names("n"),
    "loss_": of(Loss),
    "n_iter_": of(int),
}
CLASSES: dict[str, Check] = {"classes_": classes}
REGRESSOR: dict[str, Check] = {"loss_": of(Loss), "one_target_": of(bool)}
# Attributes that not every file has: of data without names, or of an earlier version.
MAY_LACK = (
    *("feature_names_in_", "held_out_", "levels_", "clip_", "penalty_", "offsets_"),
    *("row_attributes_", "column_attributes_", "row_encoder_", "column_encoder_", "lists_"),
    *("time_column_", "row_map_", "column_map_", "count_rule_", "alpha_"),
    "trials_",
)
