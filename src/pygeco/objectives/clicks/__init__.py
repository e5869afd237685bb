"""Clicks: observed cells before a background of all others."""
