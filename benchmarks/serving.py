"""Fitted models in service: one row, a batch, the file, ours and ONNX against one-vs-rest.

    python benchmarks/serving.py [debian-tags] [bibtex] [yeast] [scene]

Labels are predicted for one row of the test part, again and again, and for all of it at once; one
thread, medians in turn, so that a loaded machine slows all alike. Text has rows of unit length, the
other features lie in [0, 1]. `LabelRankerCV` as it is, a single method, each as the same model in
onnxruntime (with dense rows), and one-vs-rest `LinearSVC` or `SVC` of scikit-learn at the same
kernel. C is that of the defaults of each side. The file is the pickle, of onnxruntime the ONNX
file. The ranking loss is that of the test part.
"""

import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import SVC, LinearSVC

from common import in_turn, load_official, print_table
from multimargin import MLODM, LabelRankerCV, RankSVM
from multimargin.baselines import WithOneClassLabels
from multimargin.datasets import load_debian_tags
from multimargin.measures import ranking_loss
from multimargin.onnx import export

CALLS, BATCHES = 301, 9
HEADER = ("problem", "model", "one row", "batch", "file", "ranking loss")


@dataclass(frozen=True)
class Problem:
    """A data set in the form that both sides take, and what is fitted to it."""

    X: Any
    X_test: Any
    Y: Any
    Y_test: Any
    ours: Any
    peer: Any


def problem(name: str) -> Problem:
    """Load a data set; text is linear, the rest has an rbf kernel."""
    data = load_debian_tags() if name == "debian-tags" else load_official(name)
    X, X_test, Y, Y_test = data.train_test()
    Y = Y.astype(np.int64)
    if name in ("debian-tags", "bibtex"):
        if name == "debian-tags":
            counts = TfidfTransformer(sublinear_tf=True).fit(X)
            X, X_test = (sparse.csr_matrix(counts.transform(part)) for part in (X, X_test))
        X, X_test = normalize(X), normalize(X_test)
        peer = LinearSVC(random_state=0)
        return Problem(X, X_test, Y, Y_test, MLODM(kernel="linear", random_state=0), peer)
    scaler = MinMaxScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    return Problem(X, X_test, Y, Y_test, RankSVM(random_state=0), SVC())


def in_onnxruntime(model: Any, folder: str) -> tuple[Callable[[Any], Any], int]:
    """Return what predicts labels by onnxruntime on one thread, and the size of the file."""
    file = Path(folder) / "model.onnx"
    export(model, file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return lambda X: session.run(["labels"], {"X": X})[0], file.stat().st_size


def lines(name: str) -> list[tuple[str, ...]]:
    """Fit both sides of one data set and time their predictions in turn."""
    given = problem(name)
    peer_model = WithOneClassLabels(OneVsRestClassifier(given.peer)).fit(given.X, given.Y)
    models = [LabelRankerCV(random_state=0), given.ours]
    rows = given.X_test.toarray() if sparse.issparse(given.X_test) else given.X_test
    one, one_dense = given.X_test[:1], rows[:1].copy()
    singly, batch, names, sizes, losses = [], [], [], [], []
    for model in models:
        model.fit(given.X, given.Y)
        with tempfile.TemporaryDirectory() as folder:
            runtime, onnx_bytes = in_onnxruntime(model, folder)
            singly += in_turn(
                partial(model.predict, one), partial(runtime, one_dense), repeats=CALLS
            )
            batch += in_turn(
                partial(model.predict, given.X_test), partial(runtime, rows), repeats=BATCHES
            )
        if not np.array_equal(batch[-2][1], batch[-1][1]):
            print(f"{name}: onnxruntime predicts other labels", file=sys.stderr)
        names += [type(model).__name__, "the same in onnxruntime"]
        sizes += [len(pickle.dumps(model)), onnx_bytes]
        losses += [ranking_loss(given.Y_test, model.label_scores(given.X_test))] * 2
    singly += in_turn(partial(peer_model.predict, one), repeats=CALLS)
    batch += in_turn(partial(peer_model.predict, given.X_test), repeats=BATCHES)
    names.append(f"one-vs-rest {type(given.peer).__name__}")
    sizes.append(len(pickle.dumps(peer_model)))
    losses.append(ranking_loss(given.Y_test, peer_model.decision_function(given.X_test)))
    n, q = given.Y_test.shape
    return [
        (
            f"{name}: {n} rows, {q} labels",
            title,
            f"{1e3 * singly[k][0]:.2f} ms",
            f"{1e3 * batch[k][0]:.1f} ms",
            f"{1e-6 * size:.2f} MB",
            f"{loss:.4f}",
        )
        for k, (title, size, loss) in enumerate(zip(names, sizes, losses, strict=True))
    ]


def main() -> None:
    """Print the table of the chosen data sets."""
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or ("debian-tags", "bibtex", "yeast", "scene")
    rows = [line for name in names for line in lines(name)]
    print_table("Models in service, one thread", HEADER, rows)


if __name__ == "__main__":
    main()
