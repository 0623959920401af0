"""Events in the midst of rounds on a cluster."""

from collections.abc import Callable
from typing import Any

import pytest

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
