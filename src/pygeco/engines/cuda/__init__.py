"""The engine "cuda": passes on a GPU."""
