"""The zero label in place of a label that a row has none."""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from multimargin.estimators.rank_svmz import RankSVMz
from multimargin.targets.reading import Targets
from multimargin.typing import LabelsLike, Matrix, MatrixLike


class ZeroLabelRanker(RankSVMz):
    """`RankSVMz` on targets whose last label says that a row has none.

    Its zero label, below which a label is not predicted, takes the place of that label: of the
    score 0, from which those of the others are measured.
    """

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.
        y : array-like of shape (n, q + 1)
            Label indicator, whose last column is not used.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.
        """
        if isinstance(y, Targets):
            indicator = np.ascontiguousarray(y.indicator[:, :-1])
            y = replace(y, indicator=indicator, classes=y.classes[:-1])
        else:
            y = np.asarray(y)[:, :-1]
        super().fit(X, y, sample_weight)
        return self

    def label_scores(self, X: MatrixLike) -> Matrix:
        """Return the scores of the labels, and last that of the zero label, 0.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q + 1)
            The scores.
        """
        scores = super().label_scores(X)
        return np.column_stack([scores, np.zeros(len(scores))])
