"""Dense rows that the parts make themselves, four workers of 2 GB, and one-vs-rest SGD beside.

``python benchmarks/dense_parts.py 2000000`` fits a linear machine to so many rows of 200 columns
and 20 labels, in parts of 50,000 rows, never in one place, and `SGDClassifier` to the same
parts, one after the other. ``nystroem`` in place of the number maps the parts first, by a
`Nystroem` of 500 components: an rbf machine. 100,000 rows without a word.
"""

import logging
import os
import resource
import sys
import time
from typing import Any

import dask
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier

import multimargin.dask
from common import print_table, sized
from multimargin import RankSVM
from multimargin.measures import hamming_loss, ranking_loss

WORKERS = sized(4, 1)
COLUMNS, LABELS = 200, 20
ROWS_OF_A_PART = sized(50_000)
EPOCHS = 5
COMPONENTS = sized(500, 20)
MOST_ROUNDS = sized(1000, 5)
# Rows that weigh as much as all do.
ROWS_AT_ONE = 100_000

# The rows stay in memory: 2 million take half of it.
MEMORY = {"target": False, "spill": False, "pause": 0.95}


def rows(part: int, count: int = ROWS_OF_A_PART) -> tuple[Any, Any]:
    """Return the rows of a part: ten directions that matter, and labels that also take products."""
    common = np.random.default_rng(0)
    mixing = common.normal(size=(10, COLUMNS)) / np.sqrt(10.0)
    linear, products = common.normal(size=(2, 10, LABELS))
    random = np.random.default_rng([1, part])
    hidden = random.normal(size=(count, 10))
    X = hidden @ mixing + random.normal(size=(count, COLUMNS))
    scores = hidden @ linear + (hidden**2 - 1.0) @ products / 2.0
    Y = scores + random.normal(size=scores.shape) > 3.0
    return X, Y.astype(np.uint8)


def quality(scores: NDArray[Any], predicted: NDArray[Any], Y: NDArray[Any]) -> tuple[str, str]:
    """Return ranking loss and Hamming loss."""
    return f"{ranking_loss(Y, scores):.4f}", f"{hamming_loss(Y, predicted):.4f}"


def peak_memory() -> float:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def by_parts(count: int, C: float, test: tuple[Any, Any], features: Any = None) -> list[str]:
    """Fit a machine to parts on the workers; `features` maps them first."""
    with (
        dask.config.set({f"distributed.worker.memory.{name}": MEMORY[name] for name in MEMORY}),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            memory_limit="2GB",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        made = [delayed(rows, nout=2)(part) for part in range(count)]
        X = [block[0] if features is None else delayed(features)(block[0]) for block in made]
        model = RankSVM(
            kernel="linear", bias="penalized", C=C, random_state=0, max_iter=MOST_ROUNDS
        )
        start = time.perf_counter()
        multimargin.dask.fit(model, X, [block[1] for block in made], client)
        seconds = time.perf_counter() - start
        memory = max(client.run(peak_memory).values())
    X, Y = test
    X = X if features is None else features(X)
    taken, moved = model.history_["seconds"], model.history_["bytes"]
    print(f"  {model.status_}, gap {model.dual_gap_:.1e}, {seconds:.0f} s in all", flush=True)
    return [
        *quality(model.label_scores(X), model.predict(X), Y),
        f"{seconds:.0f}",
        str(model.n_iter_),
        f"{taken[-1] / model.n_iter_:.2f}",
        f"{moved[-1] / model.n_iter_ / 1e6:.2f}",
        f"{memory:.0f}",
    ]


def by_sgd(count: int, test: tuple[Any, Any]) -> list[str]:
    """Fit one-vs-rest SGDClassifier to the same parts, read one after the other, several times."""
    machines = [SGDClassifier(random_state=0) for _ in range(LABELS)]
    start = time.perf_counter()
    for part in [*range(count)] * EPOCHS:
        X, Y = rows(part)
        for machine, y in zip(machines, Y.T, strict=True):
            machine.partial_fit(X, y, classes=(0, 1))
    seconds = time.perf_counter() - start
    X, Y = test
    scores = np.column_stack([machine.decision_function(X) for machine in machines])
    cells = [f"{seconds:.0f}", str(EPOCHS), f"{seconds / EPOCHS:.2f}", "", f"{peak_memory():.0f}"]
    return [*quality(scores, (scores > 0).astype(np.uint8), Y), *cells]


def main(arguments: list[str]) -> None:
    """Print quality, seconds, rounds, bytes and memory of each method."""
    mapped = "nystroem" in arguments
    numbers = [int(word) for word in arguments if word.isdigit()]
    weights = [float(word.removeprefix("weight=")) for word in arguments if "=" in word]
    count = max(1, (numbers or [100_000])[0] // ROWS_OF_A_PART)
    C = (weights or [1.0])[0] * ROWS_AT_ONE / (count * ROWS_OF_A_PART)
    test = rows(-1 % 2**32, sized(20_000))
    table = [[f"RankSVM, linear, C = {C:g}", *by_parts(count, C, test)]]
    if mapped:
        landmarks, _ = rows(0, sized(5_000))
        approximation = Nystroem(n_components=COMPONENTS, random_state=0).fit(landmarks)
        name = f"RankSVM, Nystroem({COMPONENTS}), C = {C:g}"
        table.append([name, *by_parts(count, C, test, approximation.transform)])
    table.append([f"SGDClassifier, {EPOCHS} epochs", *by_sgd(count, test)])
    header = ("ranking loss", "Hamming loss", "s", "rounds", "s a round", "MB a round", "peak MB")
    title = (
        f"{count * ROWS_OF_A_PART} rows, {COLUMNS} columns, {LABELS} labels, {count} parts, "
        f"{WORKERS} workers of 2 GB; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print_table(title, ("method", *header), table)


if __name__ == "__main__":
    main(sys.argv[1:])
