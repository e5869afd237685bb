"""Rows and columns without any cell, placed by their attributes beside those of a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pygeco.arrays.kinds import foreign
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.effects import widen_patterns
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sweep import new_rows
from pygeco.models.base import FittedModel
from pygeco.models.completion import CompletionModel
from pygeco.models.seen import append_empty_rows
from pygeco.objectives import Entries
from pygeco.objectives.entries.half_sweep import Side


def add_lines(
    model: FittedModel, rows: AttributeValues | None, columns: AttributeValues | None
) -> CompletionModel:
    """The model with more rows and columns after its own, each where its attributes put it.

    It speaks by the evidence; a mean of draws knows the lines of its fit alone.
    """
    p = model.posterior
    if p is None:
        raise ValueError("new_rows: needs a model fitted with penalty='evidence'.")
    if not isinstance(model, CompletionModel) or foreign(model.factors.U):
        raise ValueError("new_rows: are placed on the CPU; call to('cpu') first.")
    more, extra = (0 if values is None else len(values.known) for values in (rows, columns))
    found = p if rows is None else _append(p, rows)
    found = found if columns is None else _append(found.T, columns).T
    seen, held = (append_empty_rows(cells, more) for cells in (model.seen, model.held_out))
    assert seen is not None
    row_attributes = _join(model.row_attributes, rows)
    column_attributes = _join(model.column_attributes, columns)
    factors = found.factors().astype(model.factors.U.dtype)
    assert factors.shape == (model.shape[0] + more, model.shape[1] + extra)
    return replace(
        model,
        factors=factors,
        lists=None,
        biases=found.at_end.biases(),
        posterior=found,
        average=None,
        seen=seen,
        held_out=held,
        row_attributes=row_attributes,
        column_attributes=column_attributes,
    )


def _append(p: Posterior, values: AttributeValues) -> Posterior:
    """The posterior with these rows at its end."""
    count, n = len(values.known), len(p.cols.bias)
    none = np.zeros(0, np.int64)
    cells = Entries(none, none, np.zeros(0, np.float32), (count, n), allow_empty=True)
    new = new_rows(p, cells, values)
    rows = Side(*(np.concatenate([a, b]) for a, b in zip(p.rows, new, strict=True)))
    some = np.concatenate([p.row_prior.some, np.zeros(count, bool)])
    size = len(some)
    effects = widen_patterns(p.col_prior.effects, size, np.arange(size - count))
    return replace(
        p,
        rows=rows,
        row_prior=p.row_prior._replace(some=some),
        col_prior=p.col_prior._replace(effects=effects),
    )


def _join(old: AttributeValues | None, new: AttributeValues | None) -> AttributeValues | None:
    return old if old is None or new is None else old.append(new)
