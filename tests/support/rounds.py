"""Rounds on a cluster: events in the midst of them, and the objective of what they return."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from multimargin import RankSVM
from multimargin.dask.cluster import ClusterParts


def at_rounds(
    monkeypatch: pytest.MonkeyPatch, events: dict[int, Callable[[], None]]
) -> list[ClusterParts]:
    """Have something happen when a round begins; return the parts that take part."""
    advance, seen, rounds = ClusterParts.advance, [], 0

    def watched(self: ClusterParts, *arguments: Any) -> Any:
        nonlocal rounds
        rounds += 1
        seen.append(self)
        events.get(rounds, lambda: None)()
        return advance(self, *arguments)

    monkeypatch.setattr(ClusterParts, "advance", watched)
    return seen


def objective(model: RankSVM, X: Any, Y: Any) -> float:
    """Sum over all pairs of all rows, as in the definition."""
    value = 0.5 * float(np.sum(model.coef_**2))
    if model.bias == "penalized":
        value += 0.5 * float(np.sum(model.intercept_**2))
    for scores, labels in zip(model.label_scores(X), Y, strict=True):
        differences = scores[labels == 1][:, None] - scores[labels == 0]
        if differences.size:
            value += model.C * float(np.maximum(0.0, 1.0 - differences).mean())
    return value
