"""Which weights the workers keep, as the client has them listed.

Weights are the largest thing that a round shares. The client has them, too, but sends them only
where they are not known: otherwise each worker makes the new ones from the old ones and the last
change, as the client does, to the same bits.
"""

from collections.abc import Callable, Iterable

from multimargin.dask.tasks import Held, Replica
from multimargin.estimators.shared.problem import Matrix


class Replicas:
    """Which weights the workers have."""

    def __init__(self, fit: str, number: Callable[[], int]) -> None:
        self._fit = fit
        self._number = number
        # The last sum of changes, which outlives what is forgotten of the weights.
        self._change: Held | None = None
        self.bytes_of_change = 0
        self.forget()

    def forget(self) -> None:
        """Take it that no worker has any weights."""
        # The client's weights, how the workers come to them, and from what: from nothing if they
        # have them. Then those that do; else those that have the ones before.
        self._weights: Matrix | None = None
        self._replica: Replica | None = None
        self._source: Held | Matrix | None = None
        self._homes: set[str] = set()

    def changed(self, change: Held, size: int) -> None:
        """Take note of where a new change is, and of its bytes."""
        self._change, self.bytes_of_change = change, size

    def follow(self, weights: Matrix, step: float | None) -> None:
        """Take note that the client's weights went `step` along the last change."""
        replica, change = self._replica, self._change
        unknown = replica is None or self._source is not None
        if change is None or (step is not None and unknown):
            self.forget()
            return
        previous = None if step is None or replica is None else replica.number
        self._weights, self._source = weights, change
        self._replica = Replica(self._fit, self._number(), previous, step or 0.0)

    def asked(self, weights: Matrix, homes: Iterable[str]) -> tuple[Replica, Held | Matrix | None]:
        """Return how tasks on some workers come to weights."""
        replica = self._replica
        if replica is None or weights is not self._weights or not self._there(replica, set(homes)):
            self._weights = self._source = weights
            self._replica = replica = Replica(self._fit, self._number(), None, 0.0)
        return replica, self._source

    def _there(self, replica: Replica, homes: set[str]) -> bool:
        """Whether workers have the weights, or what to make them from."""
        return homes <= self._homes or (replica.previous is None and self._source is not None)

    def reached(self, homes: Iterable[str]) -> None:
        """Take note that workers have the weights that they were asked for."""
        self._homes, self._source = set(homes), None
