"""The measures of tables II to VIII of the LLSF paper, on five random 80/20 splits.

    python benchmarks/llsf_measures.py [enron] [bibtex]

The features are selected by the convex form, then by the published loop (100 iterations). Binary
classifiers are linear SVMs with C = 1, as in the paper (by liblinear with the hinge loss in place
of libsvm, which solves the same problem but for the bias).
"""

import sys
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, hamming_loss, jaccard_score
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from common import load_official, print_table
from multimargin import LLSF, LabelSpecificBinaryRelevance, LabelSpecificClassifierChain
from multimargin.measures import average_precision

SPLITS = 5

# Paper, tables II to VIII, the row of bibtex.
PAPER = {
    "LLSF": (0.012, 0.299, 0.175, 0.350, 0.198, 0.402, 0.609),
    "BSVM": (0.012, 0.346, 0.196, 0.403, 0.304, 0.458, 0.588),
    "LLSF-BSVM": (0.011, 0.373, 0.211, 0.432, 0.332, 0.481, 0.604),
    "CC": (0.012, 0.324, 0.196, 0.373, 0.260, 0.426, 0.566),
    "LLSF-CC": (0.012, 0.358, 0.221, 0.408, 0.301, 0.461, 0.590),
}
MEASURES = ("Hamming loss", "accuracy", "exact match", "F1", "macro F1", "micro F1", "avg. prec.")


def measures(Y: Any, predicted: Any, scores: Any) -> list[float]:
    """Return the seven measures, in the order of the paper's tables."""
    nothing = (Y.sum(axis=1) == 0) & (predicted.sum(axis=1) == 0)
    return [
        hamming_loss(Y, predicted),
        jaccard_score(Y, predicted, average="samples", zero_division=0) + nothing.mean(),
        float((predicted == Y).all(axis=1).mean()),
        f1_score(Y, predicted, average="samples", zero_division=0) + nothing.mean(),
        f1_score(Y, predicted, average="macro", zero_division=0),
        f1_score(Y, predicted, average="micro", zero_division=0),
        average_precision(Y, scores),
    ]


def svm() -> LinearSVC:
    """Return the binary classifier."""
    return LinearSVC(loss="hinge", C=1.0, max_iter=20_000, random_state=0)


class Chosen(BaseEstimator):  # type: ignore[misc]
    """Hands out supports that were selected before, so that both strategies share one selection."""

    def __init__(self, supports: Any = None) -> None:
        self.supports = supports

    def fit(self, X: Any, Y: Any) -> "Chosen":
        """Take the supports over."""
        self.label_specific_features_ = self.supports
        return self


def compare(name: str, convexify: bool) -> None:
    """Print the table of one data set, with the paper's row beside it."""
    data = load_official(name)
    X_train, X_test, Y_train, Y_test = data.train_test()
    X = sparse.vstack([sparse.csr_matrix(X_train), sparse.csr_matrix(X_test)], format="csr")
    Y = np.vstack([y.toarray() if sparse.issparse(y) else y for y in (Y_train, Y_test)])
    results: dict[str, list[list[float]]] = {method: [] for method in PAPER}
    counts = []
    for split in range(SPLITS):
        A, B, Ya, Yb = train_test_split(X, Y, test_size=0.2, random_state=split)
        selector = LLSF(0.5, 0.1, convexify=convexify, tol=1e-2).fit(A, Ya)
        chosen = Chosen(selector.label_specific_features_)
        counts.append(selector.label_specific_features_.sum(axis=1).mean())
        everything = Chosen(np.ones_like(selector.label_specific_features_))
        order = np.random.default_rng(split).permutation(Y.shape[1])
        models = {
            "LLSF": LLSF(0.1, 0.1, convexify=convexify, tol=1e-2),
            "BSVM": LabelSpecificBinaryRelevance(svm(), everything),
            "LLSF-BSVM": LabelSpecificBinaryRelevance(svm(), chosen),
            "CC": LabelSpecificClassifierChain(svm(), everything, order=order),
            "LLSF-CC": LabelSpecificClassifierChain(svm(), chosen, order=order),
        }
        for method, model in models.items():
            model.fit(A, Ya)
            results[method].append(measures(Yb, model.predict(B), model.label_scores(B)))
    rows = []
    means = {method: np.mean(values, axis=0) for method, values in results.items()}
    for method, values in results.items():
        spread = np.std(values, axis=0)
        rows.append(
            [method] + [f"{m:.3f} ± {s:.3f}" for m, s in zip(means[method], spread, strict=True)]
        )
        if name == "bibtex":
            rows.append(["  paper"] + [f"{value:.3f}" for value in PAPER[method]])
    form = "convex form" if convexify else "published loop, 100 iterations"
    title = f"{name}, {form}: {np.mean(counts):.0f} of {X.shape[1]} features a label"
    print_table(title, ["", *MEASURES], rows)
    sign = np.array([-1, 1, 1, 1, 1, 1, 1])
    for better, worse in (("LLSF-BSVM", "BSVM"), ("LLSF-CC", "CC")):
        wins = sign * (means[better] - means[worse]) > 0
        print(f"  {better} is better than {worse} in {wins.sum()} of 7 measures")


def main() -> None:
    """Run the data sets that are asked for."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    for name in sys.argv[1:] or ["enron", "bibtex"]:
        compare(name, convexify=True)
        compare(name, convexify=False)


if __name__ == "__main__":
    main()
