"""Numbers of label-specific features (LLSF paper, figure 4)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.plots.checks import check_has, check_label_names, label_names_of, method_inside
from multimargin.plots.drawing import check_axes, style, write_names

# Beyond, every label has a name below its bar, but not a number.
_MOST_NUMBERS = 20


class LabelFeatureCountDisplay:
    """The number of label-specific features of each label, as bars (LLSF paper, figure 4).

    Use `from_estimator` to make one.

    Parameters
    ----------
    counts : array-like of shape (q,)
        Number of features of each label.
    label_names : array-like of shape (q,), default=None
        Names of the labels; their numbers when None.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    bars_ : matplotlib BarContainer
        The bars.
    """

    def __init__(self, counts: Any, *, label_names: Any = None) -> None:
        values = np.asarray(counts)
        if values.ndim != 1 or values.size == 0:
            raise ValueError(f"counts has shape {values.shape}; expected (q,), one a label.")
        if values.dtype.kind not in "biu" or values.min() < 0:
            raise ValueError("counts are not all whole numbers that are at least 0.")
        self.counts: NDArray[Any] = values
        self.label_names: list[str] = check_label_names(label_names, values.size)

    @classmethod
    def from_estimator(cls, estimator: Any, *, label_names: Any = None, ax: Any = None) -> Self:
        """Plot the feature counts of a fitted estimator.

        Parameters
        ----------
        estimator : LLSF, LabelSpecificBinaryRelevance or LabelSpecificClassifierChain
            Fitted.
        label_names : array-like of shape (q,), default=None
            Names of the labels; those of the estimator's data frame, or numbers, when
            None.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.

        Raises
        ------
        TypeError
            If it has no label-specific features.
        """
        check_is_fitted(estimator)
        estimator = method_inside(estimator)
        check_has(
            estimator,
            "label_specific_features_",
            "LLSF, LabelSpecificBinaryRelevance or LabelSpecificClassifierChain",
        )
        if label_names is None:
            label_names = label_names_of(estimator)
        counts = np.count_nonzero(estimator.label_specific_features_, axis=1)
        return cls(counts, label_names=label_names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        """
        q = self.counts.size
        ax = check_axes(ax, width=min(max(6.4, 0.18 * q), 16.0))
        self.bars_ = ax.bar(np.arange(q), self.counts, width=0.8, color=style(0)["color"])
        ax.set_xlim(-0.6, q - 0.4)
        numbered = self.label_names == [str(label) for label in range(q)]
        if numbered and q > _MOST_NUMBERS:
            ax.xaxis.get_major_locator().set_params(integer=True)
        else:
            write_names(ax, "x", self.label_names)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("Label")
        ax.set_ylabel("Number of label-specific features")
        self.ax_, self.figure_ = ax, ax.figure
        return self
