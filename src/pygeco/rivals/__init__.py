"""The algorithms that pygeco is measured against, written from their papers."""

from pygeco.rivals.pcp import Decomposition, principal_component_pursuit

__all__ = ["Decomposition", "principal_component_pursuit"]
