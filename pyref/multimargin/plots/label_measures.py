"""Precision, recall and F1 of each label."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.labels import check_indicator
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.plots.checks import by_name, check_label_names, check_numbers, label_names_of
from multimargin.plots.drawing import (
    HELP_GREY,
    check_axes,
    marker_style,
    write_legend,
    write_names,
)

Vector = NDArray[np.float64]

MEASURES = ("precision", "recall", "f1")
_TITLES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


class LabelMeasuresDisplay:
    """Precision, recall and F1 of each label as dots, the best label on top.

    Use `from_estimator` or `from_predictions` to make one. One model is shown with all its
    measures, several with one measure. The number behind a name tells to how many rows the label
    applies. Where a measure is 0/0 there is no dot: precision without predictions, recall without
    relevant rows.

    Parameters
    ----------
    measures : dict of str to dict of str to array-like of shape (q,)
        The measures "precision", "recall" and "f1" of each model, between 0 and 1, NaN where they
        are not defined.
    support : array-like of shape (q,)
        Number of rows to which each label applies.
    label_names : array-like of shape (q,), default=None
        Names of the labels; their numbers when None.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    lines_ : list of matplotlib Line2D
        The dots, one entry a model or a measure.
    legend_ : matplotlib Legend
        Their names.
    order_ : ndarray of shape (at most q,)
        The labels shown, from the bottom to the top.
    """

    def __init__(
        self, measures: Mapping[str, Mapping[str, Any]], support: Any, *, label_names: Any = None
    ) -> None:
        self.support: NDArray[Any] = np.asarray(support)
        if self.support.ndim != 1 or self.support.size == 0:
            raise ValueError(f"support has shape {self.support.shape}; expected (q,), one a label.")
        self.label_names = check_label_names(label_names, self.support.size)
        self.measures: dict[str, dict[str, Vector]] = {
            name: {
                measure: _checked(name, measure, of_model, self.support.size)
                for measure in MEASURES
            }
            for name, of_model in by_name("measures", measures).items()
        }

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        label_names: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the measures of the labels that fitted estimators predict.

        Parameters
        ----------
        estimator : estimator, list of estimators or dict of str to estimator
            Fitted multi-label estimators, by name or called by their class.
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1.
        label_names : array-like of shape (q,), default=None
            Names of the labels; those of `y` or of the first estimator's data frame, or numbers,
            when None.
        **options : object
            Arguments of `plot`.
        """
        estimators = by_name("estimator", estimator)
        predicted = {}
        for name, model in estimators.items():
            check_is_fitted(model)
            predicted[name] = model.predict(X)
        if label_names is None and not hasattr(y, "columns"):
            label_names = label_names_of(next(iter(estimators.values())))
        return cls.from_predictions(y, predicted, label_names=label_names, **options)

    @classmethod
    def from_predictions(
        cls,
        Y_true: Any,
        Y_pred: Any,
        *,
        label_names: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the measures of given predictions.

        Parameters
        ----------
        Y_true : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1.
        Y_pred : matrix as `Y_true`, or dict of str to such a matrix
            The predictions of one model or of several.
        label_names, **options : object
            As in `from_estimator`.
        """
        truth = check_indicator(Y_true, "Y_true")
        if label_names is None and hasattr(Y_true, "columns"):
            label_names = list(Y_true.columns)
        measures = {}
        given = Y_pred if isinstance(Y_pred, Mapping) else {"predictions": Y_pred}
        for name, values in given.items():
            predicted = check_indicator(values, "Y_pred")
            if predicted.shape != truth.shape:
                raise ValueError(
                    f"Y_pred has shape {predicted.shape}; expected {truth.shape}, as Y_true."
                )
            # One label alone would be read as a class.
            of_labels = [
                precision_recall_fscore_support(
                    truth[:, label],
                    predicted[:, label],
                    average="binary",
                    pos_label=1,
                    zero_division=np.nan,
                )[:3]
                for label in range(truth.shape[1])
            ]
            columns = np.array(of_labels, dtype=np.float64).T
            measures[name] = dict(zip(MEASURES, columns, strict=True))
        display = cls(measures, truth.sum(axis=0, dtype=np.int64), label_names=label_names)
        return display.plot(**options)

    def plot(
        self,
        *,
        measure: str | None = None,
        sort_by: str | None = None,
        n_labels: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the dots.

        Parameters
        ----------
        measure : {"precision", "recall", "f1"}, default=None
            The measure shown; None shows all of them for one model, "f1" for several.
        sort_by : {"precision", "recall", "f1", "support", "label"}, default=None
            What orders the labels, largest on top, by the first model; "label" keeps their order.
            None sorts by the measure shown, by "f1" if there are several.
        n_labels : int, default=None
            Show that many labels at most, those of most rows; None shows all.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure, large enough for all names, when None.
        """
        several = len(self.measures) > 1
        if measure is None and several:
            measure = "f1"
        if measure is not None:
            check_choice("measure", measure, MEASURES)
        if sort_by is None:
            sort_by = measure or "f1"
        check_choice("sort_by", sort_by, (*MEASURES, "support", "label"))
        shown: dict[str, Vector] = {}
        for name, of_model in self.measures.items():
            for key in MEASURES if measure is None else (measure,):
                shown[name if several else _TITLES[key]] = of_model[key]
        self.order_ = self._order(sort_by)
        if n_labels is not None:
            most = check_integer("n_labels", n_labels, at_least=1)
            kept = np.argsort(-self.support, kind="stable")[:most]
            self.order_ = self.order_[np.isin(self.order_, kept)]

        q = self.order_.size
        ax = check_axes(ax, width=6.4, height=min(max(3.0, 1.2 + 0.22 * q), 16.0))
        places = np.arange(q)
        ax.set_ylim(-0.7, q - 0.3)
        if len(shown) > 1:
            _connect(ax, places, np.array(list(shown.values()))[:, self.order_])
        size = min(6.0, 0.6 * ax.get_window_extent().height * 72.0 / ax.figure.dpi / q)
        self.lines_ = [
            ax.plot(
                values[self.order_],
                places,
                linestyle="none",
                markersize=max(size, 1.5),
                **marker_style(number),
            )[0]
            for number, values in enumerate(shown.values())
        ]
        names = [f"{self.label_names[label]} ({self.support[label]:,})" for label in self.order_]
        write_names(ax, "y", names)
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)
        ax.set_xlabel("Measure" if measure is None else _TITLES[measure])
        self.legend_ = write_legend(
            ax, self.lines_, list(shown), loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _order(self, sort_by: str) -> NDArray[np.intp]:
        if sort_by == "label":
            return np.arange(self.support.size)[::-1]
        first = next(iter(self.measures.values()))
        key = self.support.astype(np.float64) if sort_by == "support" else first[sort_by]
        # Undefined measures come below the worst; equal ones in the order of the labels.
        falling = np.argsort(-np.nan_to_num(key, nan=-1.0), kind="stable")
        return falling[::-1]


def _connect(ax: Any, places: NDArray[np.intp], rows: NDArray[np.float64]) -> None:
    """Draw a grey line between the dots of each label."""
    defined = np.isfinite(rows)
    smallest = np.where(defined, rows, np.inf).min(axis=0)
    largest = np.where(defined, rows, -np.inf).max(axis=0)
    some = defined.any(axis=0)
    ax.hlines(places[some], smallest[some], largest[some], color=HELP_GREY, linewidth=1.0)


def _checked(name: str, measure: str, of_model: Mapping[str, Any], q: int) -> Vector:
    if measure not in of_model:
        raise ValueError(f"measures of {name!r} lack {measure!r}; expected {', '.join(MEASURES)}.")
    checked = check_numbers(f"{measure} of {name!r}", of_model[measure])
    if checked.shape != (q,):
        raise ValueError(
            f"{measure} of {name!r} has shape {checked.shape}; expected ({q},), one a label."
        )
    return checked
