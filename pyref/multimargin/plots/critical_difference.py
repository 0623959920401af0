"""Critical difference diagrams of average ranks (Demšar 2006)."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from multimargin.checks.parameters import check_real
from multimargin.plots.checks import check_numbers
from multimargin.plots.drawing import check_axes, shortened

# The diagram writes one method a unit of the vertical axis.
_INCHES_PER_LINE = 0.25


class CriticalDifferenceDisplay:
    """Average ranks of methods on an axis, with bars over those that do not differ significantly.

    Rank 1 is the best. It needs scikit-posthocs: ``pip install 'multimargin[stats,plots]'``.

    Parameters
    ----------
    average_ranks : dict of str to float, or Series
        The average rank of each of two or more methods.
    p_values : DataFrame, default=None
        p-value of each pair of methods, such as those of Nemenyi's test; rows and columns are the
        methods. Methods with a p-value of at least `alpha` share a bar.
    critical_difference : float, default=None
        The difference of ranks from which on methods differ, at least 0, drawn above the axis.
        Without `p_values`, methods whose ranks are closer share a bar.
    alpha : float, default=0.05
        Level of significance of `p_values`, between 0 and 1.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        What was drawn on.
    artists_ : dict of str to list
        "markers", "elbows", "labels" and "crossbars" of the diagram.

    Notes
    -----
    Demšar 2006, drawn by `scikit_posthocs.critical_difference_diagram`.

    Examples
    --------
    >>> from multimargin.plots import CriticalDifferenceDisplay
    >>> ranks = {"RankSVM": 1.4, "MLRL": 1.9, "LLSF": 2.7}
    >>> display = CriticalDifferenceDisplay(ranks, critical_difference=1.05).plot()
    >>> len(display.artists_["crossbars"])
    2
    """

    def __init__(
        self,
        average_ranks: Any,
        p_values: Any = None,
        *,
        critical_difference: float | None = None,
        alpha: float = 0.05,
    ) -> None:
        self.average_ranks = _checked_ranks(average_ranks)
        if p_values is None and critical_difference is None:
            raise ValueError(
                "p_values and critical_difference are both None; expected at least one of them."
            )
        if critical_difference is not None:
            check_real("critical_difference", critical_difference, at_least=0.0)
        check_real("alpha", alpha, above=0.0, below=1.0)
        self.p_values = (
            None if p_values is None else _checked_p_values(p_values, self.average_ranks)
        )
        self.critical_difference = critical_difference
        self.alpha = alpha

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        """
        try:
            from scikit_posthocs import critical_difference_diagram
        except ImportError as error:
            raise ImportError(
                "critical difference diagrams need scikit-posthocs, which is not installed: "
                "pip install 'multimargin[stats]'"
            ) from error
        names = [shortened(name) for name in self.average_ranks]
        if len(set(names)) < len(names):
            names = list(self.average_ranks)
        own_figure = ax is None
        ax = check_axes(ax, width=7.0)
        self.artists_: dict[str, list[Any]] = critical_difference_diagram(
            dict(zip(names, self.average_ranks.values(), strict=True)),
            self._significance().set_axis(names, axis=0).set_axis(names, axis=1),
            alpha=self.alpha,
            ax=ax,
            label_fmt_left="{label} ({rank:.2f})",
            label_fmt_right="({rank:.2f}) {label}",
            label_props={"parse_math": False},
            elbow_props={"color": "0.2", "linewidth": 1.0},
            marker_props={"color": "black", "s": 20},
            crossbar_props={"color": "#0072B2", "linewidth": 4.0, "solid_capstyle": "round"},
        )
        ax.set_title("Average rank", fontsize="medium")
        if self.critical_difference is not None:
            self._draw_critical_difference(ax, self.critical_difference)
        if own_figure:
            bottom, top = ax.get_ylim()
            ax.figure.set_figheight(0.5 + _INCHES_PER_LINE * (top - bottom))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_critical_difference(self, ax: Any, length: float) -> None:
        start = min(self.average_ranks.values())
        look = {"color": "black", "marker": "|", "markersize": 8.0, "linewidth": 1.5}
        ax.plot([start, start + length], [1.5, 1.5], **look)
        ax.text(start + length / 2.0, 1.8, f"CD = {length:.3g}", ha="center", va="bottom")
        ax.set_ylim(top=2.8)

    def _significance(self) -> Any:
        """Return the p-values; 1 and 0 for near and far ranks where only a difference is known."""
        import pandas

        names = list(self.average_ranks)
        if self.p_values is not None:
            return self.p_values.loc[names, names]
        ranks = np.array(list(self.average_ranks.values()))
        near = np.abs(ranks[:, None] - ranks) < self.critical_difference
        return pandas.DataFrame(np.where(near, 1.0, 0.0), index=names, columns=names)


def _checked_ranks(average_ranks: Any) -> dict[str, float]:
    if not isinstance(average_ranks, Mapping) and not hasattr(average_ranks, "items"):
        raise TypeError(
            f"average_ranks is a {type(average_ranks).__name__}; expected a Series or a dict of "
            "one average rank a method."
        )
    pairs = list(average_ranks.items())
    values = check_numbers("average_ranks", [rank for _, rank in pairs])
    ranks = {str(name): float(rank) for (name, _), rank in zip(pairs, values, strict=True)}
    if len(ranks) < 2:
        raise ValueError(f"average_ranks has {len(ranks)} methods; expected at least 2.")
    for name, rank in ranks.items():
        if not np.isfinite(rank):
            raise ValueError(f"average_ranks of {name!r} is {rank}; expected a finite number.")
    return ranks


def _checked_p_values(p_values: Any, ranks: dict[str, float]) -> Any:
    if not hasattr(p_values, "set_axis") or not hasattr(p_values, "columns"):
        raise TypeError(
            f"p_values is a {type(p_values).__name__}; expected a DataFrame whose rows and columns "
            "are the methods."
        )
    table = p_values.rename(index=str, columns=str).astype(np.float64)
    for side, names in (("rows", table.index), ("columns", table.columns)):
        if sorted(names) != sorted(ranks):
            raise ValueError(
                f"p_values has the {side} {list(names)}; expected the methods of average_ranks, "
                f"{list(ranks)}."
            )
    values = table.to_numpy()
    off_diagonal = values[~np.eye(len(values), dtype=bool)]
    if not ((off_diagonal >= 0.0) & (off_diagonal <= 1.0)).all():
        raise ValueError("p_values has entries outside of 0 to 1, or missing ones.")
    return table
