"""Pictures of a fit (matplotlib, an extra). Each function draws on axes and returns them.

Examples
--------
>>> ax = pygeco.plot.path(model, held_out)
>>> ax.figure.savefig("path.png")
"""

from pygeco.plot.attributes import attributes
from pygeco.plot.completion import calibration, path, residuals, spectrum
from pygeco.plot.imputation import imputation
from pygeco.plot.maps import factors, frames, parts

__all__ = [
    "attributes",
    "calibration",
    "factors",
    "frames",
    "imputation",
    "parts",
    "path",
    "residuals",
    "spectrum",
]
