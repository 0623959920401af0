"""Huang et al. 2015 (LLSF): tables II to VIII, bibtex and rcv1(subset1).

Protocol of the paper: five random parts, 80 % for training; rows of unit norm, of which the paper
says nothing but its program (run.m of JunHuangUCAS/LLSF) does; alpha, beta, gamma = 0.1, 0.1, 0.01
for LLSF alone and 0.5, 0.1, 0.01 as a selector; binary classifiers are linear SVMs with C = 1 (here
by liblinear with the hinge loss in place of libsvm, the same problem but for the bias). The
features are selected by the convex form, then by the published loop (100 iterations). The paper has
no enron: it is measured without a row to compare with.
"""

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
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
FORMS = {"convex form": True, "published loop": False}

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


def measure_split(X: Any, Y: Any, split: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Measure all methods on one random part; also return how many features a label keeps."""
    # Rows of unit norm, as the authors' program has it (L2Norm = 1 in its run.m).
    A, B, Ya, Yb = train_test_split(normalize(X), Y, test_size=0.2, random_state=split)
    order = np.random.default_rng(split).permutation(Y.shape[1])
    everything = Chosen(np.ones((Y.shape[1], X.shape[1]), dtype=bool))
    models: dict[str, Any] = {
        "BSVM": LabelSpecificBinaryRelevance(svm(), everything),
        "CC": LabelSpecificClassifierChain(svm(), everything, order=order),
    }
    kept = {}
    for form, convexify in FORMS.items():
        supports = LLSF(0.5, 0.1, convexify=convexify, threshold=0.5, tol=1e-2).fit(A, Ya)
        supports = supports.label_specific_features_
        kept[form] = float(supports.sum(axis=1).mean())
        models[f"LLSF, {form}"] = LLSF(0.1, 0.1, convexify=convexify, threshold=0.5, tol=1e-2)
        models[f"LLSF-BSVM, {form}"] = LabelSpecificBinaryRelevance(svm(), Chosen(supports))
        models[f"LLSF-CC, {form}"] = LabelSpecificClassifierChain(
            svm(), Chosen(supports), order=order
        )
    # A label that neither occurs nor is predicted counts 0, as in the authors' program.
    measured = {
        name: values(COLUMNS, model.fit(A, Ya), B, Yb, zero_division=0.0)
        for name, model in models.items()
    }
    return measured, kept


def quietly(X: Any, Y: Any, split: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Measure one random part in a process of its own, where warnings are on again."""
    warnings.simplefilter("ignore")
    return measure_split(X, Y, split)


def compare(title: str, X: Any, Y: Any, published: dict[str, Any]) -> None:
    """Print the table of one data set."""
    splits = Parallel(n_jobs=-1)(delayed(quietly)(X, Y, split) for split in range(SPLITS))
    runs = {name: [measured[name] for measured, _ in splits] for name in splits[0][0]}
    name, _, _ = title.partition(",")
    print_comparison(
        f"Huang et al. 2015, tables II to VIII: {title}",
        COLUMNS,
        [
            Row(name, method, published[method.partition(",")[0]], found)
            for method, found in sorted(runs.items())
        ],
    )
    sign = np.array([1 if column.larger_is_better else -1 for column in COLUMNS])
    means = {method: np.mean(found, axis=0) for method, found in runs.items()}
    for form in FORMS:
        features = np.mean([kept[form] for _, kept in splits])
        print(f"  {form}: {features:.0f} of {X.shape[1]} features a label")
        for base in ("BSVM", "CC"):
            wins = sign * (means[f"LLSF-{base}, {form}"] - means[base]) > 0
            print(f"    LLSF-{base} is better than {base} in {wins.sum()} of {len(COLUMNS)}")


def tables() -> None:
    """Print the tables."""
    nothing = dict.fromkeys(PUBLISHED["bibtex"], (None,) * len(COLUMNS))
    for name, published in (("bibtex", PUBLISHED["bibtex"]), ("enron", nothing)):
        compare(name, *whole(name), published)
    if (DATA / "rcv1subset1").is_dir():
        compare("rcv1(subset1), repaired labels", *rcv1(), PUBLISHED["rcv1(subset1)"])
