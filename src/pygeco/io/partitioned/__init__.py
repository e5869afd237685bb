"""Ratings in parts, read by the workers of a cluster into slabs of rows."""

from pygeco.io.partitioned.shuffle import Partitioned, read_partitioned

__all__ = ["Partitioned", "read_partitioned"]
