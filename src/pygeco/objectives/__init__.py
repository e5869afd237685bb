"""What is minimised: R(A) = loss ∘ measurement, one file a measurement."""

from pygeco.objectives.base import Gradient, Objective, Span
from pygeco.objectives.entries import Entries

__all__ = ["Entries", "Gradient", "Objective", "Span"]
