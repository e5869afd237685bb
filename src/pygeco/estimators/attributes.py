"""Attributes of rows or columns, of any table, as a sparse matrix of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from pygeco.arrays.kinds import fill_masked
from pygeco.estimators._attribute_coding import MatrixCoder, number_repeats
from pygeco.estimators._attribute_fitting import (
    Wishes,
    check_columns_are_there,
    encode_column,
    fit_column,
    fit_matrix,
    refuse_nothing_left,
    refuse_table_settings,
    warn_identifiers,
    warn_unknown,
)
from pygeco.estimators._attribute_state import _AttributeFile
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.attribute_tables import AttributeTable, find_id_column, take_rows


class Attributes(TransformerMixin, _AttributeFile):  # type: ignore[misc]
    """Encode attributes of rows or columns, from any table, as a sparse matrix of numbers.

    Numbers, dates and times are standardized to mean 0 and deviation 1. Texts, categories and
    booleans become one column per level, with a one in the rows that have it. Lists of words, as
    lists or as "Action|Comedy", become one column per word; the ones of a row are divided by the
    square root of their number. A matrix of numbers is standardized column by column; a sparse one
    is used as it is. All columns that come from one column of the table form a group.

    Missing values are allowed. A missing number becomes 0, the mean. A missing level or list gets
    a level "missing" of its own if there were missing ones in the fit, and otherwise the average
    row of the fit. Levels that are new after the fit get the average row too, with a warning.

    Columns that are constant or have no known value are left out. So are identifiers: text columns
    with about one level per row, or more than 5,000 levels. `dropped_` says why, and a warning
    names the identifiers.

    Parameters
    ----------
    id_column : str, int or None, default="auto"
        The column of ids, which is not an attribute. "auto" takes one called "id", "user_id",
        "movieId" or the like, or else the first column if it has a different text or whole number
        in each row. None means that there are no ids, and rows are in order.
    categories, numbers, lists : sequence of str, default=()
        Columns to read in this way, whatever they look like. Otherwise whole numbers are numbers,
        even if they are codes.
    separator : str, default="|"
        The character between the words of a list in a text.
    groups : dict, sequence or None, default=None
        For a matrix: names of groups with their sizes, as a dict or as pairs, or a name for each
        column. None makes each column of a dense matrix a group, and a sparse matrix one group.

    Attributes
    ----------
    groups_ : tuple of Group
        Name, size and kind ("number", "category", "list" or "matrix") of the groups, in the order
        of the matrix's columns.
    dropped_ : dict
        The columns that were left out, with the reasons.
    id_column_ : str or None
        The column of ids.
    ids_ : array (n_samples,) or None
        The ids of the fit's rows, in their order.
    n_features_in_ : int
        The columns of the table or matrix.
    feature_names_in_ : array (n_features_in_,)
        The names of the table's columns; not set if a matrix was fitted.

    Examples
    --------
    >>> from pygeco import Attributes
    >>> films = {
    ...     "movie_id": [10, 20, 30],
    ...     "genres": ["Action|Comedy", "Drama", "Comedy"],
    ...     "year": [1990, 2000, 2010],
    ... }
    >>> encoder = Attributes().fit(films)
    >>> encoder.get_feature_names_out().tolist()
    ['genres=Action', 'genres=Comedy', 'genres=Drama', 'year']
    >>> encoder.transform(films).toarray().round(2).tolist()[1]
    [0.0, 0.0, 1.0, 0.0]
    >>> encoder.ids_.tolist()
    [10, 20, 30]
    """

    id_column_: str | None
    ids_: NDArray[Any] | None

    def __init__(
        self,
        *,
        id_column: str | int | None = "auto",
        categories: tuple[str, ...] | list[str] | str = (),
        numbers: tuple[str, ...] | list[str] | str = (),
        lists: tuple[str, ...] | list[str] | str = (),
        separator: str = "|",
        groups: Any = None,
    ) -> None:
        self.id_column = id_column
        self.categories = categories
        self.numbers = numbers
        self.lists = lists
        self.separator = separator
        self.groups = groups

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Attributes:
        """Learn means, deviations and levels.

        Parameters
        ----------
        X : table, dict of columns, or matrix
            A table of pandas, polars, pyarrow or DuckDB, a dict of columns, or a dense or sparse
            matrix of numbers.
        y : None
            Not used.

        Returns
        -------
        encoder
            The estimator itself.
        """
        rows = take_rows(X)
        if isinstance(rows, AttributeTable):
            self._fit_table(rows)
        else:
            self._fit_matrix(rows)
        return self

    def _fit_table(self, table: AttributeTable) -> None:
        if self.groups is not None:
            raise ValueError("groups: are those of a matrix; a table's groups are its columns.")
        if not table.rows:
            raise ValueError("X: the table has no rows; give at least two.")
        names, wishes = table.names, Wishes.of(self, table.names)
        self.id_column_ = find_id_column(table, self.id_column, wishes.kinds)
        found = {name: fit_column(table, name, wishes) for name in names if name != self.id_column_}
        self.dropped_ = {name: why for name, why in found.items() if isinstance(why, str)}
        self._coders = tuple(coder for coder in found.values() if not isinstance(coder, str))
        self.groups_ = tuple(group for coder in self._coders for group in coder.groups)
        if not self.groups_:
            refuse_nothing_left(self.dropped_, table.rows)
        self.ids_ = None if self.id_column_ is None else table.ids(self.id_column_)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array([*names, None], object)[:-1]
        warn_identifiers(self.dropped_)

    def _fit_matrix(self, X: Any) -> None:
        X = self._check_matrix(X, reset=True)
        refuse_table_settings(
            self.id_column, categories=self.categories, numbers=self.numbers, lists=self.lists
        )
        columns = [f"x{k}" for k in range(X.shape[1])]
        coder, self.dropped_ = fit_matrix(X, columns, self.groups)
        self._coders, self.groups_ = (coder,), coder.groups
        if not self.groups_:
            refuse_nothing_left(self.dropped_, X.shape[0])
        self.id_column_, self.ids_ = None, None

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give the matrix of the same rows; a stream of rows is read once.

        Parameters
        ----------
        X : table, dict of columns, or matrix
        y : None
            Not used.

        Returns
        -------
        csr_array of float32 (n_samples, F)
        """
        rows = take_rows(X)
        return self.fit(rows).transform(rows)

    def transform(self, X: Any) -> Any:
        """Give the attributes of these rows as a matrix.

        Parameters
        ----------
        X : table, dict of columns, or matrix
            Of the kind of the fit. The columns of a table are found by their names, in any order;
            others are passed over, and ids need not be there.

        Returns
        -------
        csr_array of float32 (n_samples, F)
        """
        check_is_fitted(self)
        rows = take_rows(X)
        if isinstance(self._coders[0], MatrixCoder):
            if isinstance(rows, AttributeTable):
                raise ValueError("X: is a table, but the fit was on a matrix; give a matrix.")
            return self._coders[0].encode(self._check_matrix(rows, reset=False)).matrix
        table = self._find_columns(rows)
        blocks = [encode_column(coder, table, self.separator) for coder in self._coders]
        warn_unknown(blocks)
        return sp.csr_array(sp.hstack([block.matrix for block in blocks], format="csr"))

    def _find_columns(self, rows: Any) -> AttributeTable:
        """The table, if it has what the fit had; a matrix has its columns in their order."""
        table = rows
        if not isinstance(rows, AttributeTable):
            X = validate_data(
                self, fill_masked(rows), reset=False, dtype=None, ensure_all_finite=False
            )
            table = take_rows({name: X[:, k] for k, name in enumerate(self.feature_names_in_)})
        check_columns_are_there(table, self.groups_)
        return table

    def _check_matrix(self, X: Any, *, reset: bool) -> Any:
        sparse = sp.issparse(X) if reset else self.groups_[0].kind == "matrix"
        return validate_data(
            self,
            fill_masked(X),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=True if sparse else "allow-nan",
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Give the names of the matrix's columns, such as "year" and "genres=Action".

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Only compared with the names of the fit.

        Returns
        -------
        array of str (F,)
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = number_repeats(name for coder in self._coders for name in coder.names())
        return np.array([*names, None], object)[:-1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
