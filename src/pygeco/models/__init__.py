"""Fitted models: what can be asked of a fit, here and on a cluster."""

from pygeco.models.base import FittedModel
from pygeco.models.building import build_model
from pygeco.models.cluster import ClusterModel
from pygeco.models.completion import CompletionModel
from pygeco.models.seen import Seen

__all__ = ["ClusterModel", "CompletionModel", "FittedModel", "Seen", "build_model"]
