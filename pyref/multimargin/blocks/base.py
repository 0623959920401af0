"""Base of the classifiers of a stack."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from multimargin.targets.indicator import known_labels

Matrix = NDArray[np.float64]


class LabelBlock(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers of labels that take sparse features."""

    classes_: NDArray[np.intp]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


class OddsBlock(LabelBlock, ABC):
    """Base of those whose decision function is the logarithm of the odds of each label."""

    @abstractmethod
    def decision_function(self, X: Any) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)).
        """

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Between 0 and 1.
        """
        return np.asarray(expit(self.decision_function(X)))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the labels that are more likely than not.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            0 and 1.
        """
        return np.asarray(self.decision_function(X) > 0.0, dtype=np.intp)


def with_shares(y: Any, weights: Matrix | None) -> Matrix:
    """Return an indicator (n, q) in which an unknown label counts by its share among known rows."""
    indicator, known = known_labels(y, "y")
    filled = indicator.astype(np.float64)
    if known.all():
        return filled
    counted = np.ones(len(filled)) if weights is None else weights
    totals = counted @ known
    shares = np.divide(counted @ filled, totals, out=np.full(totals.shape, 0.5), where=totals > 0.0)
    return np.where(known, filled, shares)
