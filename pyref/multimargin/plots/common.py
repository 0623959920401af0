"""What the displays share."""

from typing import Any


def new_axes(count: int = 1) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install multimargin[plots]"
        ) from error
    _, axes = pyplot.subplots(1, count, squeeze=False, layout="constrained")
    return axes[0]
