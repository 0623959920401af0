"""Distributions of label pair margins (mlODM paper, figures 2 and 3)."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.labels import check_indicator
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.measures.label_scores import response_of, scores_by
from multimargin.measures.margins import pair_margins
from multimargin.plots.checks import by_name, check_numbers
from multimargin.plots.drawing import HELP_GREY, check_axes, style, write_legend

Vector = NDArray[np.float64]

KINDS = ("cumulative", "histogram")

# A curve of this many points looks the same as one of millions.
_MOST_STEPS = 2000


class MarginDistributionDisplay:
    """How the margins f_m(x) - f_n(x) of label pairs are distributed, for one or several models.

    Use `from_estimator` or `from_predictions` to make one. Pairs left of zero are ranked wrongly.
    A steep cumulative curve right of zero is what mlODM aims at: a large mean, a small variance.

    Parameters
    ----------
    margins : dict of str to array-like of shape (L,)
        The margins of each model, as `multimargin.measures.pair_margins` returns them.
    normalize : bool, default=False
        Whether to divide the margins of each model by the mean of their absolute values. Methods
        differ in the scale of their scores, and their margins can be compared only so.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    lines_ : list of matplotlib Artist
        One curve a model.
    legend_ : matplotlib Legend
        Mean and variance of each model.
    margins : dict of str to ndarray of shape (L,)
        The margins.
    mean, variance : dict of str to float
        Mean and variance of the margins of each model.

    Notes
    -----
    Figures 2 and 3 of Tan et al., "Multi-label optimal margin distribution machine" (2020).
    """

    def __init__(self, margins: Mapping[str, Any], *, normalize: bool = False) -> None:
        if not isinstance(margins, Mapping):
            raise TypeError(
                f"margins is a {type(margins).__name__}; expected a dict of one array a model."
            )
        self.margins: dict[str, Vector] = {
            name: _checked(name, values, normalize)
            for name, values in by_name("margins", margins).items()
        }
        self.normalize = normalize
        self.mean = {name: float(values.mean()) for name, values in self.margins.items()}
        self.variance = {name: float(values.var()) for name, values in self.margins.items()}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        normalize: bool = False,
        **options: Any,
    ) -> Self:
        """Plot the margins of fitted estimators on given rows.

        Parameters
        ----------
        estimator : estimator, list of estimators or dict of str to estimator
            Fitted multi-label estimators, by name or called by their class, or pipelines and
            searches of them. They have `label_scores` or `decision_function`, as every estimator of
            this package and scikit-learn's ``OneVsRestClassifier`` of support vector machines.
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1.
        normalize : bool, default=False
            Whether to divide the margins of each model by the mean of their absolute values.
        **options : object
            Arguments of `plot`.

        Raises
        ------
        TypeError, ValueError
            If an estimator has no scores, if there are no pairs, or if an argument is malformed.
        """
        estimators = by_name("estimator", estimator)
        n_labels = check_indicator(y).shape[1]
        scores = {name: _scores(model, X, n_labels) for name, model in estimators.items()}
        return cls.from_predictions(y, scores, normalize=normalize, **options)

    @classmethod
    def from_predictions(
        cls,
        Y_true: Any,
        scores: Any,
        *,
        normalize: bool = False,
        **options: Any,
    ) -> Self:
        """Plot the margins of given scores.

        Parameters
        ----------
        Y_true : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1.
        scores : array-like of shape (n, q), or dict of str to array-like of shape (n, q)
            The scores of one model or of several.
        normalize, **options : object
            As in `from_estimator`.

        Raises
        ------
        TypeError, ValueError
            If there are no pairs, or if an argument is malformed.
        """
        given = scores if isinstance(scores, Mapping) else {"scores": scores}
        margins = {name: pair_margins(Y_true, values) for name, values in given.items()}
        return cls(margins, normalize=normalize).plot(**options)

    def plot(self, *, kind: str = "cumulative", bins: int = 50, ax: Any = None) -> Self:
        """Draw the distributions.

        Parameters
        ----------
        kind : {"cumulative", "histogram"}, default="cumulative"
            Shares of pairs up to each margin, or densities.
        bins : int, default=50
            Number of bins of the histograms.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        """
        check_choice("kind", kind, KINDS)
        check_integer("bins", bins, at_least=1)
        ax = check_axes(ax)
        ax.axvline(0.0, color=HELP_GREY, linewidth=1.0)
        everything = np.concatenate(list(self.margins.values()))
        edges = np.histogram_bin_edges(everything, bins=bins)
        self.lines_ = []
        for number, values in enumerate(self.margins.values()):
            if kind == "cumulative":
                line = ax.step(*_cumulative(values), where="post", **style(number))[0]
            else:
                heights, _ = np.histogram(values, bins=edges, density=True)
                line = ax.stairs(heights, edges, linewidth=1.5, **style(number))
            self.lines_.append(line)
        names = [
            f"{name} (mean {self.mean[name]:.3g}, variance {self.variance[name]:.3g})"
            for name in self.margins
        ]
        self.legend_ = write_legend(ax, self.lines_, names)
        scale = " / mean absolute margin" if self.normalize else ""
        ax.set_xlabel(f"Margin of a label pair{scale}")
        ax.set_ylabel("Share of pairs up to this margin" if kind == "cumulative" else "Density")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _scores(model: Any, X: Any, n_labels: int) -> Vector:
    check_is_fitted(model)
    # Thresholds of the labels would change the margins of the decision function.
    response = response_of(model, ("label_scores", "decision_function"))
    return scores_by(model, response, X, n_labels=n_labels)


def _checked(name: str, margins: Any, normalize: bool) -> Vector:
    values = check_numbers(f"margins of {name!r}", margins)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"margins of {name!r} have shape {values.shape}; expected (L,) with at least one pair "
            "of a relevant and an irrelevant label."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"margins of {name!r} have missing or infinite values.")
    scale = float(np.abs(values).mean()) if normalize else 1.0
    return values / scale if scale > 0.0 else values


def _cumulative(values: Vector) -> tuple[Vector, Vector]:
    """Return margins in ascending order and the share of pairs up to each."""
    ordered = np.sort(values)
    ranks = np.arange(1, ordered.size + 1)
    if ordered.size > _MOST_STEPS:
        ranks = np.unique(np.linspace(1, ordered.size, _MOST_STEPS).astype(int))
    return np.concatenate([ordered[:1], ordered[ranks - 1]]), np.concatenate(
        [[0.0], ranks / ordered.size]
    )
