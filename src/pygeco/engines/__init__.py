"""Where passes over the data run. The solver never asks which engine it is on."""
