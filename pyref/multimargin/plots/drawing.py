"""Drawing tools of the displays: axes, colours, line styles, legends."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINE_STYLES = ("-", "--", "-.", ":")


def check_axes(ax: "Axes | None", *, height: float = 4.8) -> "Axes":
    """Return the axes to draw on, new ones of a size in inches when None is given."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "plots need matplotlib, which is not installed: pip install 'multimargin[plots]'"
            ) from error
        return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]
    if not hasattr(ax, "get_window_extent") or not hasattr(ax, "plot"):
        raise TypeError(f"ax is a {type(ax).__name__}; expected a matplotlib Axes, or None.")
    return ax


def style(number: int) -> dict[str, Any]:
    """Return colour and line style of the model of this number; 28 pairs differ."""
    return {
        "color": _COLORS[number % len(_COLORS)],
        "linestyle": _LINE_STYLES[number % len(_LINE_STYLES)],
    }
