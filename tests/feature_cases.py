"""Samples of features: targets, classes, and inputs of quadratic functions."""

import numpy as np
from sklearn.datasets import make_classification


def classes(K, seed=0, **settings):
    return make_classification(
        200, 8, n_informative=5, n_classes=K, random_state=seed, class_sep=0.7, **settings
    )


def multi_target(N=60, d=6, K=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d)) + 1
    W = rng.standard_normal((K, 2)) @ rng.standard_normal((2, d))
    return X, X @ W.T + rng.standard_normal((N, K)) + 2


def data(N=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d)) * [1, 5, 0.2, 1] + [0, 10, -3, 0]
    return X, rng
