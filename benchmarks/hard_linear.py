"""Linear problems over a grid of C, easy to hard, against one-vs-rest LinearSVC.

    python benchmarks/hard_linear.py [enron bibtex rcv1subset1 debian-tags] [--C 1 10] [--repeats 3]
    python benchmarks/hard_linear.py emotions yeast scene
    python benchmarks/hard_linear.py moderation

Text has rows of unit norm; emotions, yeast and scene have columns of mean 0 and variance 1. Gap
1e-3, one thread on both sides, whole `fit` calls in turn, medians. The peer has the loss of the
method: the hinge for RankSVM, the squared hinge for the others. It stops at scikit-learn's default
tolerance or after 1000 iterations, and its average precision on the test part stands beside its
time. debian-tags are those of `load_debian_tags`; moderation is made up, of few labels and rows
that mostly have none. The last lines give the geometric mean and the worst cell of each method's
ratios.
"""

import argparse
import warnings
from functools import partial
from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from common import in_turn, print_ratios, print_table, sized
from made_up import moderation
from multimargin import MLODM, RankCVM, RankLSVM, RankSVM
from multimargin.measures import ranking_average_precision
from race import load

NAMES = ("enron", "bibtex", "rcv1subset1", "debian-tags", "moderation")
COLUMNS = ("emotions", "yeast", "scene")
HINGE = {
    "RankSVM, free bias": partial(RankSVM, bias="free"),
    "RankSVM, penalized": partial(RankSVM, bias="penalized"),
}
SQUARED = {"RankLSVM": RankLSVM, "RankCVM": RankCVM, "MLODM": MLODM}
HEADER = ("data", "C", "method", "s", "peer s", "ratio", "epochs", "status", "AP", "peer AP")


def _load(name: str) -> Any:
    if name != "moderation":
        return load(name, None)
    X, Y = moderation(12_000)
    n = sized(8000, 150)
    return X[:n], X[n:], Y[:n], Y[n:]


def cells(name: str, C: float, repeats: int = 3) -> list[tuple[str, ...]]:
    """Return one row per method for one data set and C."""
    X, X_test, Y, Y_test = _load(name)
    if name in COLUMNS:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    rows = []
    for loss, methods in (("hinge", HINGE), ("squared_hinge", SQUARED)):
        models = [make(kernel="linear", C=C, tol=1e-3, random_state=0) for make in methods.values()]
        peer = OneVsRestClassifier(LinearSVC(loss=loss, C=C, random_state=0))
        *fits, (peer_seconds, peer) = in_turn(
            *(partial(model.fit, X, Y) for model in (*models, peer)), repeats=repeats
        )
        precision = ranking_average_precision(Y_test, peer.decision_function(X_test))
        rows += [
            (
                name,
                f"{C:g}",
                method,
                f"{seconds:.2f}",
                f"{peer_seconds:.2f}",
                f"{seconds / peer_seconds:.3f}",
                str(model.n_iter_),
                model.status_,
                f"{ranking_average_precision(Y_test, model.label_scores(X_test)):.3f}",
                f"{precision:.3f}",
            )
            for method, (seconds, model) in zip(methods, fits, strict=True)
        ]
    return rows


def main() -> None:
    """Print the table and the summary of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--C", nargs="*", type=float, default=(1.0, 10.0, 100.0))
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        row for name in chosen.names for C in chosen.C for row in cells(name, C, chosen.repeats)
    ]
    print_table("linear, one thread, whole fit, against OneVsRest LinearSVC", HEADER, rows)
    print_ratios(rows)


if __name__ == "__main__":
    main()
