"""Data: synthetic makers and the readers of rating sets."""

from pygeco.data.movielens import Ratings, load_movielens
from pygeco.data.split import split_cells
from pygeco.data.synthetic import make_low_rank, make_ratings

__all__ = [
    "Ratings",
    "load_movielens",
    "make_low_rank",
    "make_ratings",
    "split_cells",
]
