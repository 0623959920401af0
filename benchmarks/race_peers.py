"""The peers of `race.py`: what an expert would run on a multi-label data set, with its settings."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from common import sized
from multimargin.baselines import WithOneClassLabels
from multimargin.kernels import Kernel, make_kernel

MOST_LINKS = 200


@dataclass(frozen=True)
class Peer:
    """A method of others: its name and the settings to select from."""

    name: str
    settings: list[Any]


class KernelOnce(BaseEstimator):
    """One-vs-rest SVC on a kernel matrix that all labels share."""

    def __init__(
        self,
        gamma: float = 1.0,
        C: float = 1.0,
        class_weight: str | None = None,
        kernel: str = "rbf",
    ) -> None:
        self.gamma, self.C, self.class_weight, self.kernel = gamma, C, class_weight, kernel

    def fit(self, X: Any, y: Any) -> Any:
        """Fit all labels."""
        self.rows_ = X
        svc = SVC(C=self.C, kernel="precomputed", class_weight=self.class_weight)
        inner = WithOneClassLabels(OneVsRestClassifier(svc))
        self.model_ = inner.fit(self._values(X), y)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.model_.decision_function(self._values(X))

    def _values(self, X: Any) -> Any:
        """Return the kernel values with the training rows."""
        return Kernel(self.kernel, self.gamma).matrix(X, self.rows_)

    def predict(self, X: Any) -> Any:
        """Return the labels with a positive score."""
        return (self.decision_function(X) > 0.0).astype(int)


class RidgeOnce(KernelOnce):
    """Kernel ridge regressions of all labels, as 1 and -1, on one kernel matrix; C is 1 / alpha."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit all labels."""
        self.rows_ = X
        inner = KernelRidge(alpha=1.0 / self.C, kernel="precomputed")
        self.model_ = inner.fit(self._values(X), 2.0 * y - 1.0)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.model_.predict(self._values(X))


def peers(X: Any, y: Any) -> list[Peer]:
    """Return who takes part on a data set."""
    dense = not sparse.issparse(X)
    trees = sized(300 if dense else 100, 5)
    found = []
    for weight in (None, "balanced"):
        tail = "" if weight is None else ", balanced"
        logistic = [
            LogisticRegression(C=C, class_weight=weight, solver="liblinear")
            for C in (0.3, 1.0, 3.0, 10.0, 30.0)
        ]
        svc = [
            LinearSVC(C=C, class_weight=weight, random_state=0) for C in (0.03, 0.1, 0.3, 1.0, 3.0)
        ]
        found.append(Peer(f"LogisticRegression{tail}", [_one_vs_rest(one) for one in logistic]))
        found.append(Peer(f"LinearSVC{tail}", [_one_vs_rest(one) for one in svc]))
        for kernel in ("rbf", "laplacian") if dense else ():
            scale = make_kernel(kernel, X, gamma="scale", degree=3, coef0=0.0).gamma
            Cs = (0.3, 1.0, 3.0, 10.0, 30.0) if kernel == "rbf" else (1.0, 3.0, 10.0, 30.0, 100.0)
            grid = [
                KernelOnce(width * scale, C, weight, kernel)
                for width in (0.25, 1.0, 4.0)
                for C in Cs
            ]
            shown = "" if kernel == "rbf" else f", {kernel}"
            found.append(Peer(f"SVC{shown}{tail}", grid))
        # scikit-learn multiplies the weights of all labels of a row: for few labels only.
        if dense or weight is None:
            for forest in (RandomForestClassifier, ExtraTreesClassifier):
                grid = [
                    forest(trees, min_samples_leaf=leaf, class_weight=weight, random_state=0)
                    for leaf in ((1, 3) if dense else (1,))
                ]
                found.append(Peer(f"{forest.__name__}{tail}", grid))
    if dense:
        scale = make_kernel("laplacian", X, gamma="scale", degree=3, coef0=0.0).gamma
        ridges = [
            RidgeOnce(width * scale, C, None, "laplacian")
            for width in (0.25, 1.0, 4.0)
            for C in (0.3, 1.0, 3.0, 10.0, 30.0)
        ]
        found.append(Peer("KernelRidge, laplacian", ridges))
    if y.shape[1] <= MOST_LINKS:
        chains = [
            ClassifierChain(
                LogisticRegression(C=C, solver="liblinear"), order="random", random_state=0
            )
            for C in (0.3, 3.0, 30.0)
        ]
        found.append(Peer("ClassifierChain", [WithOneClassLabels(one) for one in chains]))
    neighbours = [KNeighborsClassifier(k, weights="distance") for k in (5, 10, 20, 40)]
    found.append(Peer("KNeighborsClassifier", neighbours))
    perceptrons = [MLPClassifier(alpha=a, max_iter=100, random_state=0) for a in (1e-4, 1e-1)]
    found.append(Peer("MLPClassifier", perceptrons if dense else perceptrons[:1]))
    if dense:
        boosting = [
            HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=leaves, random_state=0)
            for leaves in (7, 31)
        ]
        found.append(Peer("HistGradientBoosting", [_one_vs_rest(one) for one in boosting]))
        found += _further_boosting()
    return [replace(one, settings=one.settings[: sized(len(one.settings), 1)]) for one in found]


def _further_boosting() -> list[Peer]:
    """Return gradient boosting of packages that are installed."""
    found = []
    with suppress(ImportError):
        from lightgbm import LGBMClassifier

        grid = [
            LGBMClassifier(
                n_estimators=100, num_leaves=leaves, random_state=0, n_jobs=1, verbose=-1
            )
            for leaves in (7, 31)
        ]
        found.append(Peer("LightGBM", [_one_vs_rest(one) for one in grid]))
    with suppress(ImportError):
        from catboost import CatBoostClassifier

        options = {"random_seed": 0, "thread_count": 1, "verbose": False, "iterations": 200}
        grid = [
            CatBoostClassifier(depth=depth, allow_writing_files=False, **options)
            for depth in (4, 6)
        ]
        found.append(Peer("CatBoost", [_one_vs_rest(one) for one in grid]))
    return found


def _one_vs_rest(classifier: Any) -> Any:
    return WithOneClassLabels(OneVsRestClassifier(classifier))
