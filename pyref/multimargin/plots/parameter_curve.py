"""Scores over hyper-parameters (Rank-CVM paper, figures 3 and 4; LLSF paper, figure 6)."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.plots.checks import check_has, check_numbers
from multimargin.plots.cv_results import column_of, measures_in, name_of_scoring, parameters_in
from multimargin.plots.drawing import (
    SEQUENTIAL,
    check_axes,
    marker_style,
    style,
    write_legend,
    write_names,
    write_values,
)
from multimargin.plots.parameter_axis import ParameterAxis

Vector = NDArray[np.float64]


class ParameterCurveDisplay:
    """Cross-validated scores over one hyper-parameter (curves) or two (a map of colours).

    Use `from_estimator`, `from_cv_results` or `from_validation_curve` to make one. Curves show mean
    and standard deviation over the folds, and a star marks the best value. Where other parameters
    were searched, too, each point is the best over their values.

    Parameters
    ----------
    parameters : dict of str to sequence of length c
        The values of one or two parameters at c candidates.
    means : dict of str to array-like of shape (c,)
        Mean of each measure; larger is better, NaN where a fit failed. Negative losses, whose names
        begin with ``neg_``, are shown as losses.
    deviations : dict of str to array-like of shape (c,), default=None
        Standard deviation of each measure; no band when None.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    lines_ : list of matplotlib Line2D
        One curve a measure, for one parameter.
    im_ : matplotlib AxesImage or PathCollection
        The map, for two parameters: cells of a grid, or points where the candidates form none.
    text_ : ndarray of matplotlib Text or None
        The numbers in the cells.
    best_ : dict of str to dict of str to object
        For each measure, the values of the parameters at the best mean.

    Notes
    -----
    Figures 3 and 4 of the Rank-CVM paper and figure 6 of the LLSF paper.
    """

    def __init__(
        self,
        parameters: Mapping[str, Sequence[Any]],
        means: Mapping[str, Any],
        deviations: Mapping[str, Any] | None = None,
    ) -> None:
        if len(parameters) not in (1, 2):
            raise ValueError(
                f"parameters has {len(parameters)} entries, {list(parameters)}; expected 1 or 2."
            )
        if not means:
            raise ValueError("means is empty; expected at least one measure.")
        self.parameters = {name: list(values) for name, values in parameters.items()}
        counts = {name: len(values) for name, values in self.parameters.items()}
        c = next(iter(counts.values()))
        if c == 0 or set(counts.values()) != {c}:
            raise ValueError(f"parameters has {counts} values; expected equal numbers above 0.")
        self.means = {name: _checked("means", name, values, c) for name, values in means.items()}
        self.deviations = {
            name: _checked("deviations", name, values, c)
            for name, values in (deviations or {}).items()
        }
        for name, values in self.means.items():
            if not np.isfinite(values).any():
                raise ValueError(f"means of {name!r} are all missing; expected at least one score.")

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        parameters: str | Sequence[str] | None = None,
        measures: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Plot what a fitted search found.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV, or another with `cv_results_`
            Fitted.
        parameters : str or sequence of one or two str, default=None
            Names of the parameters shown, such as "C", or "ranksvm__C" in a pipeline, where "C" is
            enough if no other step has one. None takes those of which several values were tried,
            which must be one or two.
        measures : str or sequence of str, default=None
            The measures shown: names from `scoring`, "score" where there is one only. None shows
            all of them; for two parameters, the one of `refit`.
        **options : object
            Arguments of `plot`.

        Raises
        ------
        TypeError, ValueError
            If it is no search, has no such parameter or measure, or more than two parameters.
        """
        check_is_fitted(search)
        check_has(search, "cv_results_", "GridSearchCV or another search")
        refit = getattr(search, "refit", None)
        results = search.cv_results_
        chosen = parameters_in(results, parameters)
        name = name_of_scoring(getattr(search, "scoring", None))
        if name is not None and "mean_test_score" in results and measures is None:
            # scikit-learn calls the only measure "score".
            renamed = {key.replace("_test_score", f"_test_{name}"): key for key in results}
            results = {key: results[old] for key, old in renamed.items()}
        if measures is None and len(chosen) == 2 and isinstance(refit, str):
            measures = refit if f"mean_test_{refit}" in results else None
        return cls.from_cv_results(results, parameters=chosen, measures=measures, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        *,
        parameters: str | Sequence[str] | None = None,
        measures: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Plot the `cv_results_` of a search.

        Parameters
        ----------
        cv_results : dict of str to array-like, or data frame
            With "param_<name>", "mean_test_<measure>" and, for a band, "std_test_<measure>".
        parameters, measures, **options : object
            As in `from_estimator`.

        Raises
        ------
        TypeError, ValueError
            If there is no such parameter or measure, or more than two parameters.
        """
        chosen = parameters_in(cv_results, parameters)
        shown = measures_in(cv_results, measures)
        if len(chosen) == 2 and len(shown) > 1:
            raise ValueError(
                f"measures are {shown}; expected one of them for a map of two parameters."
            )
        values = {name: list(cv_results[f"param_{name}"]) for name in chosen}
        # A list of grids leaves a parameter out of some candidates.
        present = [
            not any(of_one[row] is np.ma.masked for of_one in values.values())
            for row in range(len(values[chosen[0]]))
        ]
        kept = np.flatnonzero(present)
        means = {name: column_of(cv_results, f"mean_test_{name}", present)[kept] for name in shown}
        deviations = {
            name: column_of(cv_results, f"std_test_{name}", present)[kept]
            for name in shown
            if f"std_test_{name}" in cv_results
        }
        display = cls(
            {name: [of_one[row] for row in kept] for name, of_one in values.items()},
            means,
            deviations,
        )
        return display.plot(**options)

    @classmethod
    def from_validation_curve(
        cls,
        parameter: str,
        values: Sequence[Any],
        test_scores: Any,
        train_scores: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the scores that `sklearn.model_selection.validation_curve` returned.

        Parameters
        ----------
        parameter : str
            Name of the parameter.
        values : sequence of length c
            Its values.
        test_scores : array-like of shape (c, n_folds)
            Scores of each value and fold.
        train_scores : array-like of shape (c, n_folds), default=None
            The scores on the training parts, as a second curve.
        **options : object
            Arguments of `plot`.
        """
        means, deviations = {}, {}
        for name, scores in (("validation", test_scores), ("training", train_scores)):
            if scores is None:
                continue
            folds = np.asarray(scores, dtype=np.float64)
            if folds.ndim != 2 or folds.shape[0] != len(values) or folds.shape[1] == 0:
                raise ValueError(
                    f"the {name} scores have shape {folds.shape}; expected ({len(values)}, "
                    "n_folds), one row a value."
                )
            means[name], deviations[name] = folds.mean(axis=1), folds.std(axis=1)
        return cls({parameter: values}, means, deviations).plot(**options)

    def plot(
        self,
        *,
        log_scale: bool | None = None,
        cmap: str = SEQUENTIAL,
        values_format: str = ".3g",
        ax: Any = None,
    ) -> Self:
        """Draw the curves or the map.

        Parameters
        ----------
        log_scale : bool, default=None
            Whether axes of numbers are logarithmic; None makes them so where the largest value is
            50 times the smallest.
        cmap : str, default="cividis"
            Colour map of the map.
        values_format : str, default=".3g"
            Format of the numbers in the map.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.

        Raises
        ------
        ValueError
            If there are two parameters and several measures.
        """
        if len(self.parameters) == 2 and len(self.means) > 1:
            raise ValueError(
                f"means has the measures {list(self.means)}; expected one for a map of two "
                "parameters."
            )
        axes = [ParameterAxis.of(name, values) for name, values in self.parameters.items()]
        self.lines_: list[Any] = []
        self.im_: Any = None
        self.text_: Any = None
        points = {name: _best_points(axes, values) for name, values in self.means.items()}
        self.best_ = {
            name: {
                key: values[int(np.nanargmax(self.means[name]))]
                for key, values in self.parameters.items()
            }
            for name in self.means
        }
        if len(axes) == 1:
            ax = check_axes(ax)
            self._plot_curves(ax, axes[0], points, log_scale)
        elif _is_grid(axes, next(iter(points.values()))):
            ax = check_axes(
                ax,
                width=min(max(2.5 + 0.6 * len(axes[0].levels), 5.0), 14.0),
                height=min(max(1.5 + 0.5 * len(axes[1].levels), 4.0), 12.0),
            )
            self._plot_grid(ax, axes, points, cmap, values_format)
        else:
            ax = check_axes(ax)
            self._plot_points(ax, axes, points, cmap, log_scale)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_curves(
        self,
        ax: Any,
        axis: ParameterAxis,
        points: dict[str, NDArray[np.intp]],
        log_scale: bool | None,
    ) -> None:
        for number, (name, candidates) in enumerate(points.items()):
            x, mean = axis.places[candidates], _sign(name) * self.means[name][candidates]
            look = {**style(number), **marker_style(number)}
            if not axis.numeric:
                look["linestyle"] = "none"
            line = ax.plot(x, mean, markersize=5.0, **look)[0]
            self.lines_.append(line)
            if name in self.deviations:
                deviation = np.nan_to_num(self.deviations[name][candidates])
                if axis.numeric:
                    ax.fill_between(
                        x, mean - deviation, mean + deviation, color=look["color"], alpha=0.15, lw=0
                    )
                else:
                    ax.errorbar(x, mean, deviation, fmt="none", ecolor=look["color"], capsize=3.0)
            best = int(np.nanargmax(_sign(name) * mean))
            ax.plot(
                x[best],
                mean[best],
                "*",
                markersize=13.0,
                color=look["color"],
                mec="black",
                zorder=4,
            )
        axis.draw(ax, "x", log_scale)
        if len(points) > 1:
            ax.set_ylabel("Score")
            write_legend(ax, self.lines_, [_title(name) for name in points])
        else:
            ax.set_ylabel(_title(next(iter(points))))

    def _plot_grid(
        self,
        ax: Any,
        axes: Sequence[ParameterAxis],
        points: dict[str, NDArray[np.intp]],
        cmap: str,
        values_format: str,
    ) -> None:
        from matplotlib import colormaps

        ((name, candidates),) = points.items()
        columns, rows = (axis.numbers for axis in axes)
        cells = np.full((len(axes[1].levels), len(axes[0].levels)), np.nan)
        cells[rows[candidates], columns[candidates]] = _sign(name) * self.means[name][candidates]
        # Cells without a score are hatched, so that they do not look like a low one.
        ax.patch.set(facecolor="0.9", hatch="///", edgecolor="0.7")
        self.im_ = ax.imshow(
            np.ma.masked_invalid(cells), cmap=colormaps[cmap], origin="lower", aspect="auto"
        )
        ax.figure.colorbar(self.im_, ax=ax, label=_title(name))
        texts = [
            ["" if np.isnan(value) else format(value, values_format) for value in row]
            for row in cells
        ]
        best = candidates[int(np.nanargmax(self.means[name][candidates]))]
        from matplotlib.patches import Rectangle

        place = (columns[best] - 0.5, rows[best] - 0.5)
        ax.add_patch(Rectangle(place, 1.0, 1.0, fill=False, edgecolor="#D55E00", linewidth=3.0))
        for axis, side in zip(axes, "xy", strict=True):
            write_names(ax, side, axis.levels)
        ax.set_xlabel(axes[0].title)
        ax.set_ylabel(axes[1].title)
        self.text_ = write_values(ax, self.im_, texts, forced=False)

    def _plot_points(
        self,
        ax: Any,
        axes: Sequence[ParameterAxis],
        points: dict[str, NDArray[np.intp]],
        cmap: str,
        log_scale: bool | None,
    ) -> None:
        ((name, candidates),) = points.items()
        scores = self.means[name][candidates]
        candidates = candidates[np.isfinite(scores)]
        x, y = (axis.places[candidates] for axis in axes)
        scores = _sign(name) * self.means[name][candidates]
        self.im_ = ax.scatter(x, y, c=scores, cmap=cmap, s=45.0, edgecolor="black", linewidth=0.5)
        ax.figure.colorbar(self.im_, ax=ax, label=_title(name))
        best = int(np.argmax(_sign(name) * scores))
        ax.plot(x[best], y[best], "*", markersize=17.0, color="#D55E00", mec="black", zorder=4)
        for axis, side in zip(axes, "xy", strict=True):
            axis.draw(ax, side, log_scale)


def _best_points(axes: Sequence[ParameterAxis], means: Vector) -> NDArray[np.intp]:
    """Return, for each distinct value or pair, the candidate with the best mean, in their order."""
    best: dict[tuple[int, ...], int] = {}
    values = np.nan_to_num(means, nan=-np.inf)
    for candidate, key in enumerate(zip(*(axis.numbers.tolist() for axis in axes), strict=True)):
        if key not in best or values[candidate] > values[best[key]]:
            best[key] = candidate
    return np.array([best[key] for key in sorted(best)])


def _is_grid(axes: Sequence[ParameterAxis], candidates: NDArray[np.intp]) -> bool:
    cells = len(axes[0].levels) * len(axes[1].levels)
    return 2 * candidates.size >= cells or not all(axis.numeric for axis in axes)


def _sign(measure: str) -> float:
    """Return -1 for negative losses, as scikit-learn names them, which are shown as losses."""
    return -1.0 if measure.startswith("neg_") else 1.0


def _title(measure: str) -> str:
    text = measure.removeprefix("neg_").replace("_", " ").replace("f1", "F1")
    return text[:1].upper() + text[1:]


def _checked(argument: str, name: str, values: Any, c: int) -> Vector:
    checked = check_numbers(f"{argument} of {name!r}", values)
    if checked.shape != (c,):
        raise ValueError(
            f"{argument} of {name!r} has shape {checked.shape}; expected ({c},), one a candidate."
        )
    return checked
