"""MLODM against one-vs-rest SVC of one kernel matrix, and its step against the published one.

    python benchmarks/mlodm.py

One thread, medians, jobs in turn. Floor of a kernel epoch: reading the kernel matrix, 8 n^2 bytes.
"""

import time
import warnings
from functools import partial

from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler

from common import fit_to_one_matrix, in_turn, load_official, print_table
from multimargin import MLODM
from multimargin.reference import mlodm


def yeast() -> tuple[str, ...]:
    """Whole fit at the paper's kind of parameters."""
    X, _, Y, _ = load_official("yeast").train_test()
    X = MinMaxScaler().fit_transform(X)
    ours = MLODM(C=8, gamma=1.0, theta=0.2, mu=0.4, tol=1e-6, random_state=0)
    (seconds, _), (peer_seconds, _) = in_turn(
        partial(ours.fit, X, Y), partial(fit_to_one_matrix, X, Y, C=8.0)
    )
    return (
        "yeast, tol 1e-6",
        f"{seconds:.3f}",
        "OneVsRest SVC, one matrix",
        f"{peer_seconds:.3f}",
        f"{seconds / peer_seconds:.3f}",
        f"gap {ours.dual_gap_:.1e}, floor {8e-6 * len(X) ** 2:.0f} MB an epoch",
    )


def emotions() -> tuple[str, ...]:
    """Exact block steps against algorithm 2, both to the objective that the latter ends with."""
    X, _, Y, _ = load_official("emotions").train_test()
    X = MinMaxScaler().fit_transform(X)
    K = rbf_kernel(X, gamma=0.5)
    start = time.perf_counter()
    alpha, beta, history = mlodm.algorithm_1(K, Y, 8.0, 0.2, 0.4, epochs=10, tol=1e-6, updates=300)
    published = time.perf_counter() - start
    B = mlodm.expansion(alpha, beta, Y)
    objective = mlodm.objective_15(K, Y, 8.0, 0.2, 0.4, B)
    for tol in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8):
        ours = MLODM(
            C=8, kernel="precomputed", theta=0.2, mu=0.4, tol=tol, threshold=0.0, random_state=0
        )
        ((seconds, _),) = in_turn(partial(ours.fit, K, Y))
        if ours.objective_ <= objective:
            break
    return (
        f"emotions, objective {ours.objective_:.6f} and {objective:.6f}",
        f"{seconds:.4f}",
        f"algorithm 2 in NumPy, {len(history)} epochs",
        f"{published:.2f}",
        f"{seconds / published:.5f} ({published / seconds:.0f} times faster)",
        f"gap {ours.dual_gap_:.1e}, floor {8e-6 * len(X) ** 2:.1f} MB an epoch",
    )


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print_table(
        "MLODM",
        ("problem", "MLODM s", "peer", "peer s", "ratio", "note"),
        [yeast(), emotions()],
    )


if __name__ == "__main__":
    main()
