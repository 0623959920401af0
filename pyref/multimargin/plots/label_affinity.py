"""Affinities of labels and of their coefficients (LLSF paper, figure 5)."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.labels import check_indicator
from multimargin.plots.checks import Matrix, check_has, check_square, method_inside
from multimargin.plots.drawing import DIVERGING, new_axes


class LabelAffinityDisplay:
    """Cosines between labels, and between their coefficients, side by side (figure 5).

    Use `from_estimator` to make one. Similar pictures mean that similar labels share features.

    Parameters
    ----------
    label_affinity : array-like of shape (q, q)
        Cosines between the columns of y.
    coefficient_affinity : array-like of shape (q, q)
        Cosines between the columns of W.

    Attributes
    ----------
    axes_, figure_ : ndarray of two matplotlib Axes, matplotlib Figure
        What was drawn on.
    images_ : tuple of two matplotlib AxesImage
        The matrices of colours.
    """

    def __init__(self, label_affinity: Any, coefficient_affinity: Any) -> None:
        self.label_affinity: Matrix = check_square("label_affinity", label_affinity)
        self.coefficient_affinity: Matrix = check_square(
            "coefficient_affinity", coefficient_affinity
        )
        if self.coefficient_affinity.shape != self.label_affinity.shape:
            raise ValueError(
                f"coefficient_affinity has shape {self.coefficient_affinity.shape}; expected "
                f"{self.label_affinity.shape}, as label_affinity."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, y: Any, **options: Any) -> Self:
        """Plot the affinities of training labels and of fitted coefficients.

        Parameters
        ----------
        estimator : LLSF
            Fitted.
        y : array-like, sparse matrix or data frame of shape (n, q)
            The training labels.
        **options : object
            Arguments of `plot`.

        Raises
        ------
        TypeError, ValueError
            If it has no coefficients, or `y` does not fit them.
        """
        check_is_fitted(estimator)
        estimator = method_inside(estimator)
        check_has(estimator, "coef_", "LLSF")
        indicator = check_indicator(y)
        if indicator.shape[1] != estimator.coef_.shape[0]:
            raise ValueError(
                f"y has {indicator.shape[1]} labels; expected {estimator.coef_.shape[0]} as in fit."
            )
        return cls(affinity(indicator), affinity(estimator.coef_.T)).plot(**options)

    def plot(self, *, axes: Any = None, cmap: str = DIVERGING) -> Self:
        """Draw both matrices.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Where to draw; a new figure when None.
        cmap : str, default="RdBu_r"
            Colour map for the range from -1 to 1.
        """
        axes = new_axes(2, width=10.0, height=4.8) if axes is None else np.asarray(axes)
        if axes.shape != (2,):
            raise ValueError(f"axes has shape {axes.shape}; expected two matplotlib Axes.")
        images = []
        pictures = (("Labels", self.label_affinity), ("Coefficients", self.coefficient_affinity))
        for ax, (title, matrix) in zip(axes, pictures, strict=True):
            images.append(ax.imshow(matrix, cmap=cmap, vmin=-1.0, vmax=1.0))
            ax.set_title(title)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.yaxis.get_major_locator().set_params(integer=True)
            ax.set_xlabel("Label")
            ax.set_ylabel("Label")
        axes[0].figure.colorbar(images[-1], ax=list(axes), label="Cosine", shrink=0.8)
        self.axes_, self.figure_ = axes, axes[0].figure
        self.images_ = tuple(images)
        return self


def affinity(columns: Any) -> Matrix:
    """Return the cosines between the columns of a matrix.

    Parameters
    ----------
    columns : array-like or sparse matrix of shape (n, q)
        Labels Y or coefficients W.

    Returns
    -------
    ndarray of shape (q, q)
        The matrices C^Y and C^W of the LLSF paper, section IV-E. A column of zeros has affinity 0
        to every column.
    """
    matrix = columns.toarray() if sparse.issparse(columns) else np.asarray(columns)
    matrix = matrix.astype(np.float64)
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0.0] = 1.0
    cosines: Matrix = (matrix / norms).T @ (matrix / norms)
    return cosines
