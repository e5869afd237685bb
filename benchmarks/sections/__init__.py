"""The sections of `make bench`: each takes a `Plan`, prints a table and returns its lines."""
