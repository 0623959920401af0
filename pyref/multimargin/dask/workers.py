"""Assignment of parts to the workers of a cluster."""

import time
from contextlib import suppress

import numpy as np

from multimargin.dask.owned import OwnedTasks
from multimargin.dask.rounds import ClusterLostError


def workers_of(owned: OwnedTasks, patience: float) -> dict[str, int]:
    """Return the workers and their threads as soon as there is any, for `patience` seconds."""
    start = time.monotonic()
    while True:
        owned.check()
        # A scheduler that does not answer is noticed in a moment.
        with suppress(OSError):
            if threads := owned.threads():
                return threads
        if time.monotonic() - start > patience:
            raise ClusterLostError(
                f"No worker of the cluster has been left for {patience:g} seconds; expected at "
                "least one. Start workers and fit again, with warm_start=True to continue from the "
                "best model so far."
            )
        time.sleep(0.1)


def dealt(threads: dict[str, int], homes: list[str | None]) -> dict[int, str]:
    """Assign parts to workers by their threads; as many as possible stay where they are."""
    count, total = len(homes), sum(threads.values())
    room = {a: int(np.ceil(count * t / total)) for a, t in sorted(threads.items())}
    # Neighbours share a worker if possible, where their results are added.
    places = [a for a, t in sorted(threads.items()) for _ in range(t)]
    found: dict[int, str] = {}

    def settle(part: int, home: str) -> None:
        found[part] = home
        room[home] -= 1

    for part, home in enumerate(homes):
        if home is not None and room.get(home, 0) > 0:
            settle(part, home)
    for part in range(count):
        if part not in found:
            home = places[part * total // count]
            settle(part, home if room[home] > 0 else max(sorted(room), key=lambda a: room[a]))
    return found


def next_to(home: str, addresses: list[str]) -> str:
    """Return the worker after that of a part, for its copy."""
    return addresses[(addresses.index(home) + 1) % len(addresses)]
