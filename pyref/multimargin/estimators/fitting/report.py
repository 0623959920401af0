"""The report of a solver."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Report:
    """Report of a solver: its status, and the distance from the optimum."""

    status: str  # Why it ended
    n_iter: int  # Epochs or rounds made
    primal: float  # Objectives and relative duality gap
    dual_objective: float
    gap: float
    rounding: float  # How far rounding of their terms may have moved both past each other
    history: dict[str, NDArray[Any]]  # Columns "epoch", "seconds", "primal" and "dual"
    error: BaseException | None = None  # What ended the solver early, to be raised in the end


SomeReport = TypeVar("SomeReport", bound=Report)
"""The report of one solver, with what is its own."""


def history_of(columns: Iterable[NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """Return the columns of a history by their names."""
    epoch, seconds, primal, dual = columns
    return {"epoch": epoch.astype(int), "seconds": seconds, "primal": primal, "dual": dual}
