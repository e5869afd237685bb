"""Clicks: two families of models, and the choice among them by clicks that are held out."""
