"""A plugin: tests run with blocks of a few numbers, so that small data have many (`make blocks`).

Defects hide beyond the first block, and the arrays of tests fit into one. What a kernel has in it
when it is compiled stays as it is.
"""

from importlib import import_module

SIZES = {
    "arrays.coded": {"PART": 8},
    "arrays.grouped": {"MIN_BLOCK_CELLS": 4},
    "arrays.low_rank": {"BLOCK": 5},
    "bayes.spreads": {"SPREADS_AT_ONCE": 2},
    "clicks.judging": {"BLOCK_CELLS": 50, "SCORED_COLUMNS": 3},
    "engines.cpu.backgrounds": {"BLOCK_ROWS": 5, "MAX_BLOCKS": 7},
    "engines.cpu.cells": {
        "MIN_CELLS_PER_SUM": 1, "RUN_CELLS_PER_SUM": 1, "SORTED_CELLS_PER_PLACE": 1,
    },
    "engines.cpu.columns": {
        "PART_ROWS": 3, "PART_COLUMNS": 5, "PART_NORMALS": 6, "PART_NUMBERS": 7,
        "MAX_MOMENT_PARTS": 3, "MIN_SPAN": 1,
    },
    "engines.cpu.engine": {"SUMS_AT_ONCE": 3},
    "engines.cpu.groups": {"PART_CELLS": 5},
    "engines.cpu.largest": {"CELLS_AT_ONCE": 64, "MIN_ROWS": 1, "LINES": 1},
    "engines.cpu.listing": {"ROWS_AT_ONCE": 5, "MIN_ROWS": 1},
    "engines.cpu.listing_columns": {"BLOCK_LINES": 3},
    "engines.cpu.padding": {"PAD_ROWS": 3},
    "engines.cpu.pieces": {"MIN_NUMBERS": 1, "PART_NUMBERS": 8},
    "engines.cpu.ridge": {"STEP_ROWS": 3, "SUMMED_ROWS": 4, "ROWS_PER_SUM": 0},
    "engines.cpu.separable": {"CHUNK_CELLS": 7},
    "engines.cpu.tall": {"MIN_WORK": 1, "BLOCK_ROWS": 4, "SUMMED_ROWS": 4, "MAX_BLOCKS": 5},
    "engines.cpu.tiles": {"MIN_PART_LINES": 2, "MAX_SERIAL_CELLS": 1},
    "io.delimited": {"BLOCK_BYTES": 300},
    "io.matrix_market": {"BLOCK_BYTES": 64, "MIN_FAST_BYTES": 1},
    "io.whole_numbers": {"SCANNED_AT_ONCE": 5},
    "models.list_scores": {"MIN_ROWS": 1, "CELLS_AT_ONCE": 9},
    "models.ranking": {"ROWS": 3},
    "models.scoring": {"CELLS_AT_ONCE": 9},
    "objectives.bilinear": {"ROWS_AT_ONCE": 3},
    "objectives.dense.input": {"ROWS_AT_ONCE": 3},
    "objectives.entries.fold_in": {"ROWS_AT_ONCE": 3},
    "objectives.entries.observed": {"MIN_CODED_CELLS": 1},
    "objectives.features": {"ROWS_AT_ONCE": 3},
}  # fmt: skip
# These are about what is done with little data, and not true of other sizes.
ABOUT_SIZES = (
    "test_mixed_precisions_and_small_products_are_left_to_numpy",
    "test_chunks_do_not_change_the_sums",
    "test_a_sorted_matrix_is_not_copied_and_means_the_same",
    "test_a_memory_mapped_matrix",
    "test_largest_products_are_those_of_a_sort",  # to the rounding of products of its own shapes
)


def shrink() -> None:
    """Give every block its tiny size."""
    for name, sizes in SIZES.items():
        module = import_module(f"pygeco.{name}")
        for constant, size in sizes.items():
            assert size <= getattr(module, constant), (name, constant)
            setattr(module, constant, size)


def pytest_configure(config) -> None:
    shrink()


def pytest_collection_modifyitems(config, items) -> None:
    kept = [item for item in items if getattr(item, "originalname", "") not in ABOUT_SIZES]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
