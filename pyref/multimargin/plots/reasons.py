"""Plot of the features that support or oppose a label."""

from typing import TYPE_CHECKING, Self

from multimargin.plots.drawing import check_axes, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from multimargin.inspection.reasons import Reasons


class ReasonsDisplay:
    """The features that support or oppose a label, as bars to the right and to the left.

    Parameters
    ----------
    reasons : Reasons
        Result of `multimargin.explain` for a row, or for a label in general.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the drawing.
    bars_ : matplotlib BarContainer
        The bars, from the top down.
    """

    def __init__(self, reasons: "Reasons") -> None:
        self.reasons = reasons

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        """
        values = self.reasons.contributions
        ax = check_axes(ax, height=1.2 + 0.28 * max(len(values), 1))
        colors = [style(0 if value > 0 else 1)["color"] for value in values]
        self.bars_ = ax.barh(range(len(values)), values, color=colors)
        # A dollar sign of a name is no formula.
        ax.set_yticks(range(len(values)), self.reasons.features, parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.6", linewidth=0.8)
        ax.set_xlabel(f"Against, for “{self.reasons.label}”", parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
