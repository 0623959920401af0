"""What the displays draw with: axes, colours and line styles, names along an axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

# The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINE_STYLES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

# Blue and red read as negative and positive, also for the colour-blind.
DIVERGING = "RdBu_r"
SEQUENTIAL = "cividis"

# Grey of what helps to read a picture but is not data.
HELP_GREY = "0.6"

_LARGEST_NAME, _SMALLEST_NAME = 10.0, 5.0
_LONGEST_NAME = 30


def check_axes(ax: Any, *, width: float = 6.4, height: float = 4.8) -> Any:
    """Return the axes to draw on, new ones of a size in inches when None is given."""
    if ax is None:
        return new_axes(1, width=width, height=height)[0]
    if not hasattr(ax, "get_window_extent") or not hasattr(ax, "plot"):
        raise TypeError(f"ax is a {type(ax).__name__}; expected a matplotlib Axes, or None.")
    return ax


def new_axes(count: int, *, width: float = 6.4, height: float = 4.8) -> Any:
    """Return axes side by side in a new figure of a size in inches."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'multimargin[plots]'"
        ) from error
    _, axes = pyplot.subplots(
        1, count, squeeze=False, figsize=(width, height), layout="constrained"
    )
    return axes[0]


def style(number: int) -> dict[str, Any]:
    """Return colour and line style of the model or measure of this number; 28 pairs differ."""
    return {
        "color": _COLORS[number % len(_COLORS)],
        "linestyle": _LINE_STYLES[number % len(_LINE_STYLES)],
    }


def marker_style(number: int) -> dict[str, Any]:
    """Return colour and marker of the model or measure of this number; 63 pairs differ."""
    return {
        "color": _COLORS[number % len(_COLORS)],
        "marker": _MARKERS[number % len(_MARKERS)],
    }


def shortened(name: str) -> str:
    """Return a name, or its beginning and an ellipsis: at most 30 characters."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1].rstrip() + "…"


def write_names(ax: Any, side: str, names: Sequence[str]) -> None:
    """Write a name at 0, 1, 2, ... along an axis: smaller, then fewer, where room is short.

    The limits of the axes are set already.
    """
    width, height = _size_in_points(ax)
    # The names themselves take a share of the axes.
    room = 0.85 * (width if side == "x" else height) / len(names)
    size = float(np.clip(0.85 * room, _SMALLEST_NAME, _LARGEST_NAME))
    step = max(1, int(np.ceil(_SMALLEST_NAME / (0.85 * room))))
    places = np.arange(0, len(names), step)
    shown = [shortened(name) for name in names[::step]]
    # Names are text even where they hold the dollar signs of formulas.
    look: dict[str, Any] = {"fontsize": size, "parse_math": False}
    if side == "y":
        ax.set_yticks(places, shown, **look)
    elif max(map(len, shown)) * 0.7 * size <= step * room:
        ax.set_xticks(places, shown, **look)
    elif len(shown) <= 12:
        ax.set_xticks(places, shown, rotation=45, ha="right", rotation_mode="anchor", **look)
    else:
        ax.set_xticks(places, shown, rotation=90, **look)


def write_values(ax: Any, image: Any, texts: Sequence[Sequence[str]], *, forced: bool) -> Any:
    """Write a number into each cell of an image, in white on dark cells.

    "" is no number. `forced` writes them where they are too small to read; else the answer is None
    where there is no room for them.
    """
    rows, columns = len(texts), len(texts[0])
    width, height = _size_in_points(ax)
    longest = max(len(text) for row in texts for text in row)
    # A character is about 0.65 times as wide as the font is high.
    size = 0.9 * min(width / columns / (0.65 * max(longest, 1)), height / rows / 1.3)
    if size < _SMALLEST_NAME and not forced:
        return None
    colors = image.cmap(image.norm(image.get_array()))
    written = np.empty((rows, columns), dtype=object)
    for (row, column), _ in np.ndenumerate(written):
        written[row, column] = ax.text(
            column,
            row,
            texts[row][column],
            ha="center",
            va="center",
            fontsize=min(size, _LARGEST_NAME),
            color="white" if _luminance(colors[row, column]) < 0.4 else "black",
        )
    return written


def write_legend(ax: Any, lines: Sequence[Any], labels: Sequence[str], **place: Any) -> Any:
    """Write a legend that names the lines; `place` are further arguments of ``ax.legend``."""
    # matplotlib leaves out names that begin with an underscore.
    legend = ax.legend(lines, [f" {label}" for label in labels], fontsize="small", **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _size_in_points(ax: Any) -> tuple[float, float]:
    """Return width and height of axes as laid out."""
    ax.figure.canvas.figure.draw_without_rendering()
    extent = ax.get_window_extent()
    scale = 72.0 / ax.figure.dpi
    return extent.width * scale, extent.height * scale


def _luminance(color: Any) -> float:
    return float(np.dot(color[:3], (0.299, 0.587, 0.114)))
