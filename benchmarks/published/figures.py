"""Where figures go: files in the folder that ``papers.py --figures`` names."""

import os
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
