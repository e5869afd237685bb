"""Figures of lists by plain loops, for the tests of evaluations."""

import math

import numpy as np


def rank_columns(scores, seen) -> list[int]:
    """Columns by score, of equals the first first, without those seen."""
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], j))
    return [j for j in order if j not in seen and not np.isnan(scores[j])]


def judge_row(order, held, k) -> dict[str, float]:
    """The figures of one row, as the definitions say."""
    first = order[:k]
    hits = [p for p, j in enumerate(first, 1) if j in held]
    possible = min(k, len(held))
    gains = [1 / math.log2(p + 1) for p in range(1, possible + 1)]
    return {
        "recall": len(hits) / len(held),
        "capped_recall": len(hits) / possible,
        "ndcg": sum(1 / math.log2(p + 1) for p in hits) / sum(gains),
        "precision": len(hits) / k,
        "average_precision": sum((t + 1) / p for t, p in enumerate(hits)) / possible,
        "hit_rate": float(bool(hits)),
    }


def judge_rows(scores, seen, held, ks):
    """Means over rows with held-out columns, coverage and popularity; `seen`, `held` are sets."""
    m, n = scores.shape
    counts = [sum(j in own for own in seen) for j in range(n)]
    rows = [i for i in range(m) if held[i] - seen[i]]
    orders = {i: rank_columns(scores[i], seen[i]) for i in rows}
    out = {}
    for k in ks:
        figures = [judge_row(orders[i], held[i] - seen[i], k) for i in rows]
        for name in figures[0] if figures else ():
            out[name, k] = np.mean([each[name] for each in figures])
        listed = [j for i in rows for j in orders[i][:k]]
        out["coverage", k] = len(set(listed)) / n
        if listed:
            out["popularity", k] = np.mean([counts[j] for j in listed])
    return out


def make_ugly(rng, m=23, n=17):
    """Scores with ties, rows that have seen everything or nothing, and have nothing held out."""
    scores = rng.integers(-3, 4, (m, n)).astype(float)
    scores[3] = 1.0
    seen = rng.random((m, n)) < 0.3
    seen[4], seen[5] = True, False
    held = rng.random((m, n)) < 0.2
    held[6] = False
    return scores, seen, held


def as_sets(mask):
    return [set(np.flatnonzero(row).tolist()) for row in mask]
