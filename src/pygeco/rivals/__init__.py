"""The algorithms that pygeco is measured against, written from their papers.

Each takes an objective and returns a `Path`, as `pygeco.minimize` does, but for
`principal_component_pursuit`, which takes a dense matrix apart. `ease`, `gfcf` and `popular` take
clicks and score columns; `pygeco.evaluate` judges them. The ancestors for vectors are in
`pygeco.rivals.sparse`.
"""

from pygeco.rivals.admira import admira
from pygeco.rivals.ease import Ease, ease
from pygeco.rivals.gfcf import GraphFilter, gfcf
from pygeco.rivals.hazan import hazan
from pygeco.rivals.js import js
from pygeco.rivals.optspace import optspace
from pygeco.rivals.pcp import Decomposition, principal_component_pursuit
from pygeco.rivals.popular import Popular, popular
from pygeco.rivals.r1mp import r1mp
from pygeco.rivals.soft_impute import soft_impute
from pygeco.rivals.svt import svt

__all__ = [
    "Decomposition",
    "Ease",
    "GraphFilter",
    "Popular",
    "admira",
    "ease",
    "gfcf",
    "hazan",
    "js",
    "optspace",
    "popular",
    "principal_component_pursuit",
    "r1mp",
    "soft_impute",
    "svt",
]
