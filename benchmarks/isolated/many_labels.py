"""One method on rows with thousands of labels, in any environment that has the method's package.

    python many_labels.py METHOD C DATA.npz

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

# Test rows whose scores are held at a time.
SLAB = 1000

# Returns the five best labels of rows, best first and -1 where there are fewer.
Predict = Callable[[Any], Any]
# Fits to X and Y with a C. Returns also what else is known of the fit.
Fit = Callable[[Any, Any, float], tuple[Predict, dict[str, Any]]]


def best(scores: Any) -> Any:
    """Return the five labels of the largest scores of each row, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :5]


def ours(top_k: int | None = None) -> Fit:
    """Return the fit of `RankSVM`."""

    def fit(X: Any, Y: Any, C: float) -> tuple[Predict, dict[str, Any]]:
        from multimargin import RankSVM, predict_top

        model = RankSVM(
            C=C, kernel="linear", bias="penalized", top_k=top_k, threshold=0.0, random_state=0
        )
        model.fit(X, Y)
        extra = {"epochs": model.n_iter_, "gap": model.dual_gap_, "status": model.status_}
        return lambda X_test: predict_top(model, X_test, 5)[0], extra

    return fit


def one_vs_rest(X: Any, Y: Any, C: float) -> tuple[Predict, dict[str, Any]]:
    """Fit scikit-learn's `LinearSVC` to each label."""
    from sklearn.svm import LinearSVC

    columns, size = Y.tocsc(), (X.shape[1], Y.shape[1])
    weights, bias = np.zeros(size, dtype=np.float32), np.full(size[1], -np.inf, dtype=np.float32)
    for label in range(size[1]):
        y = columns[:, [label]].toarray().ravel()
        # Some labels only test rows have.
        if y.any():
            model = LinearSVC(C=C, random_state=0).fit(X, y)
            weights[:, label], bias[label] = model.coef_[0], model.intercept_[0]

    def predict(X_test: Any) -> Any:
        slabs = range(0, X_test.shape[0], SLAB)
        single = X_test.astype(np.float32)
        return np.concatenate([best(single[k : k + SLAB] @ weights + bias) for k in slabs])

    return predict, {}


def libmultilabel(kind: str) -> Fit:
    """Return the fit of LibMultiLabel's one-vs-rest or tree, with LIBLINEAR's squared hinge."""

    def fit(X: Any, Y: Any, C: float) -> tuple[Predict, dict[str, Any]]:
        from libmultilabel import linear

        train = linear.train_tree if kind == "tree" else linear.train_1vsrest
        model = train(Y.astype("d"), X, options=f"-s 1 -c {C} -B 1 -q", verbose=False)

        def predict(X_test: Any) -> Any:
            slabs = range(0, X_test.shape[0], SLAB)
            found = [best(np.asarray(model.predict_values(X_test[k : k + SLAB]))) for k in slabs]
            return np.concatenate(found)

        return predict, {}

    return fit


def omikuji(X: Any, Y: Any, C: float) -> tuple[Predict, dict[str, Any]]:
    """Fit omikuji's three trees (Parabel) with its other defaults, on one thread."""
    import os
    import tempfile

    from omikuji import Model

    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row, labels in zip(X, Y, strict=True):
            words = " ".join(f"{k}:{v:.8g}" for k, v in zip(row.indices, row.data, strict=True))
            file.write(",".join(map(str, labels.indices)) + f" {words}\n")
    parameters = Model.default_hyper_param()
    parameters.linear_c = C
    model = Model.train_on_data(file.name, parameters, 1)
    os.unlink(file.name)

    def predict(X_test: Any) -> Any:
        found = []
        for row in X_test:
            pairs = list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            labels = [label for label, _ in model.predict(pairs, top_k=5)]
            found.append(labels + [-1] * (5 - len(labels)))
        return np.array(found)

    return predict, {}


METHODS: dict[str, Fit] = {
    "RankSVM": ours(),
    "RankSVM top_k=20": ours(top_k=20),
    "RankSVM top_k=5": ours(top_k=5),
    "LinearSVC": one_vs_rest,
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
    method, C, path = sys.argv[1:]
    X, Y, X_test, Y_test = matrices(path, "X", "Y", "X_test", "Y_test")
    before = peak_memory()
    start = time.process_time()
    predict, extra = METHODS[method](X, Y, float(C))
    fit = time.process_time() - start
    start = time.process_time()
    rows = np.flatnonzero(np.diff(Y_test.indptr))
    found = predict(X_test[rows])
    seconds = time.process_time() - start
    peak = peak_memory()
    result = {"fit": fit, "predict": seconds, "before": before, "peak": peak, **extra}
    relevant = Y_test[rows].toarray()
    hits = np.take_along_axis(relevant, np.maximum(found, 0), axis=1) * (found >= 0)
    result |= {f"P@{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
