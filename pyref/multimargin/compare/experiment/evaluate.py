"""One job: a method is fitted to the training rows of a split and measured on its test rows."""

import os
import platform
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import multilabel_confusion_matrix
from sklearn.pipeline import Pipeline

from multimargin.calibration.held_out import named_estimators
from multimargin.compare.experiment.identity import describe
from multimargin.compare.experiment.splits import Split
from multimargin.compare.experiment.tuning import Search, tuned
from multimargin.compare.measured import RANKING
from multimargin.compare.results import Result
from multimargin.datasets.table_encoder import with_encoder
from multimargin.estimators.bases.kernel_expansion import KernelExpansionClassifier
from multimargin.estimators.fitting.certificate import certificate_of
from multimargin.estimators.label_ranker.estimator import LabelRankerCV
from multimargin.inspection.steps import final_estimator
from multimargin.measures import all_measures, more_measures
from multimargin.measures.label_scores import scores_of
from multimargin.notices import warn
from multimargin.scaling import with_scaler
from multimargin.scikit_learn import safe_indexing
from multimargin.targets.indicator import complete_rows, known_both, known_labels
from multimargin.targets.reading import UnknownLabelsWarning
from multimargin.typing import Features, Marks

_PACKAGES = ("multimargin", "numpy", "scipy", "scikit-learn", "joblib")


@dataclass(frozen=True, eq=False)
class Job:
    """A method on a split."""

    estimator: Any  # Unfitted; it is cloned
    split: Split
    blank: Result  # The result, as far as it is known before the fit
    # The search for its parameters on the training rows; None for none
    search: Search | None = None
    # Of a table the kinds of its columns, which are encoded as the training rows ask for
    kinds: Mapping[str, str] | None = None


def evaluate(X: Features, Y: Marks, job: Job) -> Result:
    """Fit and measure; an exception becomes a result with an error."""
    noted: list[str] = []
    try:
        with _noting_warnings(noted):
            found = _fit_and_measure(X, Y, job)
    except Exception as error:
        lines = traceback.format_exception(error)
        text = {"type": type(error).__name__, "message": str(error), "traceback": "".join(lines)}
        found = replace(job.blank, error=text)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(found, warnings=noted, environment=_environment(), finished=finished)


def _fit_and_measure(X: Any, Y: NDArray[Any], job: Job) -> Result:
    train, test = _known_enough(job.estimator, job.split.train, Y), job.split.test
    Y_train, Y_test = Y[train], Y[test]
    X_train, X_test = (safe_indexing(X, rows) for rows in (train, test))
    model, found = _pipeline(X_train, job), None
    if job.search is not None:
        model, found = tuned(model, job.search, X_train, Y_train)

    start = perf_counter()
    model.fit(X_train, Y_train)
    fitted = perf_counter()
    predicted = model.predict(X_test)
    end = perf_counter()

    scores, source = scores_of(model, X_test, Y.shape[1])
    return replace(
        job.blank,
        measures=_measures(Y_test, predicted, scores),
        label_counts=_label_counts(Y_test, predicted).tolist(),
        scores=source,
        fit_seconds=fitted - start,
        predict_seconds=end - fitted,
        certificate=certificate_of(model[-1]),
        tuning=None if found is None else {**found, "parameters": describe(found["parameters"])},
    )


def _known_enough(estimator: Any, rows: NDArray[np.intp], Y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows to which a method can be fitted: most need all labels of a row."""
    complete = complete_rows(Y[rows])
    if complete.all() or _takes_unknown_labels(estimator):
        return rows
    if not complete.any():
        raise ValueError(
            f"y has an unknown label in each of the {rows.size} training rows, and "
            f"{type(estimator).__name__} needs rows in which all are known."
        )
    warn(
        f"fitted to {np.count_nonzero(complete)} of {rows.size} training rows: the others have "
        "unknown labels, which the method does not take"
    )
    return rows[complete]


def _takes_unknown_labels(estimator: Any) -> bool:
    """Return whether an estimator, or what is inside of it, is fitted to labels with NaN."""
    estimator = final_estimator(estimator)
    if isinstance(estimator, KernelExpansionClassifier | LabelRankerCV):
        return True
    inner = getattr(estimator, "estimator", None)
    if inner is None:
        return False
    return all(_takes_unknown_labels(one) for _, one in named_estimators(inner))


def _label_counts(Y: NDArray[Any], predicted: Any) -> NDArray[np.intp]:
    """Return the true negatives, false positives, false negatives and true positives, (q, 4)."""
    indicator, known = known_labels(Y, "y")
    found: NDArray[np.intp] = multilabel_confusion_matrix(indicator, np.where(known, predicted, 0))
    counts = found.reshape(-1, 4)
    counts[:, 0] -= np.count_nonzero(~known, axis=0)
    return counts


def _pipeline(X: Any, job: Job) -> Pipeline:
    """Return the unfitted method after the steps that scale the features."""
    estimator, scaling = clone(job.estimator), job.blank.scaling
    if job.kinds is not None:
        return with_encoder(estimator, job.kinds, scaling, n_rows=X.shape[0])
    return with_scaler(estimator, scaling, sparse=sparse.issparse(X))


def _measures(Y: NDArray[Any], predicted: Any, scores: NDArray[Any]) -> dict[str, float]:
    more = more_measures(Y, scores)
    if known_both(Y, axis=1).any():
        return all_measures(Y, predicted, scores) | more
    # Nothing to rank in any row: the other measures are still defined.
    measures = all_measures(Y, predicted, scores, degenerate_rows="count")
    return {name: value for name, value in measures.items() if name not in RANKING} | more


@cache
def _environment() -> dict[str, str]:
    """Return the versions and the machine that a result comes from."""
    return {
        **{name: version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": f"{platform.node()} ({platform.machine()})",
        "processors": str(os.cpu_count()),
    }


@contextmanager
def _noting_warnings(noted: list[str]) -> Iterator[None]:
    # The filters belong to the process: to change them in one of several threads would be a race.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # The number of unknown labels is a property of the data, not of a fit.
        warnings.simplefilter("ignore", UnknownLabelsWarning)
        try:
            yield
        finally:
            texts = (f"{entry.category.__name__}: {entry.message}" for entry in caught)
            noted.extend(dict.fromkeys(texts))
