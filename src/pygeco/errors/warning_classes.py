"""Every warning of pygeco's own. A fit that did not converge warns by scikit-learn's."""

from __future__ import annotations


class AttributeWarning(UserWarning):
    """A column of attributes is left out, or has levels that the fit did not meet."""


class ColumnWarning(UserWarning):
    """Columns of a table were taken by their position or their types, or one of times left out."""


class ClicksWarning(UserWarning):
    """Every value is the same: clicks, of which completion cannot learn."""


class UnknownIdWarning(UserWarning):
    """Ids that were not fitted are answered by the average row or column."""


class WorkerLostWarning(RuntimeWarning):
    """A worker of the cluster died; the fit goes on."""
