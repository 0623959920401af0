"""Kernel problems over a grid of C, easy to hard, against the quicker of two one-vs-rest SVC.

    python benchmarks/hard_kernels.py [emotions yeast scene birds enron medical] [--C 1 10 100]

There are two: `OneVsRestClassifier(SVC(gamma=1))` computes the rows of the kernel matrix again for
each label; `SVC(kernel="precomputed")` shares one matrix, whose time counts. The ratio is to the
quicker one in the cell. Rows of unit norm, rbf with gamma 1, gap 1e-3, one thread on both sides,
whole `fit` calls in turn, medians of three, in processor seconds. MLRL has lam = 1 / (C n), which
makes its problem that of the SVC for unrelated labels. The last lines give the geometric mean and
the worst cell of each method's ratios. The peer's average precision on the test part stands beside
its time.
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from common import fit_to_one_matrix, in_turn, load_official, print_ratios, print_table
from multimargin import MLODM, MLRL, RankCVM, RankSVM
from multimargin.measures import ranking_average_precision

NAMES = ("emotions", "yeast", "scene", "birds", "enron", "medical")
OURS = {
    "RankSVM": partial(RankSVM, kernel="rbf"),
    "RankCVM": partial(RankCVM, kernel="rbf"),
    "MLODM": partial(MLODM, kernel="rbf"),
}
HEADER = (
    *("data", "C", "method", "s", "SVC s", "ratio", "SVC with"),
    *("epochs", "status", "AP", "SVC AP"),
)


def cells(name: str, C: float, repeats: int = 3) -> list[tuple[str, ...]]:
    """Return one row per method for one data set and C."""
    X, X_test, Y, Y_test = load_official(name).train_test()
    X, X_test = normalize(X), normalize(X_test)
    Y = np.asarray(Y, dtype=np.int64)
    shared = {"C": C, "gamma": 1.0, "tol": 1e-3, "random_state": 0, "max_iter": 20_000}
    models = {method: make(**shared) for method, make in OURS.items()}
    models["MLRL"] = MLRL(1.0 / (C * len(Y)), gamma=1.0, tol=1e-3)
    peer = OneVsRestClassifier(SVC(C=C, gamma=1.0))
    *fits, apart, together = in_turn(
        *(partial(model.fit, X, Y) for model in (*models.values(), peer)),
        partial(fit_to_one_matrix, X, Y, C),
        repeats=repeats,
        clock=time.process_time,
    )
    precision = ranking_average_precision(Y_test, apart[1].decision_function(X_test))
    quicker, how = min((apart[0], "rows again"), (together[0], "one matrix"))
    return [
        (
            name,
            f"{C:g}",
            method,
            f"{seconds:.3f}",
            f"{quicker:.3f}",
            f"{seconds / quicker:.3f}",
            how,
            str(model.n_iter_),
            model.status_,
            f"{ranking_average_precision(Y_test, model.label_scores(X_test)):.3f}",
            f"{precision:.3f}",
        )
        for method, (seconds, model) in zip(models, fits, strict=True)
    ]


def main() -> None:
    """Print the table and the summary of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--C", nargs="*", type=float, default=(1.0, 10.0, 100.0))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [row for name in chosen.names for C in chosen.C for row in cells(name, C)]
    print_table(
        "rbf kernels, one thread, whole fit, against the quicker OneVsRest SVC", HEADER, rows
    )
    print_ratios(rows)


if __name__ == "__main__":
    main()
