"""Base of the baselines: data in, one fit."""

from typing import Any, Self

from multimargin.checks.weights import refuse_metadata
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.targets.reading import Targets
from multimargin.typing import Features, LabelsLike, MatrixLike
from multimargin.whole_fits import whole_or_unchanged


class BaselineClassifier(LabelScoringClassifier):
    """Base of the baselines.

    A baseline derives from it and implements `_check_parameters`, `_fit` and `_label_scores`. In
    `_fit` it sets `threshold_` where its labels are not those with a positive score.
    """

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike, **metadata: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class per row, which is one-hot encoded and predicted
            by the largest score. Columns of a data frame become `label_names_in_`.
        **metadata : object
            There is none: no weights of rows, for instance.
        """
        refuse_metadata(self, metadata)
        self._check_parameters()
        X, targets, _ = self._checked_data(X, y, None)
        self._fit(X, targets)
        self._store_targets(targets)
        return self

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _fit(self, X: Features, targets: Targets) -> None:
        raise NotImplementedError
