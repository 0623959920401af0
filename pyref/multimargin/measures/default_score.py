"""The share of rows whose labels are predicted exactly, the default of `score`."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.weights import check_sample_weight
from multimargin.targets.reading import Labels, read_targets
from multimargin.typing import LabelsLike, MatrixLike


class ExactMatch(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose `score` takes `y` in any form that names its labels."""

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose labels are predicted exactly.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), or list of n lists of names
            Label indicator or classes, as in `fit`. A name that the model does not have is a label
            that no prediction meets.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.

        Returns
        -------
        float
            Between 0 and 1.
        """
        check_is_fitted(self)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        targets = read_targets(y, labels=Labels.of(self))
        predicted = self.predict(X)
        check_as_many_rows(targets.indicator, predicted)
        if not self.multilabel_:
            predicted = predicted[:, np.newaxis] == self.classes_
        exact = (predicted == targets.indicator).all(axis=1)
        if targets.has_other is not None:
            exact &= ~targets.has_other
        return float(np.average(exact, weights=check_sample_weight(sample_weight, exact.size)))
