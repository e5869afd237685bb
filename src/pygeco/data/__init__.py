"""Data: synthetic makers and the readers of rating files."""

from pygeco.data.clicks import ClickSplit, load_clicks
from pygeco.data.movielens import (
    MovieLensAttributes,
    Ratings,
    load_movielens,
    load_movielens_attributes,
)
from pygeco.data.split import split_by_time, split_cells, split_rows
from pygeco.data.synthetic import make_low_rank, make_ratings
from pygeco.errors import ReadError
from pygeco.io.attributes import read_attributes
from pygeco.io.click_lists import ClickPairs, LeftOut, read_click_lists, read_left_out
from pygeco.io.ratings import Reading, read_ratings

__all__ = [
    "ClickPairs",
    "ClickSplit",
    "LeftOut",
    "MovieLensAttributes",
    "Ratings",
    "ReadError",
    "Reading",
    "load_clicks",
    "load_movielens",
    "load_movielens_attributes",
    "make_low_rank",
    "make_ratings",
    "read_attributes",
    "read_click_lists",
    "read_left_out",
    "read_ratings",
    "split_by_time",
    "split_cells",
    "split_rows",
]
