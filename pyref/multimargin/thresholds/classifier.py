"""Any multi-label classifier with a threshold learned from out-of-fold scores."""

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.parameters import check_choice, job_count
from multimargin.checks.targets import check_targets
from multimargin.measures.label_scores import response_of, scores_by
from multimargin.thresholds.base import Threshold, learn_threshold
from multimargin.thresholds.make import make_threshold

Matrix = NDArray[np.float64]

_RESPONSES = ("label_scores", "decision_function", "predict_proba")


class ThresholdedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A multi-label classifier whose threshold is learned from out-of-fold scores.

    The classifier is fitted without each fold in turn and scores the rows of the fold; the
    threshold is learned from these scores. A model flatters the rows that it was trained on, so a
    threshold learned from their scores would not fit new rows. Then the classifier is fitted on all
    rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's (one-vs-rest, classifier chains, forests, neighbours, ...),
        pipelines and searches.
    threshold : {"labels", "count", "scores", "features"}, float or Threshold, default="labels"
        The threshold, see `multimargin.thresholds.make_threshold`.
    cv : int, splitter or iterable of (train, test), default=5
        The folds. An int means as many blocks of rows in their order; where labels are rare,
        `multimargin.tuning.MultilabelStratifiedKFold` keeps them in all folds.
    response_method : {"auto", "label_scores", "decision_function", "predict_proba"}, default="auto"
        Which scores to take; "auto" is the first that the classifier has, of a pipeline or a search
        the one that it ends with or found.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1.

    Attributes
    ----------
    estimator_ : estimator
        The classifier, fitted on all rows.
    threshold_ : Threshold
        The threshold, fitted on the out-of-fold scores.
    response_method_ : str
        Where the scores come from.
    classes_ : ndarray of shape (q,)
        Label numbers.
    label_names_in_ : ndarray of shape (q,)
        Column names of `Y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features, if the classifier tells.

    Notes
    -----
    The threshold is learned in units of the spread of the scores (the standard deviation over the
    labels, averaged over the rows), because scores of different models, probabilities, margins,
    distances, have different scales, and thresholds beyond the last score lie one unit beyond.
    Rows that are in no test fold take no part in the threshold, rows that are in several count as
    often. For one-dimensional targets of two classes there is
    `sklearn.model_selection.TunedThresholdClassifierCV`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from multimargin import ThresholdedClassifier
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = ThresholdedClassifier(KNeighborsClassifier(), threshold="labels").fit(X, Y)
    >>> model.predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(
        self,
        estimator: Any,
        threshold: str | float | Threshold = "labels",
        *,
        cv: Any = 5,
        response_method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.cv = cv
        self.response_method = response_method
        self.n_jobs = n_jobs

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

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn the threshold, and fit the classifier on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features, whatever the classifier takes.
        Y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1, q >= 2.

        Returns
        -------
        ThresholdedClassifier
            The fitted estimator itself.

        Raises
        ------
        TypeError, ValueError
            If an argument or a parameter is malformed, or whatever the classifier raises.
        """
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator is {self.estimator!r}; expected a classifier with `fit`.")
        check_choice("response_method", self.response_method, ("auto", *_RESPONSES))
        threshold = make_threshold(self.threshold, random_state=0)
        targets = check_targets(Y)
        if not targets.multilabel:
            raise ValueError(
                "Y has one dimension; expected a label indicator of shape (n, q) (for two classes, "
                "use sklearn.model_selection.TunedThresholdClassifierCV)."
            )
        check_as_many_rows(targets.indicator, X)
        indicator = targets.indicator.astype(int)
        folds = self._folds(X, indicator)
        jobs = job_count(self.n_jobs, len(folds))
        scores = Parallel(n_jobs=jobs)(
            delayed(_held_out_scores)(
                clone(self.estimator), X, indicator, fold, self.response_method
            )
            for fold in folds
        )
        rows = np.concatenate([np.asarray(test) for _, test in folds])
        held_out = np.vstack(scores)
        self.threshold_ = learn_threshold(
            threshold, held_out, indicator[rows], _safe_indexing(X, rows)
        )
        self.estimator_ = clone(self.estimator).fit(X, indicator)
        self.response_method_ = response_of(self.estimator_, _wanted(self.response_method))
        targets.name_outputs(self)
        return self

    def _folds(self, X: Any, indicator: NDArray[Any]) -> list[Any]:
        try:
            folds = list(check_cv(self.cv, indicator, classifier=True).split(X, indicator))
            if any(np.ndim(rows) != 1 for fold in folds for rows in fold):
                raise ValueError("a fold is no pair of lists of rows")
            return folds
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"cv is {self.cv!r}; expected a number of folds of at least 2, a splitter or pairs "
                f"of row indices: {error}"
            ) from error

    def label_scores(self, X: Any) -> Matrix:
        """Return the scores of the classifier, before the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            f_k(x_i), relevant labels ranked first.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(self)
        return scores_by(self.estimator_, self.response_method_, X, n_labels=self.classes_.size)

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores minus the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            f_k(x_i) - t(x_i). A threshold of its own for each label changes the ranking of the
            labels here; `label_scores` keeps that of the classifier.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        scores = self.label_scores(X)
        return self.threshold_.decision_function(scores, X)

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

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        return np.asarray(self.decision_function(X) > 0, dtype=np.intp)


def _held_out_scores(
    estimator: Any,
    X: Any,
    Y: NDArray[Any],
    fold: tuple[NDArray[np.intp], NDArray[np.intp]],
    response_method: str,
) -> Matrix:
    train, test = fold
    X_train, Y_train = _safe_split(estimator, X, Y, train)
    X_test, _ = _safe_split(estimator, X, None, test, train)
    try:
        estimator.fit(X_train, Y_train)
    except ValueError as error:
        absent = np.flatnonzero(~Y_train.any(axis=0))
        if absent.size > 0:
            error.add_note(
                f"Labels {absent.tolist()} have no relevant row in the training part of a fold. "
                "MultilabelStratifiedKFold as cv spreads rare labels over the folds."
            )
        raise
    response = response_of(estimator, _wanted(response_method))
    return scores_by(estimator, response, X_test, n_labels=Y.shape[1])


def _wanted(response_method: str) -> tuple[str, ...]:
    return _RESPONSES if response_method == "auto" else (response_method,)
