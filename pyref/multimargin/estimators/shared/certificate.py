"""Whether a certificate is that of the model returned: its objective, from its own scores."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from multimargin import _rust
from multimargin.estimators.shared.problem import Matrix, Model, Report

Rows = NDArray[np.intp]
Bounds = tuple[float, float]
AnyReport = TypeVar("AnyReport", bound=Report)

# Up to so many rows are all scored again; of more rows, a sample, small where Ctrl-C waits for it.
_ALL_ROWS = 512
_SAMPLE, _SAMPLE_IN_HASTE = 256, 16

# Share of the tolerance, and of the objective, within which two objectives are the same.
_SHARE_OF_TOLERANCE = 1e-2
_ROUNDING = 1e-9
# What a gap above the tolerance does not change.
_BEFORE_ITS_END = ("interrupted", "time_limit", "indefinite_kernel")
# A relative gap of which nothing is more than rounding of sums over many rows.
_ROUNDING_OF_SUMS = 1e-14


def with_own_certificate(
    report: AnyReport, n: int, tol: float, bounds: Callable[[Rows], Bounds]
) -> AnyReport:
    """Return a report whose certificate is that of the model as it is returned.

    A loop certifies the scores that it computed; what is returned are weights or an expansion,
    whose scores may differ where the problem is ill-conditioned. After Ctrl-C the objective is
    infinite where it is not known at once.
    """
    hasty = report.status == "interrupted"
    if hasty and not np.isfinite(report.primal):
        return report
    sampled = n > _ALL_ROWS
    every = np.arange(n)
    size = _SAMPLE_IN_HASTE if hasty else _SAMPLE
    rows = np.linspace(0, n - 1, size).astype(np.intp) if sampled else every
    allowed = max(_SHARE_OF_TOLERANCE * tol, _ROUNDING) * abs(report.primal)

    def agree(primal: float, dual: float) -> bool:
        differences = abs(primal - report.primal), abs(dual - report.dual_objective)
        return max(differences) <= allowed

    primal, dual = bounds(rows)
    if agree(primal, dual):
        return report
    if sampled and hasty:
        primal = np.inf
    elif sampled:
        primal, dual = bounds(every)
        if agree(primal, dual):
            return report
    gap = (primal - dual) / abs(primal) if np.isfinite(primal) and primal != 0.0 else np.inf
    # A primal objective below the dual one is no better a certificate than one far above it.
    trusted = -_ROUNDING <= gap <= tol or report.status in _BEFORE_ITS_END
    status = report.status if trusted else "inexact"
    return replace(report, primal=primal, dual_objective=dual, gap=gap, status=status)


def without_rounding(report: AnyReport) -> AnyReport:
    """Return a report whose bound is not above its objective where only rounding put it there."""
    excess = report.dual_objective - report.primal
    if not 0.0 < excess <= _ROUNDING * abs(report.primal):
        return report
    history = {name: column.copy() for name, column in report.history.items()}
    history["dual"][-1:] = report.primal
    return replace(report, dual_objective=report.primal, gap=0.0, history=history)


def pairwise_loss(
    model: Model,
    weights: Matrix,
    indicator: NDArray[np.uint8],
    scores: Matrix,
    label_weights: Matrix | None = None,
    top: int | None = None,
) -> float:
    """Return the weighted sum over rows of the losses of the row's pairs."""
    return _rust.total_loss(
        indicator,
        np.ascontiguousarray(scores, dtype=np.float64),
        np.ascontiguousarray(weights, dtype=np.float64),
        loss=model.loss,
        theta=model.theta,
        mu=model.mu,
        label_weights=label_weights,
        top=top,
    )


def gap_text(gap: float, digits: int = 2) -> str:
    """Write a relative duality gap.

    It is "0 up to rounding" where objective and bound are the same but for the last digits of their
    sums, of either sign.
    """
    return "0 up to rounding" if abs(gap) <= _ROUNDING_OF_SUMS else f"{gap:.{digits}e}"
