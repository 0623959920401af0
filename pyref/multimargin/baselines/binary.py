"""Binary classifiers, one for each of several problems."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import Parallel
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.svm import SVC

from multimargin.checks.parameters import is_estimator
from multimargin.decompositions import aside
from multimargin.estimators.label_specific import MajorityClass
from multimargin.typing import Features
from multimargin.workers import delayed

# With badly scaled features libsvm would run for days; it warns when it stops here.
_MAX_STEPS = 1_000_000


def check_classifier(estimator: BaseEstimator) -> None:
    """Check the argument `estimator`."""
    if estimator is not None and not is_estimator(estimator):
        raise TypeError(f"estimator is {estimator!r}; expected None or a classifier with `fit`.")


def classifier_or_default(estimator: BaseEstimator | None) -> BaseEstimator:
    """Return a classifier to clone: libsvm with a linear kernel and C = 1 for None."""
    return SVC(kernel="linear", C=1.0, max_iter=_MAX_STEPS) if estimator is None else estimator


def fitted(pattern: BaseEstimator, X: Features, y: NDArray[np.generic]) -> BaseEstimator:
    """Return a fitted clone of a classifier, for which Ctrl-C does not wait."""
    return aside(clone(pattern).fit, X, y)


def fit_all(
    estimator: BaseEstimator,
    problems: Iterable[tuple[Features, NDArray[np.generic]]],
    n_jobs: int | None,
) -> list[BaseEstimator]:
    """Fit a clone of the classifier to each problem."""
    pattern = classifier_or_default(estimator)
    found: list[Any] = Parallel(n_jobs=n_jobs)(delayed(_fit)(pattern, X, y) for X, y in problems)
    return found


def _fit(pattern: Any, X: Features, y: NDArray[Any]) -> Any:
    values = np.unique(y)
    if values.size == 1:
        return MajorityClass(bool(values[0]))
    return fitted(pattern, X, y)
