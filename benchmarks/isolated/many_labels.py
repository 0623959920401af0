"""One method on rows with thousands of labels, in any environment that has the method's package.

    python many_labels.py METHOD DATA.npz

`DATA.npz` has the parts of the CSR matrices `X`, `Y`, `X_test` and `Y_test` (`X_data`, `X_indices`,
`X_indptr`, `X_shape` and so on). Prints one line of JSON: processor seconds of fit and prediction,
peak memory in MB, that before the fit, and precision at 1, 3 and 5 on test rows with a label.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timed_fit import matrices

# Labels that one-vs-rest is fitted to where all would take an hour.
SAMPLE = 40


def best(scores: Any) -> Any:
    """Return the five labels of the largest scores of each row, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :5]


def ours(X: Any, Y: Any, **parameters: Any) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    """Fit `RankSVM`."""
    from multimargin import RankSVM, predict_top

    model = RankSVM(kernel="linear", bias="penalized", threshold=0.0, random_state=0, **parameters)
    model.fit(X, Y)
    extra = {"epochs": model.n_iter_, "gap": model.dual_gap_, "status": model.status_}
    return lambda X_test: predict_top(model, X_test, 5)[0], extra


def one_vs_rest(
    X: Any, Y: Any, sample: int | None = None, **parameters: Any
) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    """Fit scikit-learn's `LinearSVC` label by label, or to a random sample of the labels."""
    from sklearn.svm import LinearSVC

    q = Y.shape[1]
    labels = np.arange(q)
    if sample is not None:
        labels = np.random.default_rng(0).choice(q, size=sample, replace=False)
    columns = Y.tocsc()
    weights, intercepts = [], []
    for label in labels:
        y = columns[:, [label]].toarray().ravel()
        if not y.any():
            # Only test rows have it.
            weights.append(np.zeros(X.shape[1]))
            intercepts.append(-1.0)
            continue
        model = LinearSVC(random_state=0, **parameters).fit(X, y)
        weights.append(model.coef_[0])
        intercepts.append(model.intercept_[0])
    W, b = np.array(weights).T, np.array(intercepts)
    return lambda X_test: best(X_test @ W + b), {"labels": len(labels)}


def libmultilabel(kind: str) -> Callable[[Any, Any], tuple[Callable[[Any], Any], dict[str, Any]]]:
    """Return the fit of LibMultiLabel's one-vs-rest or tree."""

    def fit(X: Any, Y: Any) -> tuple[Callable[[Any], Any], dict[str, Any]]:
        from libmultilabel import linear

        train = linear.train_tree if kind == "tree" else linear.train_1vsrest
        model = train(Y.astype("d"), X, "-s 1 -c 1 -B 1 -q" if kind == "tree" else "-s 1 -B 1 -q")
        return lambda X_test: best(np.asarray(model.predict_values(X_test))), {}

    return fit


def omikuji(X: Any, Y: Any) -> tuple[Callable[[Any], Any], dict[str, Any]]:
    """Fit omikuji's trees (Parabel) at their defaults, on one thread."""
    import os
    import tempfile

    from omikuji import Model

    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row, labels in zip(X, Y, strict=True):
            words = " ".join(f"{k}:{v:.8g}" for k, v in zip(row.indices, row.data, strict=True))
            file.write(",".join(map(str, labels.indices)) + f" {words}\n")
    model = Model.train_on_data(file.name, None, 1)
    os.unlink(file.name)

    def predict(X_test: Any) -> Any:
        found = []
        for row in X_test:
            pairs = list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            labels = [label for label, _ in model.predict(pairs, top_k=5)]
            found.append(labels + [-1] * (5 - len(labels)))
        return np.array(found)

    return predict, {}


METHODS: dict[str, Callable[[Any, Any], tuple[Callable[[Any], Any], dict[str, Any]]]] = {
    "RankSVM C=100": lambda X, Y: ours(X, Y, C=100.0),
    "RankSVM C=30": lambda X, Y: ours(X, Y, C=30.0),
    "RankSVM C=1000": lambda X, Y: ours(X, Y, C=1000.0),
    "RankSVM C=100 top_k=20": lambda X, Y: ours(X, Y, C=100.0, top_k=20),
    "LinearSVC C=1": one_vs_rest,
    "LinearSVC C=1 balanced": lambda X, Y: one_vs_rest(X, Y, class_weight="balanced"),
    "LinearSVC C=1, 40 labels": lambda X, Y: one_vs_rest(X, Y, SAMPLE),
    "LibMultiLabel 1vsrest": libmultilabel("1vsrest"),
    "LibMultiLabel tree": libmultilabel("tree"),
    "omikuji": omikuji,
}


def peak_memory() -> float:
    """Return the peak memory of this process in MB; `getrusage` counts its parent's as well."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024e-6
    return float("nan")


def main() -> None:
    """Run one method."""
    method, path = sys.argv[1:]
    X, Y, X_test, Y_test = matrices(path, "X", "Y", "X_test", "Y_test")
    before = peak_memory()
    start = time.process_time()
    predict, extra = METHODS[method](X, Y)
    fit = time.process_time() - start
    start = time.process_time()
    rows = np.flatnonzero(np.diff(Y_test.indptr))
    found = predict(X_test[rows])
    seconds = time.process_time() - start
    peak = peak_memory()
    result = {"fit": fit, "predict": seconds, "before": before, "peak": peak, **extra}
    if "labels" not in extra or extra["labels"] == Y.shape[1]:
        relevant = Y_test[rows].toarray()
        hits = np.take_along_axis(relevant, np.maximum(found, 0), axis=1) * (found >= 0)
        result |= {f"P@{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
