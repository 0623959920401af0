"""A kernel computed in blocks: memory at n = 20000, and time an epoch against the stored kernel.

    python benchmarks/kernel_blocks.py

Random data, d = 100, q = 20, rbf, one thread. Memory is the peak of the process beyond what it held
before `fit`. The floor of an epoch in blocks is 2 n^2 (d + q) flops, of a stored one 8 n^2 bytes.
"""

import resource
import subprocess
import sys
import warnings
from functools import partial

import numpy as np

from common import in_turn, print_table, sized
from multimargin import RankSVM


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and noisy linear labels."""
    random = np.random.default_rng(0)
    n = sized(n)
    X = random.normal(size=(n, 100))
    scores = X @ random.normal(size=(100, 20)) + 3 * random.normal(size=(n, 20))
    return X, (scores > 0).astype(np.int64)


def model(cache_size: float) -> RankSVM:
    """Return the model of this benchmark."""
    return RankSVM(C=1.0, gamma=0.01, bias="penalized", cache_size=cache_size, random_state=0)


def megabytes() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure_memory() -> None:
    """Fit n = 20000 in this process and print the peak."""
    X, Y = problem(20_000)
    before = megabytes()
    fitted = model(100).fit(X, Y)
    print(
        f"n = 20000, cache_size = 100: {megabytes() - before:.0f} MB beyond the data "
        f"(the full matrix: 3200 MB), gap {fitted.dual_gap_:.1e}, {fitted.n_iter_} epochs, "
        f"{fitted.history_['seconds'][-1]:.1f} s"
    )


def main() -> None:
    """Print both measurements."""
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["memory"]:
        measure_memory()
        return
    subprocess.run([sys.executable, __file__, "memory"], check=True)
    rows = []
    for n in (3000, 6000):
        X, Y = problem(n)
        stored, blocks = in_turn(
            partial(model(1000).fit, X, Y), partial(model(100 if n > 4000 else 20).fit, X, Y)
        )
        epochs = stored[1].n_iter_, blocks[1].n_iter_
        times = stored[0] / epochs[0], blocks[0] / epochs[1]
        last = [fit[1].history_["seconds"] for fit in (stored, blocks)]
        loops = [float(np.median(np.diff(s))) for s in last]
        rows.append(
            (
                str(n),
                f"{times[0]:.3f}",
                f"{times[1]:.3f}",
                f"{times[1] / times[0]:.2f}",
                f"{loops[1] / loops[0]:.2f}",
                f"{8e-6 * n * n:.0f} MB",
                f"{2e-9 * n * n * 120:.1f} Gflop",
            )
        )
    header = ("n", "stored", "blocks", "ratio", "ratio of a loop's epoch", "bytes", "flops")
    print_table("seconds of fit an epoch, one thread", header, rows)


if __name__ == "__main__":
    main()
