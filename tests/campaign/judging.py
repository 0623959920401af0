"""Random tasks fitted, and judged by the exact reference."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multimargin import MLRL, SSMLRL, EmptyRowsWarning, RankCVM, UnknownLabelsWarning
from multimargin.estimators import RelationshipOptions
from multimargin.reference import estimators
from multimargin.reference.interior_point import ExactSolverError
from tests.campaign.bounds import Interval, optimum, returned
from tests.campaign.tasks import Task
from tests.support.ctrl_c import PressesCtrlC

# What an objective may differ by beyond what its tolerance allows, relative to it.
SLACK = 1e-6
# Share of the objective of the model 0 below which nothing is known in double precision.
FLOOR = 1e-12
# Seconds of work after which a fit counts as one that hangs: a busy machine finds no fault.
PATIENCE = 60
# No epoch is as short; one more is made for each component of the labels, at most three of two
# labels or more, and for a start.
AT_ONCE, MOST_EPOCHS = 1e-9, 6
# Between two looks at the clock.
MOST_STEPS = 16
# Statuses of fits with a kernel of which there is no optimum; one that is interrupted may have any.
WITHOUT_OPTIMUM = ("indefinite_kernel", "interrupted")


@dataclass
class Verdict:
    """What came of one task."""

    task: Task
    status: str  # The fit's status, or what ended it
    misses: list[str] = field(default_factory=list)  # What is wrong
    # Whether the optimum of the reference is exact to `SLACK`; not where it fails as a solver
    resolved: bool = True


def judge(task: Task, *, by_optimum: bool = True) -> Verdict:
    """Fit a task and compare objective, bound and the returned model with the reference.

    Without `by_optimum`, which costs far more than a fit, they are compared with each other alone.
    """
    model = task.make()
    # A linear model keeps its dual variables only so, and its value is computed from them.
    if "warm_start" in model.get_params():
        model.set_params(warm_start=True)
    elif isinstance(model, MLRL | SSMLRL):
        options = model.options or RelationshipOptions()
        model.set_params(options=clone(options).set_params(keep_rows=True))
    try:
        with warnings.catch_warnings(), _time_limit():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UnknownLabelsWarning)
            warnings.simplefilter("ignore", EmptyRowsWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "y has labels of one class only", UserWarning)
            _fit(task, model)
            if not hasattr(model, "status_"):
                return Verdict(task, "interrupted")
            value = returned(task, model)
    except TimeoutError:
        return Verdict(task, "timeout", [f"the fit takes more than {PATIENCE} s of work"])
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        found = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return Verdict(task, "exception", [found])
    verdict = Verdict(task, str(model.status_))
    if verdict.status == "interrupted" and task.ends != "interrupt":
        verdict.misses.append("nobody interrupted the fit")
    # Steps of one row each.
    steps = task.estimator is RankCVM and _is_published(model)
    recorded = len(model.history_["epoch"])
    if task.ends == "time":
        made = model.n_iter_ if steps else recorded
        if made > (MOST_STEPS if steps else MOST_EPOCHS):
            unit = "steps" if steps else "epochs"
            verdict.misses.append(f"max_time={AT_ONCE} took {made} {unit}")
    # Of steps, twice as many are made between two records as before.
    most = task.after + (MOST_STEPS if steps else 1)
    if task.ends == "interrupt" and verdict.status == "interrupted" and recorded > most:
        verdict.misses.append(f"Ctrl-C after epoch {task.after} took {recorded} epochs")
    own = value.objective
    if verdict.status == "inexact" and value.rounding < 1e-2 * model.tol * abs(own):
        verdict.misses.append(f"inexact, where rounding moves {own:.6g} by {value.rounding:.3g}")
    interval = None
    try:
        interval = optimum(task) if by_optimum else None
        # The reference adds what a kernel lacks to a definite one where that is little.
        little = estimators.negative_part(task.K).any()
        if by_optimum and verdict.status == "indefinite_kernel" and not little:
            verdict.misses.append("the kernel is said to be indefinite, which it is not")
    except ExactSolverError:
        verdict.resolved = False
    except ValueError as error:
        if verdict.status not in WITHOUT_OPTIMUM:
            verdict.misses.append(f"the status is {verdict.status}, but {error}")
    _compare(verdict, model, value.objective, value.rounding, interval)
    return verdict


def _fit(task: Task, model: Any) -> None:
    """Fit a model to a task, and end it as the task says."""
    weights = {} if task.weights is None else {"sample_weight": task.weights}
    if task.ends == "time":
        model.set_params(max_time=AT_ONCE)
    if task.ends == "epochs":
        model.set_params(max_iter=task.after)
    if task.ends != "interrupt":
        model.fit(task.X, task.Y, **weights)
        return
    model.set_params(verbose=1)
    with redirect_stdout(PressesCtrlC(task.after)), suppress(KeyboardInterrupt):
        model.fit(task.X, task.Y, **weights)


def _is_published(model: Any) -> bool:
    return str(model.solver).endswith("frank-wolfe")


def _compare(
    verdict: Verdict, model: Any, value: float, rounding: float, interval: Interval | None
) -> None:
    objective, bound = float(model.objective_), float(model.dual_objective_)
    misses, tol = verdict.misses, model.tol
    # (37) is minimised in the dual: there a model belongs to the lower bound.
    own = bound if isinstance(model, RankCVM) else objective
    zero = 0.0 if interval is None else interval.zero
    floor = rounding + FLOOR * (zero if np.isfinite(zero) else 0.0)
    slack = SLACK * abs(own) + floor
    # No bound is said where rounding has spoilt it.
    spoilt = verdict.status == "inexact" and bound == -np.inf and floor > SLACK * abs(objective)
    if not (np.isfinite(objective) and (np.isfinite(bound) or spoilt)):
        misses.append(f"objective {objective}, bound {bound}")
        return
    published = isinstance(model, RankCVM) and _is_published(model)
    if abs(value - own) > slack and not published:
        misses.append(f"the returned model has the value {value:.10g}, said is {own:.10g}")
    if bound > objective + 1e-9 * abs(objective) + floor:
        misses.append(f"the bound {bound:.12g} is above the objective {objective:.12g}")
    gap = objective - bound
    if abs(model.dual_gap_ * abs(objective) - gap) > 1e-9 * abs(objective) + floor:
        misses.append(
            f"the gap {model.dual_gap_:.6g} is not that of {objective:.12g}, {bound:.12g}"
        )
    converged = verdict.status == "converged"
    # The records of Rank-CVM are those of a loop at a margin of 1.
    recorded = () if isinstance(model, RankCVM) else model.history_["primal"]
    if converged and len(recorded) and abs(recorded[-1] - own) > 1e-9 * abs(own) + floor:
        misses.append(f"the last record is {recorded[-1]:.12g}, the objective {own:.12g}")
    if converged and isinstance(model, RankCVM) and not published:
        # They are bounds of (37), too, and no nearer than the model's own.
        highest, lowest = model.history_["primal"][-1], model.history_["dual"][-1]
        if highest < objective - slack or not highest - lowest <= tol * highest + slack:
            misses.append(f"the last record is {lowest:.12g} to {highest:.12g}, tol {tol:.6g}")
    if converged and not model.dual_gap_ <= tol:
        misses.append(f"converged with a gap of {model.dual_gap_:.6g}, tol is {tol:.6g}")
    if interval is None:
        return
    upper, lower = interval.upper, interval.lower
    if not upper - lower <= SLACK * abs(upper) + floor:
        verdict.resolved = False
    if bound > upper + SLACK * abs(upper) + floor:
        misses.append(f"the bound {bound:.12g} is above a model's value {upper:.12g}")
    if objective < lower - SLACK * abs(lower) - floor:
        misses.append(f"the objective {objective:.12g} is below a proven bound {lower:.12g}")
    if converged:
        excess = objective - upper - tol * abs(objective) - floor
        if excess > SLACK * abs(upper):
            misses.append(f"converged at {objective:.12g}, the optimum is at most {upper:.12g}")


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
