"""How often labels of a predicted probability are relevant."""

from typing import Any, Self

import numpy as np
from sklearn.calibration import CalibrationDisplay as OfOneLabel

from multimargin.checks.labels import UNKNOWN, check_indicator, check_scores
from multimargin.measures.label_scores import scores_by
from multimargin.plots.drawing import new_axes


class CalibrationDisplay(OfOneLabel):  # type: ignore[misc]
    """Reliability diagram: the share of relevant labels over their predicted probability.

    scikit-learn's `sklearn.calibration.CalibrationDisplay`, over the pairs of a row and a label of
    all labels together, or of some. Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    prob_true, prob_pred, y_prob, estimator_name, pos_label
        As in `sklearn.calibration.CalibrationDisplay`.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot the diagram of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted multi-label classifier with `predict_proba`.
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features of rows that it was not fitted to.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Their labels, 0 and 1; NaN where unknown, which is left out.
        name : str, default=None
            Name in the legend; that of the class when None.
        **options : object
            Arguments of `from_predictions`.

        Raises
        ------
        TypeError, ValueError
            If the estimator has no probabilities.
        """
        probabilities = scores_by(estimator, "predict_proba", X)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, probabilities, name=name, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Plot the diagram of predicted probabilities.

        Parameters
        ----------
        y_true : array-like, sparse matrix or data frame of shape (n, q)
            True labels, 0 and 1; NaN where unknown, which is left out.
        y_prob : array-like of shape (n, q)
            Probabilities.
        labels : array-like of int, default=None
            The labels that take part; None is all.
        n_bins : int, default=10
            Number of bins.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins with the same number of pairs, or of the same width. Most probabilities are small
            where labels are many.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        **line : object
            As in `sklearn.calibration.CalibrationDisplay.from_predictions`: `name` in the legend,
            `ref_line` for perfect calibration, and what matplotlib's ``plot`` takes.
        """
        indicator = check_indicator(y_true, "y_true", unknown=True)
        n, q = indicator.shape
        probabilities = check_scores(y_prob, n_rows=n, n_labels=q, name="y_prob")
        chosen = np.arange(q) if labels is None else np.asarray(labels)
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not np.isin(chosen, range(q)).all():
            raise ValueError(f"labels is {labels!r}; expected numbers from 0 to {q - 1}.")
        known = indicator[:, chosen] != UNKNOWN
        display: Self = super().from_predictions(
            indicator[:, chosen][known],
            probabilities[:, chosen][known],
            n_bins=n_bins,
            strategy=strategy,
            pos_label=1,
            ax=new_axes(1)[0] if ax is None else ax,
            **line,
        )
        return display
