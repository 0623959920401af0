"""RankCVM on yeast: the exact model, the published Frank-Wolfe, and NumPy.

    python benchmarks/rank_cvm.py

One thread, processor seconds, medians of three, jobs in turn. Floors: the
kernel matrix is 8 n^2 bytes, written once; an iteration of Frank-Wolfe reads one kernel row and
touches two scores of each row of F, 32 n bytes.
"""

import time
import warnings
from functools import partial

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler

from common import in_turn, load_official, print_table
from multimargin import RankCVM
from multimargin.estimators import FrankWolfeOptions
from multimargin.reference import rank_cvm

ITERATIONS = 200
timed = partial(in_turn, repeats=3, clock=time.process_time)


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    X, _, Y, _ = load_official("yeast").train_test()
    X = MinMaxScaler().fit_transform(X)
    n = len(X)
    problem = {"C": 2, "gamma": 0.25, "random_state": 0}
    exact = RankCVM(tol=1e-6, **problem)
    published = RankCVM(
        solver="frank-wolfe", options=FrankWolfeOptions(epsilon=1e-3), max_iter=50, **problem
    )
    (kernel, _), (bcd, _), (fw, _) = timed(
        partial(rbf_kernel, X, gamma=0.25), partial(exact.fit, X, Y), partial(published.fit, X, Y)
    )
    print_table(
        "RankCVM on yeast, rbf gamma 1/4, C = 2, whole fit",
        ("solver", "s", "rbf_kernel", "iterations", "us each", "objective", "relative gap"),
        [
            ("rbf_kernel once", f"{kernel:.3f}", "1", "", "", "", f"floor {8e-6 * n * n:.0f} MB"),
            *(
                (
                    name,
                    f"{seconds:.3f}",
                    f"{seconds / kernel:.2f}",
                    str(model.n_iter_),
                    f"{1e6 * seconds / model.n_iter_:.0f}" if model is not exact else "",
                    f"{model.objective_:.6e}",
                    f"{model.dual_gap_:.1e}",
                )
                for name, seconds, model in (
                    ("bcd, tol 1e-6", bcd, exact),
                    ("frank-wolfe, eps 1e-3, M 50", fw, published),
                )
            ),
        ],
    )
    print(f"bcd to 1e-6 / published frank-wolfe: {bcd / fw:.3f}")

    K, pairs = rbf_kernel(X, gamma=0.25), np.sum(Y.sum(axis=1) * (1 - Y).sum(axis=1))
    (one, _), (some, _) = timed(
        partial(rank_cvm.frank_wolfe, K, Y, 2.0, epsilon=0.0, M=1 / pairs),
        partial(rank_cvm.frank_wolfe, K, Y, 2.0, epsilon=0.0, M=(ITERATIONS + 1) / pairs),
    )
    full = (some - one) / ITERATIONS
    # Iterations become dearer as the support grows: all that the published stop rule makes count.
    published = partial(RankCVM, solver="frank-wolfe", kernel="precomputed", C=2, threshold=0.0)
    short, long = (published(options=FrankWolfeOptions(epsilon)) for epsilon in (1e-1, 1e-3))
    (few, _), (many, _) = timed(partial(short.fit, K, Y), partial(long.fit, K, Y))
    ours = (many - few) / (long.n_iter_ - short.n_iter_)
    print_table(
        "One iteration of the published Frank-Wolfe",
        ("NumPy, full gradients", "ours", "times faster", "iterations", "floor"),
        [
            (
                f"{1e6 * full:.1f} us",
                f"{1e6 * ours:.1f} us",
                f"{full / ours:.1f}",
                str(long.n_iter_),
                f"{32e-3 * n:.0f} kB",
            )
        ],
    )


if __name__ == "__main__":
    main()
