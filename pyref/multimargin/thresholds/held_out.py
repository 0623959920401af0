"""Classifiers that learn something from the scores of rows that the model has not seen."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.labels import with_nan
from multimargin.checks.parameters import check_choice, job_count
from multimargin.checks.targets import UnknownLabelsWarning, check_targets
from multimargin.checks.weights import check_sample_weight
from multimargin.measures.label_scores import response_of, scores_by
from multimargin.tuning.folds import folds_of

Matrix = NDArray[np.float64]

_RESPONSES = ("label_scores", "decision_function", "predict_proba")


@dataclass(frozen=True)
class HeldOut:
    """Held-out scores, and what belongs to them."""

    scores: Matrix  # (m, q): Scores of the rows of all folds
    labels: NDArray[Any]  # (m, q): Their labels, NaN where they are unknown
    rows: NDArray[np.intp]  # (m,): Their numbers among the rows of the fit
    sample_weight: Matrix | None  # (m,): Their weights
    folds: NDArray[np.intp]  # (m,): The number of the fold that held each out


class HeldOutClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the classifiers around another one, which is fitted without each fold in turn."""

    estimator: Any
    cv: Any
    response_method: str
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        if hasattr(self.estimator, "fit"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the classifier tells."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if the classifier was fitted to a data frame with such."""
        names: NDArray[Any] = self.estimator_.feature_names_in_
        return names

    def _hold_out(self, X: Any, y: Any, sample_weight: Any) -> HeldOut:
        """Return the held-out scores, and fit the classifier on all rows."""
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator is {self.estimator!r}; expected a classifier with `fit`.")
        check_choice("response_method", self.response_method, ("auto", *_RESPONSES))
        targets = check_targets(y, unknown=True)
        if not targets.multilabel:
            raise ValueError(
                "y has one dimension; expected a label indicator of shape (n, q) (for two classes, "
                "use sklearn.model_selection.TunedThresholdClassifierCV or "
                "sklearn.calibration.CalibratedClassifierCV)."
            )
        check_as_many_rows(targets.indicator, X)
        weights = check_sample_weight(sample_weight, targets.indicator.shape[0])
        labels = with_nan(targets.indicator)
        if labels is targets.indicator:
            labels = labels.astype(int)
        folds = folds_of(self.cv, X, (targets.indicator == 1).astype(int))
        jobs = job_count(self.n_jobs, len(folds))
        scores = Parallel(n_jobs=jobs)(
            delayed(_held_out_scores)(
                clone(self.estimator), X, labels, weights, fold, self.response_method
            )
            for fold in folds
        )
        self.estimator_ = _fitted(clone(self.estimator), X, labels, weights)
        self.response_method_ = response_of(self.estimator_, _wanted(self.response_method))
        targets.name_outputs(self)
        rows = np.concatenate([np.asarray(test) for _, test in folds])
        return HeldOut(
            np.vstack(scores),
            labels[rows],
            rows,
            None if weights is None else weights[rows],
            np.repeat(np.arange(len(folds)), [len(test) for _, test in folds]),
        )

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from held-out scores, and fit the classifier on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features, whatever the classifier takes.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1, q >= 2; NaN for unknown labels, if the classifier takes
            them.
        sample_weight : array-like of shape (n,), default=None
            How often each row counts, in the classifier's fits, which must take them, and in what
            is learned from the scores. A pipeline hands them to its last step.
        """

    @abstractmethod
    def label_scores(self, X: Any) -> Matrix:
        """Return a score of each label, before the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Those of the classifier, or log(p / (1 - p)) of a calibrated one; relevant labels are
            ranked first.
        """

    @abstractmethod
    def decision_function(self, X: Any) -> Matrix:
        """Return the label scores less the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Scores less the threshold. One for each label changes the ranking of the labels here;
            `label_scores` keeps it.
        """

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the relevant labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            1 where the decision function is positive, else 0.
        """
        return np.asarray(self.decision_function(X) > 0, dtype=np.intp)

    def _scores(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return scores_by(self.estimator_, self.response_method_, X, n_labels=self.classes_.size)


def sliceable(X: Any) -> Any:
    """Return features whose rows can be taken out: not every sparse format allows it."""
    return X.tocsr() if sparse.issparse(X) else X


def _fitted(estimator: Any, X: Any, y: NDArray[Any], sample_weight: Matrix | None) -> Any:
    """Return a classifier fitted with the weights of the rows, a pipeline's in its last step."""
    if sample_weight is None:
        return estimator.fit(X, y)
    last, name = estimator, "sample_weight"
    while isinstance(last, Pipeline):
        name = f"{last.steps[-1][0]}__{name}"
        last = last[-1]
    if not has_fit_parameter(last, "sample_weight"):
        raise TypeError(
            f"sample_weight is given, but fit of {type(last).__name__} takes none; expected None."
        )
    return estimator.fit(X, y, **{name: sample_weight})


def _held_out_scores(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: Matrix | None,
    fold: tuple[NDArray[np.intp], NDArray[np.intp]],
    response_method: str,
) -> Matrix:
    train, test = fold
    X_train, Y_train = _safe_split(estimator, X, y, train)
    X_test, _ = _safe_split(estimator, X, None, test, train)
    of_train = None if sample_weight is None else sample_weight[train]
    try:
        with warnings.catch_warnings():
            # The fit on all rows warns of them.
            warnings.simplefilter("ignore", UnknownLabelsWarning)
            _fitted(estimator, X_train, Y_train, of_train)
    except ValueError as error:
        absent = np.flatnonzero(~(Y_train == 1).any(axis=0))
        if absent.size > 0:
            error.add_note(
                f"Labels {absent.tolist()} have no relevant row in the training part of a fold. "
                "MultilabelStratifiedKFold as cv spreads rare labels over the folds."
            )
        raise
    response = response_of(estimator, _wanted(response_method))
    return scores_by(estimator, response, X_test, n_labels=y.shape[1])


def _wanted(response_method: str) -> tuple[str, ...]:
    return _RESPONSES if response_method == "auto" else (response_method,)
