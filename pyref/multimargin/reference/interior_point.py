"""The interior-point solver of all problems: its settings, its failures, and its accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression, Problem

# Settings of Clarabel for successive attempts, and the statuses that each accepts: "inaccurate"
# means the reduced tolerances.
Attempt = tuple[dict[str, float], tuple[str, ...]]

# With a free bias the dual often has no interior, and with a large C its box is far wider than its
# solution. Clarabel's own step length and regularisation then stall before 1e-12; the shorter step,
# the stronger regularisation and its removal by iterative refinement do not.
QUADRATIC: list[Attempt] = [
    (
        {
            "tol_gap_abs": 1e-12,
            "tol_gap_rel": 1e-12,
            "tol_feas": 1e-12,
            "tol_infeas_abs": 1e-12,
            "tol_infeas_rel": 1e-12,
            "reduced_tol_gap_abs": 1e-9,
            "reduced_tol_gap_rel": 1e-9,
            "reduced_tol_feas": 1e-9,
            "max_step_fraction": 0.9,
            "static_regularization_constant": 1e-7,
            "iterative_refinement_max_iter": 50,
            "iterative_refinement_reltol": 1e-16,
            "iterative_refinement_abstol": 1e-16,
            "iterative_refinement_stop_ratio": 1.1,
            "max_iter": 500,
        },
        ("optimal", "optimal_inaccurate"),
    ),
    ({"max_iter": 500}, ("optimal",)),
]

# On other cones, of matrices or of norms, Clarabel gets to 1e-11 most of the time, and to 1e-8, its
# own tolerance, nearly always.
SEMIDEFINITE: list[Attempt] = [
    (dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance), ("optimal",))
    for tolerance in (1e-11, 1e-10, 1e-9, 1e-8)
]

# Relative gap at which no further attempt is made, and the lowest negative gap that counts as
# rounding.
CERTIFIED = 1e-9


class ExactSolverError(RuntimeError):
    """An interior-point solver stopped without a solution; the message says what helps."""


class BoundsApartError(ExactSolverError):
    """A solution was found, but its bound does not prove it."""


def import_cvxpy() -> ModuleType:
    """Import CVXPY, which is an optional dependency."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "the exact solver needs CVXPY, which is not installed: pip install 'multimargin[exact]'"
        ) from error
    return cvxpy


def solve_program(problem: Problem, attempts: Sequence[Attempt] = QUADRATIC) -> None:
    """Solve a CVXPY problem in place by the first attempt that succeeds, or raise."""
    cp = import_cvxpy()
    statuses = []
    for settings, accepted in attempts:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                problem.solve(solver="CLARABEL", **settings)
            except cp.SolverError:
                statuses.append("solver_error")
                continue
        if problem.status in accepted:
            return
        statuses.append(str(problem.status))
    raise ExactSolverError(
        f"the exact solver clarabel stopped with status {', '.join(dict.fromkeys(statuses))}; "
        "expected 'optimal'. Scale the features, lower C (for MLRL, raise lam) or use an iterative "
        "solver, such as solver='bcd' (for MLRL, 'splitting'), which certifies its result, too"
    )


def minimum(
    objective: Expression,
    constraints: Sequence[Constraint] = (),
    attempts: Sequence[Attempt] = QUADRATIC,
) -> float:
    """Minimise an objective under constraints; set the variables and return the minimum."""
    problem = import_cvxpy().Problem(import_cvxpy().Minimize(objective), list(constraints))
    solve_program(problem, attempts)
    return float(problem.value)
