"""Numbers of label-specific features (LLSF paper, figure 4)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.plots.common import new_axes


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
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    bars_ : matplotlib BarContainer
        The bars.
    """

    # Beyond this many labels, names on the axis would overlap.
    _MAX_NAMES = 40

    def __init__(self, counts: Any, *, label_names: Any = None) -> None:
        values = np.asarray(counts)
        if values.ndim != 1:
            raise ValueError(f"counts has shape {values.shape}; expected (q,), one a label.")
        names = None if label_names is None else np.asarray(label_names)
        if names is not None and names.shape != values.shape:
            raise ValueError(
                f"label_names has shape {names.shape}; expected ({len(values)},), one a label."
            )
        self.counts: NDArray[Any] = values
        self.label_names: NDArray[Any] | None = names

    @classmethod
    def from_estimator(cls, estimator: Any, *, label_names: Any = None, ax: Any = None) -> Self:
        """Plot the feature counts of a fitted estimator.

        Parameters
        ----------
        estimator : LLSF, LabelSpecificBinaryRelevance or LabelSpecificClassifierChain
            Fitted.
        label_names : array-like of shape (q,), default=None
            Names of the labels; those of the estimator's data frame, if any, when None.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.

        Returns
        -------
        LabelFeatureCountDisplay
            The display.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If it knows no label-specific features.
        ImportError
            If matplotlib is not installed.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "label_specific_features_"):
            raise TypeError(
                f"estimator is a {type(estimator).__name__}, which has no label_specific_features_;"
                " expected a fitted LLSF, LabelSpecificBinaryRelevance or "
                "LabelSpecificClassifierChain."
            )
        if label_names is None:
            label_names = getattr(estimator, "label_names_in_", None)
        counts = np.count_nonzero(estimator.label_specific_features_, axis=1)
        return cls(counts, label_names=label_names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.

        Returns
        -------
        LabelFeatureCountDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(1)[0] if ax is None else ax
        places = np.arange(len(self.counts))
        self.bars_ = ax.bar(places, self.counts, width=0.8)
        if self.label_names is not None and len(places) <= self._MAX_NAMES:
            ax.set_xticks(places, [str(name) for name in self.label_names], rotation=90)
        ax.set_xlabel("Label")
        ax.set_ylabel("Number of label-specific features")
        self.ax_, self.figure_ = ax, ax.figure
        return self
