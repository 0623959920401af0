"""RankCVM, RankLSVM and MLODM, linear, on sparse text against one-vs-rest LinearSVC.

    python benchmarks/linear_text.py [bibtex] [rcv1subset1] [delicious]

Rows of unit norm, C = 1, tol 1e-3, one thread, whole `fit` calls in turn, medians. The peer is
scikit-learn's LinearSVC (squared hinge, C = 1). Floor of an epoch: the rows of W that the nonzeros
touch, nnz(X) q 8 bytes.
"""

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from common import DATA, in_short_indices, in_turn, load_official, print_table
from multimargin import MLODM, RankCVM, RankLSVM

METHODS = {
    "bibtex": (RankCVM, RankLSVM),
    "rcv1subset1": (RankCVM, RankLSVM),
    "delicious": (RankCVM, MLODM),
}
HEADER = ("problem", "method", "s", "LinearSVC s", "ratio", "epochs", "gap", "floor of an epoch")


def training_part(name: str) -> tuple[Any, Any]:
    """Load features and labels of the training part."""
    if name != "rcv1subset1":
        X, _, Y, _ = load_official(name).train_test()
        return X, Y
    file = DATA / name / f"{name}.npz"
    if not file.is_file():
        sys.exit(f"{file} not found.")
    parts = np.load(file)
    X = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
    train = parts["train_idx"]
    X = in_short_indices(X[train].astype(np.float64))
    return X, parts["Y"][train].astype(np.int64)


def lines(name: str) -> list[tuple[str, ...]]:
    """Time the methods of one data set and their peer in turn."""
    X, Y = training_part(name)
    X = normalize(X)
    models = [method(C=1, kernel="linear", random_state=0) for method in METHODS[name]]
    peer = OneVsRestClassifier(LinearSVC(C=1, random_state=0))
    jobs = [partial(model.fit, X, Y) for model in (*models, peer)]
    *fits, (peer_seconds, _) = in_turn(*jobs, repeats=3 if name == "delicious" else 5)
    return [
        (
            name,
            type(model).__name__,
            f"{seconds:.3f}",
            f"{peer_seconds:.3f}",
            f"{seconds / peer_seconds:.3f}",
            str(model.n_iter_),
            f"{model.dual_gap_:.1e}",
            f"{8e-6 * X.nnz * Y.shape[1]:.0f} MB",
        )
        for model, (seconds, _) in zip(models, fits, strict=True)
    ]


def main() -> None:
    """Print the table of the chosen data sets."""
    warnings.simplefilter("ignore")
    rows = [line for name in sys.argv[1:] or METHODS for line in lines(name)]
    print_table("Linear models on text, one thread, whole fit", HEADER, rows)


if __name__ == "__main__":
    main()
