"""Predicted probabilities of labels against the share of rows in which they are relevant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.checks.arrays import check_same_order
from multimargin.checks.names import did_you_mean, listed
from multimargin.checks.parameters import check_integer
from multimargin.checks.scores import check_scores
from multimargin.inspection.names import label_names_of_model
from multimargin.measures.label_scores import answer_of, label_names_of
from multimargin.plots.drawing import check_axes, style
from multimargin.targets.indicator import known_labels, with_nan
from multimargin.targets.reading import Labels, read_targets
from multimargin.typing import LabelsLike, MatrixLike, Name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALL_LABELS = "all labels"
"""The name of the curve of all labels together."""


@dataclass(frozen=True)
class Curve:
    """Reliability of the probabilities of a label in the nonempty bins."""

    name: str  # The label
    probability: NDArray[np.float64]  # (m,): Mean probability in a bin
    share: NDArray[np.float64]  # (m,): Share of places in which the label is relevant
    count: NDArray[np.intp]  # (m,): Number of places


class ReliabilityDisplay:
    """Reliability diagram: how often labels are relevant that have a probability of p.

    Use `from_estimator` or `from_predictions` to make one. Probabilities that mean what they say
    lie on the diagonal; below it they are too high. The area of a mark is as large as the number
    of rows in its bin.

    Parameters
    ----------
    curves : sequence of Curve
        A curve for each label that is shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the drawing.
    lines_ : list of matplotlib Line2D
        One line a label.
    legend_ : matplotlib Legend
        Names of the labels.
    """

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = list(curves)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        y: LabelsLike,
        *,
        labels: Sequence[Name] | None = None,
        bins: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Plot the probabilities that a fitted model gives to rows.

        Parameters
        ----------
        estimator : estimator, Pipeline or search
            A fitted model with `predict_proba`, such as `LabelRankerCV`.
        X : array-like, sparse matrix, data frame or sequence of n rows
            Rows that the model was not fitted to.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of their labels, 0 and 1; NaN where a label is unknown, which is left out.
            Columns of a data frame are found by name.
        labels : sequence, object or None, default=None
            Names of the labels to show, or numbers where labels have none; None shows one curve
            of all labels together.
        bins : int, default=10
            Number of bins of equal width between 0 and 1.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Raises
        ------
        TypeError, ValueError
            If the model gives no probabilities, or if an argument is malformed.
        """
        names = label_names_of_model(estimator).tolist()
        of_model = Labels(np.arange(len(names)), label_names=label_names_of(estimator))
        y = with_nan(read_targets(y, unknown="take", labels=of_model).indicator)
        given = {"label_names": names, "labels": labels, "bins": bins, "ax": ax}
        return cls.from_predictions(y, answer_of(estimator, "predict_proba", X), **given)

    @classmethod
    def from_predictions(
        cls,
        y: LabelsLike,
        probabilities: MatrixLike,
        *,
        label_names: Sequence[Name] | None = None,
        labels: Sequence[Name] | None = None,
        bins: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Plot given probabilities.

        Parameters
        ----------
        y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of the labels, 0 and 1; NaN where a label is unknown, which is left out.
        probabilities : array-like of shape (n, q)
            Probabilities, between 0 and 1.
        label_names : sequence of length q, default=None
            Names of the labels; None numbers them.
        labels, bins, ax : object
            As for `from_estimator`.

        Raises
        ------
        ValueError
            If an argument is malformed.
        """
        check_same_order(y, probabilities=probabilities)
        Y, known = known_labels(y, "y")
        n, q = Y.shape
        p = check_scores(probabilities, n_rows=n, n_labels=q, name="probabilities")
        if p.min() < 0.0 or p.max() > 1.0:
            raise ValueError(
                f"probabilities are between {p.min():.3g} and {p.max():.3g}; expected numbers "
                "between 0 and 1, as predict_proba returns."
            )
        check_integer("bins", bins, at_least=1)
        names = list(range(q)) if label_names is None else list(label_names)
        if len(names) != q:
            raise ValueError(f"label_names has {len(names)} names; expected {q}.")
        if labels is None:
            return cls([_curve(ALL_LABELS, Y[known], p[known], bins)]).plot(ax=ax)
        places = _places(labels, names)
        curves = [_curve(str(names[k]), Y[known[:, k], k], p[known[:, k], k], bins) for k in places]
        return cls(curves).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        """
        ax = check_axes(ax)
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=0.8)
        self.lines_: list[Any] = []
        most = max((curve.count.max(initial=1) for curve in self.curves), default=1)
        for number, curve in enumerate(self.curves):
            look = style(number)
            self.lines_ += ax.plot(curve.probability, curve.share, **look)
            areas = 8.0 + 72.0 * curve.count / most
            ax.scatter(curve.probability, curve.share, s=areas, color=look["color"])
        # matplotlib leaves out names that begin with an underscore.
        names = [f" {curve.name}" for curve in self.curves]
        self.legend_ = ax.legend(self.lines_, names, fontsize="small")
        for text in self.legend_.get_texts():
            text.set_parse_math(False)
        ax.set_xlabel("Probability")
        ax.set_ylabel("Share of relevant labels")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _places(labels: Any, names: list[Any]) -> list[int]:
    """Return the numbers of the requested labels, one or several."""
    asked = [labels] if isinstance(labels, str) or not np.iterable(labels) else list(labels)
    unknown = [label for label in asked if label not in names]
    if unknown or not asked:
        meant = did_you_mean(unknown[0], names) if unknown and isinstance(unknown[0], str) else ""
        found = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"labels has {found}{meant}; expected some of {listed(names)}.")
    return [names.index(label) for label in asked]


def _curve(name: str, y: NDArray[Any], p: NDArray[Any], bins: int) -> Curve:
    """Return the curve of places, by bins of equal width."""
    bin_ = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p)
    count = np.bincount(bin_, minlength=bins)
    some = np.flatnonzero(count)
    sums = (np.bincount(bin_, values, minlength=bins)[some] for values in (p, y))
    probability, share = (total / count[some] for total in sums)
    return Curve(name, probability, share, count[some])
