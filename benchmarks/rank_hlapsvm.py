"""RankHLapSVM, linear, on bibtex against RankSVM there: what the hypergraph costs.

    python benchmarks/rank_hlapsvm.py

Rows of unit norm, C = 1, tol 1e-3, one thread, whole `fit` calls in turn, medians of five, a
constant threshold on both sides. Floor: X^T Lap X, d^2 numbers, and the images of the rows,
n d numbers.
"""

import tracemalloc
import warnings
from functools import partial

from sklearn.preprocessing import normalize

from common import in_turn, load_official, print_table
from multimargin import RankHLapSVM, RankSVM

COMMON = {"C": 1.0, "kernel": "linear", "threshold": 0.0, "random_state": 0}


def main() -> None:
    """Print the table, and the largest allocation of a fit beside that of an n x n matrix."""
    warnings.simplefilter("ignore")
    X, _, Y, _ = load_official("bibtex").train_test()
    X = normalize(X)
    n, d = X.shape
    models = {
        "RankSVM, free bias": RankSVM(**COMMON),
        "RankSVM, penalized bias": RankSVM(bias="penalized", **COMMON),
        "RankHLapSVM": RankHLapSVM(lam=0.25, **COMMON),
        "RankHLapSVM, lam 1, nu 1": RankHLapSVM(lam=1.0, nu=1.0, **COMMON),
    }
    fits = in_turn(*(partial(model.fit, X, Y) for model in models.values()))
    free, penalized = fits[0][0], fits[1][0]
    print_table(
        f"bibtex, linear, C = 1, tol 1e-3; floor {8e-6 * d * d + 8e-6 * n * d:.0f} MB",
        ("model", "s", "against free bias", "against penalized bias", "epochs", "gap"),
        [
            (
                name,
                f"{seconds:.3f}",
                f"{seconds / free:.2f}",
                f"{seconds / penalized:.2f}",
                str(model.n_iter_),
                f"{model.dual_gap_:.1e}",
            )
            for (name, model), (seconds, _) in zip(models.items(), fits, strict=True)
        ],
    )
    tracemalloc.start()
    models["RankHLapSVM"].fit(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"peak of NumPy's allocations {1e-6 * peak:.0f} MB; one n x n matrix {8e-6 * n * n:.0f} MB"
    )


if __name__ == "__main__":
    main()
