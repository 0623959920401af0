"""One fit over worker processes of this machine: seconds, overhead of a round, memory.

``python benchmarks/many_processes.py seconds`` fits all of debian-tags in four single-threaded
processes and, in turn, by one fit with two threads. ``overhead`` prints the time of a round that
has next to nothing to compute. ``scaling`` prints rounds, seconds and bytes over 1 to 16 parts
beside the CPU seconds that a model predicts, which is calibrated first. ``memory 10 0.01`` writes
10 GB of parts to a folder under ``/tmp``, fits them with C = 0.01 on workers that are limited to
1 GB each, and removes the folder.
"""

import gc
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, LocalCluster
from scipy import sparse

import multimargin.dask
from common import print_table, sized
from many_machines import debian_tags
from multimargin import RankSVM

WORKERS = sized(4, 1)
REPEATS = sized(3, 1)


def client(**options: Any) -> Any:
    """Return a client of a local cluster of single-threaded processes."""
    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None, **options
    )
    return Client(cluster, set_as_default=False)


def dealt(connection: Any, X: Any, Y: Any, count: int) -> tuple[list[Any], list[Any]]:
    """Deal the rows, in a random order, to parts on the workers."""
    order = np.array_split(np.random.default_rng(0).permutation(X.shape[0]), count)
    return tuple(connection.scatter([M[rows] for rows in order], hash=False) for M in (X, Y))


def timed(fit: Any) -> tuple[float, Any]:
    """Return the seconds of a fit, and the model."""
    gc.collect()
    start = time.perf_counter()
    model = fit()
    return time.perf_counter() - start, model


def seconds(C: float = 10.0) -> None:
    """Print the seconds of four processes beside those of one machine with two threads."""
    X, Y = debian_tags()
    X = sparse.csr_matrix(X)
    n, d = X.shape
    rows = []
    with client() as connection:
        blocks = dealt(connection, X, Y, WORKERS)
        small = [[delayed(M[k : k + 50]) for k in range(0, 200, 50)] for M in (X, Y)]
        for bias in ("none", "penalized", "free"):
            options = {
                "kernel": "linear",
                "C": C,
                "bias": bias,
                "threshold": 0.0,
                "random_state": 0,
            }
            multimargin.dask.fit(RankSVM(**options), *small, connection)
            times: dict[str, list[float]] = {"one": [], "parts": []}
            for _ in range(REPEATS):
                taken, alone = timed(lambda o=options: RankSVM(n_jobs=2, **o).fit(X, Y))
                times["one"].append(taken)
                taken, model = timed(
                    lambda o=options: multimargin.dask.fit(RankSVM(**o), *blocks, connection)
                )
                times["parts"].append(taken)
            one, parts = (statistics.median(times[name]) for name in ("one", "parts"))
            moved = model.history_["bytes"][-1] / 1e6
            a_round = statistics.median(np.diff(model.history_["seconds"]))
            rows.append(
                (
                    bias,
                    f"{alone.n_iter_}",
                    f"{one:.1f}",
                    f"{model.n_iter_}",
                    f"{parts:.1f}",
                    f"{parts / one:.1f}",
                    f"{1e3 * a_round:.0f}",
                    f"{moved:.0f}",
                    f"{model.dual_gap_:.1e}",
                )
            )
            print(" ", *rows[-1], flush=True)
    title = (
        f"debian-tags, {n} rows, {d} features, {Y.shape[1]} labels, C = {C:g}: one fit with 2 "
        f"threads and {WORKERS} processes of 1 thread, medians of {REPEATS} in turn; load {load()}"
    )
    header = ("bias", "epochs", "s", "rounds", "s", "ratio", "ms a round", "MB moved", "gap")
    print_table(title, header, rows)


def rounds_with_little_to_compute(connection: Any, d: int, q: int, count: int) -> tuple[Any, float]:
    """Return the milliseconds of rounds over 48 rows in some parts, and CPU seconds of a round."""
    random = np.random.default_rng(0)
    X = sparse.random(48, d, density=0.1, rng=random, format="csr")
    Y = (random.random((48, q)) < 0.3).astype(np.uint8)
    blocks = dealt(connection, X, Y, count)
    # The smallest tolerance with which changes of the weights travel in single precision.
    options = {"kernel": "linear", "bias": "none", "threshold": 0.0}
    model = RankSVM(C=1000.0, tol=1e-5, max_iter=25, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spent = cpu_seconds(connection, lambda: multimargin.dask.fit(model, *blocks, connection))
    return 1e3 * np.diff(model.history_["seconds"]), spent / model.n_iter_


def cpu_seconds(connection: Any, fit: Any) -> float:
    """Return the CPU seconds of a fit, on all workers and here."""

    def now() -> float:
        return sum(connection.run(time.process_time).values()) + time.process_time()

    before = now()
    fit()
    return float(now() - before)


def overhead() -> None:
    """Print how long a round takes in which there is next to nothing to compute."""
    rows = []
    with client() as connection:
        for d, q in ((60, 5), (sized(9000), 400)):
            for count in (4, 16):
                times, _ = rounds_with_little_to_compute(connection, d, q, count)
                size = 8e-6 * d * q
                quartiles = np.quantile(times, [0.5, 0.9])
                rows.append((f"{size:.3g}", str(count), *(f"{ms:.0f}" for ms in quartiles)))
                print(" ", *rows[-1], flush=True)
    title = f"a round over {WORKERS} processes of 1 thread with 48 rows in all; load {load()}"
    print_table(title, ("MB of weights", "parts", "ms, median", "ms, 9 of 10"), rows)


@dataclass(frozen=True)
class CostModel:
    """CPU seconds of a round, from measurements on this machine.

    Parameters
    ----------
    part : float
        CPU seconds of a part's tasks and messages.
    weight_of_part, weight_of_worker : float
        CPU seconds of a number of the weights, for each part and for each worker.
    product : float
        CPU seconds for a nonzero of X and a label.
    """

    part: float
    weight_of_part: float
    weight_of_worker: float
    product: float

    def seconds(self, parts: int, workers: int, weights: float, products: float) -> float:
        """Return the CPU seconds of a round."""
        of_weights = parts * self.weight_of_part + min(parts, workers) * self.weight_of_worker
        return parts * self.part + weights * of_weights + products * self.product


def calibrated(connection: Any, X: Any, Y: Any, C: float) -> CostModel:
    """Measure what the model needs: overhead with small and large weights, and an epoch."""

    def a_round(d: int, q: int, count: int) -> float:
        return rounds_with_little_to_compute(connection, d, q, count)[1]

    # The first fit of a cluster loads the package.
    a_round(60, 5, 4)
    small = {count: a_round(60, 5, count) for count in (4, 16)}
    part = (small[4] / 4 + small[16] / 16) / 2
    d, q = sized(9000), 400
    large = {count: (a_round(d, q, count) - small[count]) / (d * q) for count in (4, 16)}
    of_part = max((large[16] - large[4]) / 12, 0.0)
    of_worker = max(large[4] / 4 - of_part, 0.0)
    rows = np.random.default_rng(1).permutation(X.shape[0])[: X.shape[0] // 4]
    alone = RankSVM(kernel="linear", bias="none", C=C, threshold=0.0, n_jobs=1)
    start = time.process_time()
    alone.fit(X[rows], Y[rows])
    epoch = (time.process_time() - start) / alone.n_iter_
    return CostModel(part, of_part, of_worker, epoch / (X[rows].nnz * Y.shape[1]))


def scaling(C: float = 10.0) -> None:
    """Print rounds, seconds and bytes over 1 to 16 parts, and what the model predicts."""
    X, Y = debian_tags()
    X = sparse.csr_matrix(X)
    rows, factors = [], []
    with client() as connection:
        cost = calibrated(connection, X, Y, C)
        print(" ", cost, flush=True)
        options = {"kernel": "linear", "C": C, "bias": "none", "threshold": 0.0, "random_state": 0}
        for count in (1, 2, 4, 8, 16):
            blocks = dealt(connection, X, Y, count)
            model = RankSVM(**options)
            spent = cpu_seconds(
                connection,
                lambda m=model, b=blocks: multimargin.dask.fit(m, *b, connection),
            )
            a_round = spent / model.n_iter_
            weights = X.shape[1] * Y.shape[1]
            predicted = cost.seconds(count, WORKERS, weights, X.nnz * Y.shape[1])
            factors.append(predicted / a_round)
            moved = statistics.median(np.diff(model.history_["bytes"])) / 1e6
            taken = model.history_["seconds"][-1]
            cells = (f"{taken:.1f}", f"{a_round:.2f}", f"{predicted:.2f}", f"{factors[-1]:.2f}")
            rows.append((str(count), str(model.n_iter_), *cells, f"{moved:.0f}"))
            print(" ", *rows[-1], flush=True)
    header = ("parts", "rounds", "s", "CPU s a round", "predicted", "factor", "MB a round")
    title = (
        f"debian-tags, C = {C:g}, {WORKERS} processes of 1 thread; predictions are within a factor "
        f"of {max(max(factors), 1 / min(factors)):.1f}; load {load()}"
    )
    print_table(title, header, rows)
    extrapolated(cost)


def extrapolated(cost: CostModel) -> None:
    """Print a round of 10^9 rows on 1000 machines of 16 cores, computed and not measured."""
    parts, rows, nonzeros, d, q, cores, network = 1000, 1e6, 60, 100_000, 1000, 16, 1.25e9
    work = rows * nonzeros * q * cost.product / cores
    # In single precision: each sum takes four changes, three of them from elsewhere; copies of the
    # weights double at each step.
    levels, doublings = np.ceil(np.log(parts) / np.log(4)), np.ceil(np.log2(parts))
    moving = d * q / network * 4.0 * (3.0 * levels + doublings)
    algebra = d * q * (cost.weight_of_part + cost.weight_of_worker)
    cells = [f"{value:.0f}" for value in (work, algebra, moving, parts * cost.part)]
    title = (
        "computed, not measured: a round of 10^9 rows of 60 nonzeros, 10^5 features, 1000 labels, "
        "on 1000 machines of 16 cores and 10 Gbit/s"
    )
    print_table(title, ("s computing", "s weights", "s network", "s tasks"), [cells])


def write_parts(folder: Path, gigabytes: float) -> None:
    """Write sparse parts of about 100 MB each."""
    rows, d, nonzeros, q = sized(20_000), 5_000, 400, 10
    count = max(4, round(gigabytes * 1e9 / (rows * nonzeros * 12)))
    random = np.random.default_rng(0)
    normals = random.normal(size=(d, q)) / np.sqrt(nonzeros)
    spacing = d // nonzeros
    for k in range(count):
        # One feature of each neighbourhood, so that they are in order.
        indices = random.integers(spacing, size=(rows, nonzeros), dtype=np.int32)
        indices += spacing * np.arange(nonzeros, dtype=np.int32)
        data = random.standard_normal((rows, nonzeros))
        data /= np.linalg.norm(data, axis=1, keepdims=True)
        indptr = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
        X = sparse.csr_array((data.ravel(), indices.ravel(), indptr), shape=(rows, d))
        scores = X @ normals * np.sqrt(nonzeros)
        Y = (scores + 0.1 * random.normal(size=scores.shape) > 0.0).astype(np.uint8)
        np.savez(
            folder / f"{k:04d}.npz",
            data=X.data,
            indices=X.indices,
            indptr=X.indptr,
            shape=X.shape,
            Y=Y,
        )


def peak_memory() -> tuple[int, float]:
    """Return process number and peak memory in MB of a worker."""
    return os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(gigabytes: float, C: float = 0.01) -> None:
    """Print the peak memory of workers that are limited to 1 GB each."""
    folder = Path(tempfile.mkdtemp(prefix="parts-", dir="/tmp"))
    try:
        taken, _ = timed(lambda: write_parts(folder, gigabytes))
        print(f"  written in {taken:.0f} s", flush=True)
        fit_folder(folder, C=C)
    finally:
        shutil.rmtree(folder)


def fit_folder(folder: Path, **options: Any) -> None:
    """Fit a folder of parts on workers that are limited to 1 GB each; print their peak memory."""
    sizes = [file.stat().st_size for file in folder.iterdir()]
    model = RankSVM(kernel="linear", bias="none", threshold=0.0, tol=1e-2, verbose=1)
    with client(memory_limit="1GB") as connection:
        before = {pid for pid, _ in connection.run(peak_memory).values()}
        fit = multimargin.dask.fit
        taken, _ = timed(lambda: fit(model.set_params(**options), folder, None, connection))
        peaks = connection.run(peak_memory).values()
    rows = [(str(k), f"{peak:.0f}") for k, (_, peak) in enumerate(sorted(peaks))]
    restarts = len({pid for pid, _ in peaks} - before)
    title = (
        f"{sum(sizes) / 1e9:.1f} GB in {len(sizes)} parts: {model.status_} after {model.n_iter_} "
        f"rounds in {taken:.0f} s, C = {model.C:g}, gap {model.dual_gap_:.1e}, {restarts} workers "
        f"restarted; load {load()}"
    )
    print_table(title, ("worker", "peak MB of 1000"), rows)


def load() -> str:
    """Return the load of this machine, in processes and cores."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def main(arguments: list[str]) -> None:
    """Run one of the measurements."""
    name, *values = arguments or ["seconds"]
    measurements = {"seconds": seconds, "overhead": overhead, "scaling": scaling, "memory": memory}
    measurements[name](*map(float, values))


if __name__ == "__main__":
    main(sys.argv[1:])
