"""Empirical Bayes: evidence, posterior, draws."""
