"""The values of a hyper-parameter along an axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.plots.drawing import shortened, write_names

Vector = NDArray[np.float64]

# From this ratio of the largest to the smallest value on, an axis is logarithmic.
_LOGARITHMIC = 50.0


@dataclass(frozen=True)
class ParameterAxis:
    """The values of one parameter along an axis."""

    title: str  # What the axis is called
    numeric: bool  # Whether the values are numbers
    places: Vector  # (c,): Where each candidate lies: its number, or the place of its category
    # (c,): Which distinct value each candidate has, in ascending order of numbers
    numbers: NDArray[np.intp]
    levels: list[str]  # The distinct values

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> "ParameterAxis":
        title = name.rsplit("__", maxsplit=1)[-1]
        numeric = all(
            isinstance(value, int | float | np.number) and not isinstance(value, bool)
            for value in values
        )
        if numeric:
            places = np.array(values, dtype=np.float64)
            distinct, numbers = np.unique(places, return_inverse=True)
            levels = [f"{value:.3g}" for value in distinct]
            return cls(title, True, places, numbers, levels)
        levels = list(dict.fromkeys(" ".join(str(value).split()) for value in values))
        numbers = np.array([levels.index(" ".join(str(value).split())) for value in values])
        return cls(title, False, numbers.astype(np.float64), numbers, levels)

    def draw(self, ax: Any, side: str, log_scale: bool | None) -> None:
        """Set scale, ticks and title of a side of the axes."""
        if side == "x":
            ax.set_xlabel(self.title)
        else:
            ax.set_ylabel(self.title)
        if not self.numeric:
            (ax.set_xlim if side == "x" else ax.set_ylim)(-0.5, len(self.levels) - 0.5)
            write_names(ax, side, [shortened(level) for level in self.levels])
            return
        smallest, largest = self.places.min(), self.places.max()
        if log_scale is None:
            log_scale = bool(
                smallest > 0.0
                and (largest >= _LOGARITHMIC * smallest or _geometric(np.unique(self.places)))
            )
        if log_scale:
            (ax.set_xscale if side == "x" else ax.set_yscale)("log")


def _geometric(values: Vector) -> bool:
    """Return whether increasing values are spaced more evenly by their logarithms."""
    if values.size < 3:
        return False
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(np.std(ratios) / np.mean(ratios) < np.std(steps) / np.mean(steps) - 0.1)
