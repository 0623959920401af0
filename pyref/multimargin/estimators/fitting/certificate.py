"""Certificates of fitted models, checked by the scores of the returned model."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.estimators.fitting.report import SomeReport

Rows = NDArray[np.intp]
Bounds = tuple[float, float]

# Rows that are scored again, if there are more than twice as many: few if rows are alike, fewer if
# Ctrl-C waits for them.
_SAMPLE, _SAMPLE_OF_ALIKE, _SAMPLE_IN_HASTE = 256, 64, 16

# Two objectives are equal within this share of the tolerance on a sample of the rows, and within
# this share of the objective on all; no bound may exceed its objective by more, whatever the
# rounding.
_SHARE_OF_TOLERANCE = 1e-2
_ROUNDING = 1e-9
# Statuses that a gap above the tolerance does not change.
_BEFORE_ITS_END = ("interrupted", "time_limit", "indefinite_kernel")
# A relative gap that may be entirely rounding of sums over many rows.
_ROUNDING_OF_SUMS = 1e-14


def certificate_of(model: BaseEstimator) -> dict[str, object] | None:
    """Return the certificate of a model; None for a baseline.

    A classifier on label-specific features has the certificate of its selector.
    """
    model = getattr(model, "selector_", model)
    if not hasattr(model, "dual_gap_"):
        return None
    return {
        "status": str(model.status_),
        "gap": float(model.dual_gap_),
        "tol": float(model.tol),
        "objective": float(model.objective_),
        "dual_objective": float(model.dual_objective_),
        "n_iter": int(model.n_iter_),
    }


def with_own_certificate(
    report: SomeReport, n: int, tol: float, bounds: Callable[[Rows], Bounds], alike: bool = False
) -> SomeReport:
    """Return a report with the certificate of the model as it is returned.

    A loop certifies the scores that it computed; the returned weights or expansion may have other
    scores if the problem is ill-conditioned. Scores of rows that are `alike`, with kernel values of
    one size, have equal rounding. After Ctrl-C the objective is infinite if it is not known at
    once.
    """
    hasty = report.status == "interrupted"
    if hasty and not np.isfinite(report.primal):
        return report
    size = _SAMPLE_OF_ALIKE if alike else _SAMPLE
    sampled = n > 2 * size
    size = _SAMPLE_IN_HASTE if hasty else size
    every = np.arange(n)
    rows = np.linspace(0, n - 1, size).astype(np.intp) if sampled else every

    def agree(primal: float, dual: float, share: float) -> bool:
        allowed = max(share, _ROUNDING) * abs(report.primal)
        # If rounding has invalidated the bound, both are minus infinity.
        same = dual == report.dual_objective or abs(dual - report.dual_objective) <= allowed
        return same and abs(primal - report.primal) <= allowed

    primal, dual = bounds(rows)
    if agree(primal, dual, _SHARE_OF_TOLERANCE * tol if sampled else 0.0):
        return without_false_bound(report)
    if sampled and hasty:
        primal = np.inf
    elif sampled:
        primal, dual = bounds(every)
        if agree(primal, dual, 0.0):
            return without_false_bound(report)
    gap = (primal - dual) / abs(primal) if np.isfinite(primal) and primal != 0.0 else np.inf
    status = report.status if gap <= tol or report.status in _BEFORE_ITS_END else "inexact"
    if status == "inexact" and agree(primal, dual, _SHARE_OF_TOLERANCE * tol):
        # A difference of a hundredth of the tolerance does not matter.
        if report.status == "converged":
            return without_false_bound(report)
        status = report.status
    history = {name: column.copy() for name, column in report.history.items()}
    for name, said, own in (
        ("primal", report.primal, primal),
        ("dual", report.dual_objective, dual),
    ):
        # Rank-CVM's records belong to another objective.
        if np.isfinite(own) and history[name][-1:].tolist() == [said]:
            history[name][-1] = own
    found = replace(
        report, primal=primal, dual_objective=dual, gap=gap, status=status, history=history
    )
    return without_false_bound(found)


def without_false_bound(report: SomeReport) -> SomeReport:
    """Return a report without a bound that exceeds its objective by more than rounding.

    With an indefinite kernel there is no bound at all.
    """
    false = is_false(report.primal, report.dual_objective, report.rounding)
    if not false or report.status == "indefinite_kernel":
        return report
    status = report.status if report.status in _BEFORE_ITS_END else "inexact"
    return replace(report, dual_objective=-np.inf, gap=np.inf, status=status)


def is_false(primal: float, dual: float, rounding: float) -> bool:
    """Tell whether a bound exceeds its objective by more than the rounding of their terms."""
    return dual - primal > min(rounding, _ROUNDING * abs(primal))


def relative_gap(primal: float, dual: float, rounding: float) -> float:
    """(primal - dual) / primal.

    It is infinite where the bound is above the objective by more than the rounding of their terms.
    """
    if primal == dual:
        return 0.0
    if np.isnan(dual - primal) or is_false(primal, dual, rounding):
        return float("inf")
    return (primal - dual) / max(abs(primal), np.finfo(np.float64).tiny)


def without_rounding(report: SomeReport) -> SomeReport:
    """Return a report whose bound does not exceed its objective because of rounding."""
    excess = report.dual_objective - report.primal
    if not 0.0 < excess <= _ROUNDING * abs(report.primal):
        return report
    history = {name: column.copy() for name, column in report.history.items()}
    history["dual"][-1:] = report.primal
    return replace(report, dual_objective=report.primal, gap=0.0, history=history)


def gap_text(gap: float, digits: int = 2) -> str:
    """Write a relative duality gap, of either sign."""
    return "0 up to rounding" if abs(gap) <= _ROUNDING_OF_SUMS else f"{gap:.{digits}e}"
