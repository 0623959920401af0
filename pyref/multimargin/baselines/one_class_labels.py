"""Labels that all training rows have, or none, to which most classifiers cannot be fitted."""

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.storage import canonical, check_storage
from multimargin.decompositions import aside
from multimargin.measures.label_scores import scores_of
from multimargin.scikit_learn import num_samples
from multimargin.targets.indicator import check_indicator
from multimargin.typing import LabelsLike, MatrixLike
from multimargin.whole_fits import whole_or_unchanged


class WithOneClassLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any multi-label classifier, made able to take labels with one class in the training rows.

    The classifier learns the other labels. A label that no training row has is never predicted and
    ranked last, one that every training row has is always predicted and ranked first.

    Parameters
    ----------
    estimator : estimator
        A classifier that takes an indicator matrix; it is cloned.

    Attributes
    ----------
    estimator_ : estimator or None
        The fitted classifier; None when all labels have one class.
    labels_with_one_class_ : ndarray of int
        Columns of these labels.
    constants_ : ndarray of shape (q,)
        For these labels whether every training row has them; 0 elsewhere.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike) -> Self:
        """Fit the classifier to the labels that have both classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1.
        """
        # One-vs-rest casts the numbers of the labels to the type of Y, and uint8 ends at 255.
        indicator = check_indicator(y).astype(np.int64)
        counts = indicator.sum(axis=0, dtype=np.intp)
        constant = (counts == 0) | (counts == len(indicator))
        self.labels_with_one_class_ = np.flatnonzero(constant)
        self.constants_ = np.where(constant, indicator[0], 0)
        self.classes_ = np.arange(indicator.shape[1])
        self._both = np.flatnonzero(~constant)
        self.estimator_ = None
        if self._both.size:
            # One column would be treated as a binary problem: the same twice stays multi-label.
            columns = self._both if self._both.size > 1 else np.repeat(self._both, 2)
            fit = partial(clone(self.estimator).fit, _readable(X))
            self.estimator_ = aside(fit, indicator[:, columns])
        return self

    def predict(self, X: MatrixLike) -> NDArray[np.int64]:
        """Predict the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            0 and 1.
        """
        check_is_fitted(self, "constants_")
        labels = np.tile(self.constants_, (num_samples(X), 1))
        if self.estimator_ is not None:
            predicted = self.estimator_.predict(_readable(X))
            dense = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
            labels[:, self._both] = dense[:, : self._both.size]
        return labels

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the classifier's scores, or its probabilities less 1/2 where it has no scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Larger for more probable labels, positive for those that are predicted. Otherwise only
            the order within a row has a meaning.
        """
        check_is_fitted(self, "constants_")
        n, q = num_samples(X), self.constants_.size
        if self.estimator_ is None:
            return np.tile(self.constants_.astype(np.float64), (n, 1))
        found, source = scores_of(self.estimator_, _readable(X), max(self._both.size, 2))
        found = found[:, : self._both.size] - (0.0 if source == "decision_function" else 0.5)
        scores = np.empty((n, q))
        scores[:, self._both] = found
        for label in self.labels_with_one_class_:
            first = bool(self.constants_[label])
            # Beyond the others, and on their side of 0.
            best, worst = found.max(axis=1, initial=0.0), found.min(axis=1, initial=0.0)
            scores[:, label] = best + 1.0 if first else worst - 1.0
        return scores


def _readable(X: Any) -> Any:
    """Return features in a form that all classifiers read alike, sparse ones canonical."""
    check_storage(X, "X")
    return canonical(X.tocsr()) if sparse.issparse(X) else X
