"""Data: synthetic makers and the readers of rating files."""

from pygeco.data.movielens import Ratings, load_movielens
from pygeco.data.split import split_cells
from pygeco.data.synthetic import make_low_rank, make_ratings
from pygeco.errors import ReadError
from pygeco.io.ratings import Reading, read_ratings

__all__ = [
    "Ratings",
    "ReadError",
    "Reading",
    "load_movielens",
    "make_low_rank",
    "make_ratings",
    "read_ratings",
    "split_cells",
]
