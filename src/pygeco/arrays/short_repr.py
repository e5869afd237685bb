"""How values that hold large arrays print: by their fields, and of an array its shape and type."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

MAX_NUMBERS = 6  # of an array that is printed whole
MAX_LENGTH = 120  # of a field's text


def show_fields(value: Any) -> str:
    """`Name(field=…, …)` of a dataclass or a named tuple, without what is None."""
    names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
    parts = ((name, getattr(value, name)) for name in names)
    told = ", ".join(f"{name}={_show_field(part)}" for name, part in parts if part is not None)
    return f"{type(value).__name__}({told})"


def show_size(shape: tuple[int, ...]) -> str:
    """Such as 6,040 × 3,706."""
    return " × ".join(f"{size:,}" for size in shape)


def _show_field(value: Any) -> str:
    if getattr(value, "ndim", 0) and hasattr(value, "dtype"):
        if isinstance(value, np.ndarray) and value.size <= MAX_NUMBERS:
            return np.array2string(value, separator=", ", max_line_width=10**6)
        return f"<{show_size(value.shape)} {value.dtype}>"
    text = repr(value)
    if len(text) <= MAX_LENGTH:
        return text
    return f"<{len(value)} items>" if type(value) in (tuple, list) else f"{type(value).__name__}(…)"
