"""Observed cells of a matrix: `Entries`."""
