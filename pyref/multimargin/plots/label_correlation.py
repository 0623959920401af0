"""Label correlations that MLRL and SSMLRL learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.plots.common import new_axes

# White letters on the dark ends of the colour map, black ones between.
_DARK = 0.6


class LabelCorrelationDisplay:
    """The label correlations that MLRL or SSMLRL learned, as a matrix of colours and numbers.

    Use `from_estimator` to make one. Blue is negative, red positive.

    Parameters
    ----------
    correlation : array-like of shape (q, q)
        Label correlations, between -1 and 1.
    label_names : array-like of shape (q,), default=None
        Names of the labels; their numbers when None.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    im_ : matplotlib AxesImage
        The matrix of colours.
    text_ : ndarray of shape (q, q) or None
        The numbers.
    """

    def __init__(self, correlation: Any, *, label_names: Any = None) -> None:
        matrix = np.asarray(correlation, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"correlation has shape {matrix.shape}; expected a square matrix of shape (q, q)."
            )
        names = np.arange(len(matrix)) if label_names is None else np.asarray(label_names)
        if names.shape != matrix.shape[:1]:
            raise ValueError(
                f"label_names has shape {names.shape}; expected ({len(matrix)},), one a label."
            )
        self.correlation: NDArray[np.float64] = matrix
        self.label_names: NDArray[Any] = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label_names: Any = None,
        ax: Any = None,
        cmap: str = "RdBu_r",
        values_format: str = ".2f",
        include_values: bool | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Plot the correlations of a fitted estimator.

        Parameters
        ----------
        estimator : MLRL or SSMLRL
            Fitted.
        label_names : array-like of shape (q,), default=None
            Names of the labels; those of the estimator's data frame, or numbers, when None.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        cmap : str, default="RdBu_r"
            Colour map.
        values_format : str, default=".2f"
            Format of the numbers.
        include_values : bool, default=None
            Whether to write the numbers; None writes them for up to 20 labels.
        colorbar : bool, default=True
            Whether to draw a colour bar.

        Returns
        -------
        LabelCorrelationDisplay
            The display.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If it learns no label correlations.
        ImportError
            If matplotlib is not installed.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "label_correlation_"):
            raise TypeError(
                f"estimator is a {type(estimator).__name__}, which has no label_correlation_; "
                "expected a fitted MLRL or SSMLRL."
            )
        if label_names is None:
            label_names = getattr(estimator, "label_names_in_", estimator.classes_)
        display = cls(estimator.label_correlation_, label_names=label_names)
        return display.plot(
            ax=ax,
            cmap=cmap,
            values_format=values_format,
            include_values=include_values,
            colorbar=colorbar,
        )

    def plot(
        self,
        *,
        ax: Any = None,
        cmap: str = "RdBu_r",
        values_format: str = ".2f",
        include_values: bool | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax, cmap, values_format, include_values, colorbar
            As in `from_estimator`.

        Returns
        -------
        LabelCorrelationDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if ax is None:
            ax = new_axes()[0]
        q = len(self.correlation)
        self.ax_, self.figure_ = ax, ax.figure
        self.im_ = ax.imshow(self.correlation, cmap=cmap, vmin=-1.0, vmax=1.0)
        self.text_ = None
        if include_values or (include_values is None and q <= 20):
            self.text_ = np.empty((q, q), dtype=object)
            for (j, k), value in np.ndenumerate(self.correlation):
                self.text_[j, k] = ax.text(
                    k,
                    j,
                    format(value, values_format),
                    ha="center",
                    va="center",
                    color="white" if abs(value) > _DARK else "black",
                )
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax)
        ax.set(xticks=np.arange(q), yticks=np.arange(q))
        ax.set_xticklabels(self.label_names, rotation=45, ha="right")
        ax.set_yticklabels(self.label_names)
        return self
