"""One method on one split, in any environment that has NumPy, SciPy and the method's package.

    python timed_fit.py METHOD DATA.npz RESULT.npz

`DATA.npz` has `Y` (n, q; int64), and `X` and `X_test` as arrays or as the parts of CSR matrices
(`X_data`, `X_indices`, `X_indptr`, `X_shape`). `RESULT.npz` gets `fit` and `predict` (processor
seconds of all threads), `scores` and `sets` (n_test, q). The modules are imported
before. The first run counts only if it takes longer than `LONG` seconds; otherwise runs follow it
that together take `ENOUGH` seconds, and their mean counts.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

LONG, ENOUGH = 5.0, 0.5
# A fitted method: what predicts label sets, which is timed, and what scores, which is not.
Predictors = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def ours(name: str, **parameters: Any) -> Callable[[Any, Any], Predictors]:
    """Return the fit of an estimator of multimargin."""

    def fit(X: Any, Y: Any) -> Predictors:
        import multimargin
        from multimargin import baselines

        model = getattr(multimargin, name, None) or getattr(baselines, name)
        fitted = model(**parameters).fit(X, Y)
        return fitted.predict, fitted.decision_function

    return fit


def skmultilearn_mlknn(X: Any, Y: Any) -> Predictors:
    """Fit ML-kNN of scikit-multilearn-ng."""
    from skmultilearn.adapt import MLkNN

    model = MLkNN(k=10).fit(X, Y)
    return model.predict, model.predict_proba


def skmultilearn_binary_relevance(linear: bool) -> Callable[[Any, Any], Predictors]:
    """Return the fit of binary relevance of scikit-multilearn-ng."""

    def fit(X: Any, Y: Any) -> Predictors:
        from sklearn.svm import SVC, LinearSVC
        from skmultilearn.problem_transform import BinaryRelevance

        svm = LinearSVC(random_state=0) if linear else SVC()
        model = BinaryRelevance(svm, require_dense=[not linear, True]).fit(X, Y)

        def scores(X_test: Any) -> Any:
            return np.column_stack([one.decision_function(X_test) for one in model.classifiers_])

        return model.predict, scores

    return fit


def libmultilabel(X: Any, Y: Any) -> Predictors:
    """Fit one-vs-rest of LibMultiLabel with a bias."""
    from libmultilabel import linear

    model = linear.train_1vsrest(
        sparse.csr_matrix(Y), sparse.csr_matrix(X), options="-m 1 -B 1", verbose=False
    )
    return lambda X_test: model.predict_values(X_test) > 0.0, model.predict_values


def boomer(X: Any, Y: Any) -> Predictors:
    """Fit the rules of mlrl-boomer."""
    from mlrl.boosting import BoomerClassifier

    off = ("parallel_rule_refinement", "parallel_statistic_update", "parallel_prediction")
    model = BoomerClassifier(random_state=1, **dict.fromkeys(off, "false")).fit(X, Y)
    return model.predict, model.predict_proba


# The package on the index, and the fit; two for features that are dense and for text.
METHODS: dict[str, tuple[str, Callable[[Any, Any], Predictors]]] = {
    "RankSVM rbf": ("multimargin", ours("RankSVM", random_state=0)),
    "MLODM rbf": ("multimargin", ours("MLODM", random_state=0)),
    "RankSVM linear": (
        "multimargin",
        ours("RankSVM", kernel="linear", bias="penalized", random_state=0),
    ),
    "MLODM linear": ("multimargin", ours("MLODM", kernel="linear", random_state=0)),
    "MLkNN": ("multimargin", ours("MLkNN")),
    "MLkNN of ng": ("scikit-multilearn-ng", skmultilearn_mlknn),
    "BinaryRelevance(SVC)": ("scikit-multilearn-ng", skmultilearn_binary_relevance(False)),
    "BinaryRelevance(LinearSVC)": ("scikit-multilearn-ng", skmultilearn_binary_relevance(True)),
    "train_1vsrest": ("libmultilabel", libmultilabel),
    "BoomerClassifier": ("mlrl-boomer", boomer),
}


# What the fits import.
MODULES = {
    "multimargin": ("multimargin", "multimargin.baselines"),
    "scikit-multilearn-ng": ("skmultilearn.adapt", "skmultilearn.problem_transform"),
    "libmultilabel": ("libmultilabel.linear",),
    "mlrl-boomer": ("mlrl.boosting",),
}


def matrices(file: str, *names: str) -> list[Any]:
    """Return stored matrices, arrays or CSR."""
    with np.load(file) as parts:
        return [_matrix(parts, name) for name in names]


def _matrix(parts: Any, name: str) -> Any:
    if name in parts:
        return parts[name]
    arrays = tuple(parts[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_matrix(arrays, shape=tuple(parts[f"{name}_shape"]))


def dense(values: Any) -> Any:
    """Return an array of what may be a sparse matrix."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of one run, and its result."""
    seconds = []
    while len(seconds) < 2 or sum(seconds[1:]) < ENOUGH:
        start = time.process_time()
        result = job()
        seconds.append(time.process_time() - start)
        if seconds[0] > LONG:
            return seconds[0], result
    return sum(seconds[1:]) / len(seconds[1:]), result


def main() -> None:
    """Fit, predict and store."""
    method, data, result = sys.argv[1:]
    X, Y, X_test = matrices(data, "X", "Y", "X_test")
    for module in MODULES[METHODS[method][0]]:
        import_module(module)
    fit_seconds, (predict, score) = timed(lambda: METHODS[method][1](X, Y))
    predict_seconds, sets = timed(lambda: predict(X_test))
    np.savez(
        result,
        fit=fit_seconds,
        predict=predict_seconds,
        scores=dense(score(X_test)).astype(np.float64),
        sets=dense(sets).astype(np.int8),
    )


if __name__ == "__main__":
    main()
