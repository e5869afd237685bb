"""Fitted models: what can be asked of a fit, here and on a cluster."""
