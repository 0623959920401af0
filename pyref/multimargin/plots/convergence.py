"""Objectives and duality gaps during a fit (MLRL paper, figure 1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.parameters import check_choice
from multimargin.inspection.steps import final_estimator
from multimargin.plots.drawing import check_axes, style
from multimargin.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("epoch", "seconds", "primal", "dual")

# The value at which a closed gap is drawn, as a logarithmic axis has no zero.
_SMALLEST_GAP = 1e-16


class ConvergenceDisplay:
    """Objective, lower bound and duality gap of fits, over epochs or seconds.

    Use `from_estimator` to make one. The optimum lies between the two objectives.

    Parameters
    ----------
    histories : dict of str to dict of str to array-like
        `history_` of each model: "epoch", "seconds", "primal" and "dual", one entry per epoch.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the drawing.
    lines_ : list of matplotlib Line2D
        One line a model; for ``quantity="objectives"`` two, primal and dual.
    legend_ : matplotlib Legend
        The names.

    Notes
    -----
    Figure 1 of Zhang and Yeung, "Multi-Label Relationship Learning", with the lower bound added.
    With a free bias the bounds before the last belong to the problem with the bias held.
    """

    def __init__(self, histories: Mapping[str, Mapping[str, ArrayLike]]) -> None:
        if not isinstance(histories, Mapping) or "primal" in histories:
            raise TypeError(
                f"histories is a {type(histories).__name__} without names; expected a dict of one "
                "history_ a model."
            )
        self.histories: dict[str, dict[str, Vector]] = {
            name: _checked(name, history) for name, history in histories.items()
        }

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, **options: Any) -> Self:
        """Plot how the fits of estimators converged.

        Parameters
        ----------
        estimator : estimator, list of estimators or dict of str to estimator
            Fitted estimators of this package, by name or called by their class; pipelines and
            searches show the estimator inside.
        **options : object
            Arguments of `plot`.

        Raises
        ------
        TypeError, ValueError
            If an estimator has no history, or if an argument is malformed.
        """
        histories = {name: _history(model) for name, model in _by_name(estimator).items()}
        return cls(histories).plot(**options)

    def plot(self, *, x: str = "epoch", quantity: str = "gap", ax: "Axes | None" = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        x : {"epoch", "seconds"}, default="epoch"
            Along which axis; an epoch is a pass over the instances, and what it takes differs
            between solvers.
        quantity : {"gap", "objectives"}, default="gap"
            The relative duality gap, on a logarithmic axis, or primal and dual objective. Where
            several models solve different problems, only their gaps can be compared.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Raises
        ------
        ValueError
            If `x` or `quantity` is another, or if no entry of a history is finite.
        """
        check_choice("x", x, ("epoch", "seconds"))
        check_choice("quantity", quantity, ("gap", "objectives"))
        curves = _gaps(self.histories) if quantity == "gap" else _objectives(self.histories)
        points = [_finite(name, x, self.histories[model][x], y) for model, name, y, _ in curves]
        ax = check_axes(ax)
        self.lines_ = [
            ax.plot(*xy, **look, marker="o" if xy[0].size < 30 else None, markersize=3.5)[0]
            for xy, (_, _, _, look) in zip(points, curves, strict=True)
        ]
        # matplotlib leaves out names that begin with an underscore.
        names = [f" {name}" for _, name, _, _ in curves]
        self.legend_ = ax.legend(self.lines_, names, fontsize="small")
        for text in self.legend_.get_texts():
            text.set_parse_math(False)
        ax.set_xlabel("Epoch" if x == "epoch" else "Seconds")
        if x == "epoch":
            ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
        if quantity == "gap":
            ax.set_yscale("log")
            ax.set_ylabel("Relative duality gap")
        else:
            ax.set_ylabel("Objective")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _by_name(given: Any) -> dict[str, Any]:
    """Return what is to be compared, one or several, by name."""
    if isinstance(given, Mapping):
        return dict(given)
    models = list(given) if isinstance(given, list | tuple) else [given]
    kinds = [type(final_estimator(model)).__name__ for model in models]
    numbers = [f" {1 + kinds[:k].count(kind)}" for k, kind in enumerate(kinds)]
    return {
        kind + (number if kinds.count(kind) > 1 else ""): model
        for kind, number, model in zip(kinds, numbers, models, strict=True)
    }


def _history(estimator: Any) -> Any:
    check_is_fitted(estimator)
    model = final_estimator(estimator)
    if not hasattr(model, "history_"):
        raise TypeError(
            f"estimator is a {type(model).__name__}, which has no history_; expected a fitted "
            "estimator of this package."
        )
    return model.history_


# A curve: the model, what the legend says, the values, the look.
_Curve = tuple[str, str, Vector, dict[str, Any]]


def _gaps(histories: Mapping[str, Mapping[str, Vector]]) -> list[_Curve]:
    curves: list[_Curve] = []
    for number, (name, history) in enumerate(histories.items()):
        # The gap is infinite while there is no bound.
        with np.errstate(invalid="ignore", divide="ignore"):
            gap = (history["primal"] - history["dual"]) / np.abs(history["primal"])
        curves.append((name, name, np.maximum(gap, _SMALLEST_GAP), style(number)))
    return curves


def _objectives(histories: Mapping[str, Mapping[str, Vector]]) -> list[_Curve]:
    curves: list[_Curve] = []
    for number, (name, history) in enumerate(histories.items()):
        color = style(number)["color"]
        for column, text, line in (("primal", "objective", "-"), ("dual", "lower bound", "--")):
            curves.append(
                (name, f"{name}: {text}", history[column], {"color": color, "linestyle": line})
            )
    return curves


def _checked(name: str, history: Any) -> dict[str, Vector]:
    missing = [column for column in COLUMNS if column not in history]
    if missing:
        raise ValueError(
            f"history of {name!r} has no {missing[0]!r}; expected the history_ of a fitted model."
        )
    columns = {column: np.asarray(history[column], dtype=np.float64) for column in COLUMNS}
    shapes = {values.shape for values in columns.values()}
    if len(shapes) > 1 or columns["epoch"].ndim != 1:
        raise ValueError(f"history of {name!r} has columns of different lengths: {sorted(shapes)}.")
    return columns


def _finite(name: str, x: str, along: Vector, values: Vector) -> tuple[Vector, Vector]:
    kept = np.isfinite(along) & np.isfinite(values)
    if not kept.any():
        why = f"no {x}" if not np.isfinite(along).any() else "no finite entry"
        raise ValueError(
            f"history of {name!r} has {why} to show; expected an iterative fit of at least one "
            "epoch."
        )
    return along[kept], values[kept]
