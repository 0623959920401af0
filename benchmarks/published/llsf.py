"""Paper 004 (Huang et al., 2015, LLSF): tables II to VIII, bibtex and rcv1(subset1).

Protocol of the paper: five random parts, 80 % for training; alpha, beta, gamma = 0.1, 0.1, 0.01
for LLSF alone and 0.5, 0.1, 0.01 as a selector; binary classifiers are linear SVMs with C = 1 (here
by liblinear with the hinge loss in place of libsvm, the same problem but for the bias). The
features are selected by the convex form, then by the published loop (100 iterations). The paper has
no enron: it is measured without a row to compare with.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from common import DATA
from multimargin import LLSF, LabelSpecificBinaryRelevance, LabelSpecificClassifierChain
from published.comparison import (
    AVERAGE_PRECISION,
    EXACT_MATCH,
    EXAMPLE_F1,
    HAMMING_LOSS,
    JACCARD,
    MACRO_F1,
    MICRO_F1,
    Row,
    print_comparison,
    values,
    whole,
)

COLUMNS = (
    HAMMING_LOSS,
    JACCARD,
    EXACT_MATCH,
    EXAMPLE_F1,
    MACRO_F1,
    MICRO_F1,
    AVERAGE_PRECISION,
)
SPLITS = 5

PUBLISHED = {
    "bibtex": {
        "LLSF": (0.012, 0.299, 0.175, 0.350, 0.198, 0.402, 0.609),
        "BSVM": (0.012, 0.346, 0.196, 0.403, 0.304, 0.458, 0.588),
        "LLSF-BSVM": (0.011, 0.373, 0.211, 0.432, 0.332, 0.481, 0.604),
        "CC": (0.012, 0.324, 0.196, 0.373, 0.260, 0.426, 0.566),
        "LLSF-CC": (0.012, 0.358, 0.221, 0.408, 0.301, 0.461, 0.590),
    },
    "rcv1(subset1)": {
        "LLSF": (0.026, 0.250, 0.077, 0.318, 0.129, 0.365, 0.603),
        "BSVM": (0.026, 0.244, 0.079, 0.309, 0.184, 0.355, 0.589),
        "LLSF-BSVM": (0.026, 0.293, 0.101, 0.366, 0.212, 0.405, 0.591),
        "CC": (0.028, 0.331, 0.215, 0.380, 0.190, 0.388, 0.529),
        "LLSF-CC": (0.028, 0.355, 0.226, 0.408, 0.212, 0.414, 0.544),
    },
}


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


def rcv1() -> tuple[Any, Any]:
    """Return rcv1(subset1), repaired, with the 944 features of the highest document frequency."""
    parts = np.load(DATA / "rcv1subset1" / "rcv1subset1.npz")
    X = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), parts["shape"])
    frequency = np.diff(X.tocsc().indptr)
    return X[:, np.sort(np.argsort(-frequency, kind="stable")[:944])], parts["Y"].astype(int)


def compare(title: str, X: Any, Y: Any, published: dict[str, Any], *, convexify: bool) -> None:
    """Print the table of one data set."""
    runs: dict[str, list[list[float]]] = {method: [] for method in published}
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
            # A label that neither occurs nor is predicted counts 0, as in the authors' program.
            model.fit(A, Ya)
            runs[method].append(values(COLUMNS, model, B, Yb, zero_division=0.0))
    form = "convex form" if convexify else "published loop, 100 iterations"
    name, _, _ = title.partition(",")
    print_comparison(
        f"004, tables II to VIII: {title}, {form}, "
        f"{np.mean(counts):.0f} of {X.shape[1]} features a label",
        COLUMNS,
        [Row(name, method, published[method], runs[method]) for method in published],
    )
    sign = np.array([1 if column.larger_is_better else -1 for column in COLUMNS])
    means = {method: np.mean(found, axis=0) for method, found in runs.items()}
    for better, worse in (("LLSF-BSVM", "BSVM"), ("LLSF-CC", "CC")):
        wins = sign * (means[better] - means[worse]) > 0
        print(f"  {better} is better than {worse} in {wins.sum()} of {len(COLUMNS)} measures")


def tables() -> None:
    """Print the tables."""
    nothing = dict.fromkeys(PUBLISHED["bibtex"], (None,) * len(COLUMNS))
    for name, published in (("bibtex", PUBLISHED["bibtex"]), ("enron", nothing)):
        X, Y = whole(name)
        for convexify in (True, False):
            compare(name, X, Y, published, convexify=convexify)
    if (DATA / "rcv1subset1").is_dir():
        X, Y = rcv1()
        compare("rcv1(subset1), repaired labels", X, Y, PUBLISHED["rcv1(subset1)"], convexify=True)
