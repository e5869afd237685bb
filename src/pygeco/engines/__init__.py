"""Where passes over the data run. The solver never asks which engine it is on."""

import os

# OpenMP threads that spin while they wait starve each other where cores are shared: a product of
# 10 µs then takes a scheduler's slice, 12 ms. OpenMP reads this when numba starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
