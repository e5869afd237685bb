"""Data: synthetic makers and the readers of rating files."""

from pygeco.data.movielens import (
    MovieLensAttributes,
    Ratings,
    load_movielens,
    load_movielens_attributes,
)
from pygeco.data.split import split_cells
from pygeco.data.synthetic import make_low_rank, make_ratings
from pygeco.errors import ReadError
from pygeco.io.attributes import read_attributes
from pygeco.io.ratings import Reading, read_ratings

__all__ = [
    "MovieLensAttributes",
    "Ratings",
    "ReadError",
    "Reading",
    "load_movielens",
    "load_movielens_attributes",
    "make_low_rank",
    "make_ratings",
    "read_attributes",
    "read_ratings",
    "split_cells",
]
