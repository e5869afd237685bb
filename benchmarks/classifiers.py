"""Low-rank and quadratic classifiers on scikit-learn's digits, against full ones.

python benchmarks/classifiers.py [seeds]

Every model sees the same 70/30 splits and the same scaling. Fit and predict are timed in this
run, predict as the median of several; trust the ratios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pygeco

REPEATS = 15
C = 1.0


def models(rows: int) -> dict[str, object]:
    alpha = 1 / (2 * C * rows)  # the same ridge as LogisticRegression's C
    return {
        "LogisticRegression": LogisticRegression(C=C, max_iter=2000),
        "LowRankClassifier(9)": pygeco.LowRankClassifier(9, alpha=alpha, random_state=0),
        "LowRankClassifier(5)": pygeco.LowRankClassifier(5, alpha=alpha, random_state=0),
        "SVC(poly, 2)": SVC(kernel="poly", degree=2),
        "SVC(poly, 2, coef0=1)": SVC(kernel="poly", degree=2, coef0=1),
        "QuadraticClassifier(8)": pygeco.QuadraticClassifier(8, random_state=0),
        "QuadraticClassifier(8, hinge)": pygeco.QuadraticClassifier(
            8, loss="smoothed-hinge", random_state=0
        ),
    }


def median_seconds(job: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def main(seeds: int) -> None:
    X, y = load_digits(return_X_y=True)
    table: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(seeds):
        train, test, known, held = train_test_split(
            X, y, test_size=0.3, random_state=seed, stratify=y
        )
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)
        for name, model in models(len(train)).items():
            began = time.perf_counter()
            model.fit(train, known)
            fit = time.perf_counter() - began
            predict = median_seconds(lambda model=model, test=test: model.predict(test))
            row = model.score(test, held), fit, predict
            table.setdefault(name, []).append(row)
            print(f"seed {seed}  {name:30s} accuracy {row[0]:.4f}", flush=True)
    print(f"\nmean of {seeds} splits            accuracy   fit s   predict ms")
    means = {name: np.mean(rows, axis=0) for name, rows in table.items()}
    for name, (accuracy, fit, predict) in means.items():
        print(f"{name:30s} {accuracy:.4f}  {fit:7.2f}  {1e3 * predict:9.2f}")
    pairs = [("LowRankClassifier(9)", "LogisticRegression")]
    for theirs in ("SVC(poly, 2)", "SVC(poly, 2, coef0=1)"):
        pairs += [(f"QuadraticClassifier({x})", theirs) for x in ("8", "8, hinge")]
    for ours, theirs in pairs:
        gain = means[ours][0] - means[theirs][0]
        faster = means[theirs][2] / means[ours][2]
        verdict = "reached" if gain >= -0.005 else "missed"
        print(
            f"{ours} − {theirs}: {100 * gain:+.2f} % accuracy ({verdict}), predict {faster:.1f} ×"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
