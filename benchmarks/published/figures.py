"""Where figures go: files in the folder that ``papers.py --figures`` names."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def save(figure: Any, name: str) -> None:
    """Write a figure as PNG and say where it is.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure; it is closed.
    name : str
        Its file, without ending.
    """
    from matplotlib import pyplot

    folder = Path(os.environ.get("MULTIMARGIN_FIGURES", "figures"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=130, bbox_inches="tight")
    pyplot.close(figure)
    if not os.environ.get("MULTIMARGIN_MARKDOWN"):
        print(f"  {path}")


def axes(rows: int, columns: int) -> Any:
    """Return axes in a grid, drawn without a display.

    Parameters
    ----------
    rows, columns : int
        Of the grid.

    Returns
    -------
    ndarray of matplotlib Axes
        Flat.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (5.4 * columns, 4.2 * rows)
    return pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")[
        1
    ].ravel()


def draw_line(ax: Any, x: Sequence[float], y: Sequence[float], label: str) -> None:
    """Draw a measure over values of a parameter that are spaced by a factor.

    Parameters
    ----------
    ax : matplotlib Axes
    x, y : sequence of float
        The values, and the measure at each.
    label : str
        Name of the measure.
    """
    ax.plot(x, y, marker="o", label=label)
    ax.set_xscale("log")


def draw_grid(ax: Any, rows: Sequence[float], columns: Sequence[float], values: Any) -> None:
    """Draw a measure over two parameters, with a bar of its colours.

    Parameters
    ----------
    ax : matplotlib Axes
    rows, columns : sequence of float
        Values of the two parameters.
    values : array-like of shape (rows, columns)
        The measure.
    """
    image = ax.imshow(values, cmap="cividis", origin="lower", aspect="auto")
    ax.set_yticks(range(len(rows)), [f"{value:.3g}" for value in rows])
    ax.set_xticks(range(len(columns)), [f"{value:.3g}" for value in columns], rotation=45)
    ax.figure.colorbar(image, ax=ax)
