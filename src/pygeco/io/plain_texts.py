"""What Arrow's functions do not know, newer kinds of text and intervals, as texts that they do."""

from __future__ import annotations

from typing import Any


def with_plain_texts(table: Any) -> Any:
    """The table with views of texts as texts, in columns of codes, too."""
    for k, field in enumerate(table.schema):
        kind = find_plain_kind(field.type)
        if kind != field.type:
            table = table.set_column(k, field.with_type(kind), table.column(k).cast(kind))
    return table


def refuse_series(X: Any) -> Any:
    """X, or an error for one column alone, which is no table of any."""
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):
        raise ValueError(
            "X: a Series is one column and no table; pass X.reset_index() if its index has the ids."
        )
    return X


def name_intervals(X: Any) -> Any:
    """A table of pandas with categories as texts where they are intervals, as `cut` makes them."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns") or not X.columns.is_unique:
        return X
    kinds = {name: getattr(kind, "categories", None) for name, kind in X.dtypes.items()}
    for name in (name for name, levels in kinds.items() if hasattr(levels, "mid")):
        X = X.assign(**{name: X[name].cat.rename_categories(str)})
    return X


def with_views_of(given: Any, table: Any) -> Any:
    """The table with views of texts where that which was `given` has them."""
    import pyarrow as pa

    fields, columns = list(table.schema), table.columns
    for k, field in enumerate(list(getattr(given, "schema", ()))[: len(fields)]):
        if fields[k].type == find_plain_kind(field.type):
            fields[k], columns[k] = field, columns[k].cast(field.type)
    return pa.table(columns, schema=pa.schema(fields, table.schema.metadata))


def find_plain_kind(kind: Any) -> Any:
    """The type itself, or that of texts where it is of views of texts."""
    import pyarrow as pa

    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
    return kind


def unpack_codes(column: Any) -> Any:
    """A column of codes as the values that they stand for; any other as it is."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    column = column.cast(find_plain_kind(column.type))
    return column.cast(column.type.value_type)
