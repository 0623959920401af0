"""Label correlations that MLRL and SSMLRL learned."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from multimargin.plots.checks import (
    Matrix,
    check_has,
    check_label_names,
    check_square,
    label_names_of,
    method_inside,
)
from multimargin.plots.drawing import DIVERGING, check_axes, write_names, write_values


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
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    im_ : matplotlib AxesImage
        The matrix of colours.
    text_ : ndarray of shape (q, q) or None
        The numbers.

    Notes
    -----
    What the tables VIII to X of Zhang and Yeung, "Multi-Label Relationship Learning", show.
    """

    def __init__(self, correlation: Any, *, label_names: Any = None) -> None:
        self.correlation: Matrix = check_square("correlation", correlation)
        self.label_names: list[str] = check_label_names(label_names, len(self.correlation))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label_names: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the correlations of a fitted estimator.

        Parameters
        ----------
        estimator : MLRL or SSMLRL
            Fitted, in a pipeline or a search perhaps.
        label_names : array-like of shape (q,), default=None
            Names of the labels; those of the estimator's data frame, or numbers, when None.
        **options : object
            Arguments of `plot`.

        Raises
        ------
        TypeError
            If it learns no label correlations.
        ValueError
            If there are not as many names as labels.
        """
        check_is_fitted(estimator)
        estimator = method_inside(estimator)
        check_has(estimator, "label_correlation_", "MLRL or SSMLRL")
        if label_names is None:
            label_names = label_names_of(estimator)
        if label_names is None:
            label_names = estimator.classes_
        return cls(estimator.label_correlation_, label_names=label_names).plot(**options)

    def plot(
        self,
        *,
        ax: Any = None,
        cmap: str = DIVERGING,
        values_format: str = ".2f",
        include_values: bool | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        cmap : str, default="RdBu_r"
            Colour map.
        values_format : str, default=".2f"
            Format of the numbers.
        include_values : bool, default=None
            Whether to write the numbers; None writes them where they can be read.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        """
        side = min(max(3.5 + 0.35 * len(self.correlation), 5.0), 13.0)
        ax = check_axes(ax, width=side + 0.8, height=side)
        self.ax_, self.figure_ = ax, ax.figure
        self.im_ = ax.imshow(self.correlation, cmap=cmap, vmin=-1.0, vmax=1.0)
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, label="Correlation", shrink=0.8)
        write_names(ax, "x", self.label_names)
        write_names(ax, "y", self.label_names)
        self.text_ = None
        if include_values is not False:
            texts = [[format(value, values_format) for value in row] for row in self.correlation]
            self.text_ = write_values(ax, self.im_, texts, forced=include_values is True)
        return self
