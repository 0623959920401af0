"""Whose objective a fit reports: the solver's, or that of the model itself."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from multimargin.estimators.fitting.certificate import (
    relative_gap,
    with_own_certificate,
    without_false_bound,
    without_rounding,
)
from multimargin.estimators.pairwise import problem
from multimargin.estimators.pairwise.certificate import pairwise_loss
from multimargin.estimators.pairwise.problem import Model


@dataclass(frozen=True)
class Report:
    primal: float = 100.0
    dual_objective: float = 99.99
    gap: float = 1e-4
    status: str = "converged"
    rounding: float = 1e-12
    history: dict[str, np.ndarray] = field(
        default_factory=lambda: {"primal": np.array([120.0, 100.0]), "dual": np.array([9.0, 99.0])},
        compare=False,
    )


def judged(
    n: int, values: dict[bool, tuple[float, float]], status: str = "converged"
) -> tuple[Report, list[int]]:
    """Values by whether they are those of all rows."""
    report, sizes = Report(status=status), []

    def bounds(rows: np.ndarray) -> tuple[float, float]:
        sizes.append(len(rows))
        return values[len(rows) == n]

    return with_own_certificate(report, n, 1e-3, bounds), sizes


def test_a_sample_that_disagrees_has_all_rows_looked_at() -> None:
    n, right, wrong = 10**6, (100.0, 99.99), (103.0, 99.99)
    report, sizes = judged(n, {False: wrong, True: right})
    assert report == Report()
    assert sizes[0] < sizes[1] == n
    report, _ = judged(n, {False: wrong, True: wrong})
    assert (report.primal, report.status) == (103.0, "inexact")
    assert report.gap == pytest.approx(3.01 / 103.0)
    report, sizes = judged(n, {False: right, True: wrong})
    assert (report, len(sizes)) == (Report(), 1)
    # Fewer of rows that are alike.
    with_own_certificate(report, n, 1e-3, lambda rows: (sizes.append(len(rows)), right)[1], True)
    assert sizes[-1] == sizes[0] / 4


def test_a_model_that_is_scored_in_full_has_its_own_objective() -> None:
    # A hundredth of the tolerance is what a sample is not worth looking into.
    n, said, own = 10**6, (100.0, 99.99), (100.0001, 99.99)
    report, sizes = judged(10, {True: own})
    assert (report.primal, report.status, sizes) == (100.0001, "converged", [10])
    assert report.gap == pytest.approx(1.01e-4)
    # The records end with it, and those of another objective stay.
    assert report.history["primal"].tolist() == [120.0, 100.0001]
    assert report.history["dual"].tolist() == [9.0, 99.0]
    assert judged(10, {True: (100.0 + 1e-8, 99.99)})[0] == Report()
    assert judged(n, {False: own, True: said})[0] == Report()
    # It is no reason to call a model inexact.
    for status, expected in (("converged", 100.0), ("stalled", 100.0001)):
        report = Report(dual_objective=99.90004, gap=9.996e-4, status=status)
        found = with_own_certificate(report, 10, 1e-3, lambda rows: (100.0001, 99.90004))
        assert (found.primal, found.status) == (expected, status)


@pytest.mark.parametrize("status", ["time_limit", "indefinite_kernel", "interrupted"])
def test_what_a_fit_was_ended_by_stays(status: str) -> None:
    right, wrong = (100.0, 99.99), (103.0, 99.99)
    report, _ = judged(10, {True: wrong}, status)
    assert (report.primal, report.status) == (103.0, status)
    assert report.gap == pytest.approx(3.01 / 103.0)
    assert judged(10, {True: right}, status)[0] == Report(status=status)


def test_who_interrupts_waits_for_few_rows() -> None:
    n, right, wrong = 10**6, (100.0, 99.99), (103.0, 99.99)
    report, sizes = judged(n, {False: right}, "interrupted")
    assert report == Report(status="interrupted")
    assert sizes[0] < 100
    report, sizes = judged(n, {False: wrong}, "interrupted")
    assert (report.primal, report.gap, len(sizes)) == (np.inf, np.inf, 1)
    unknown = Report(primal=np.inf, gap=np.inf, status="interrupted")
    assert with_own_certificate(unknown, n, 1e-3, lambda rows: right) is unknown


def test_scores_that_are_not_finite_lose_everything() -> None:
    Y = np.array([[1, 0], [0, 1]], dtype=np.uint8)
    scores = np.array([[2.0, 0.0], [0.0, 0.5]])
    stated = SimpleNamespace(
        model=Model("hinge", "none"),
        indicator=Y,
        pair_weights=np.ones(2),
        label_weights=None,
        top=None,
    )
    assert pairwise_loss(stated, scores) == 0.5
    assert pairwise_loss(stated, scores[:1], [0]) == 0.0
    # At a margin of 2, each score is half as much; at a margin of 0 the model is 0.
    assert pairwise_loss(stated, scores, margin=2.0) == 0.75
    assert pairwise_loss(stated, scores, margin=0.0) == 2.0
    scores[0, 0] = np.inf
    assert pairwise_loss(stated, scores) == np.inf


def test_a_bound_above_the_objective_by_rounding_is_the_objective() -> None:
    history = {"epoch": np.arange(2), "dual": np.array([90.0, 100.0 + 1e-12])}
    report = problem.Report(
        status="converged",
        n_iter=2,
        primal=100.0,
        dual_objective=100.0 + 1e-12,
        gap=-1e-14,
        rounding=1e-11,
        history=history,
    )
    rounded = without_rounding(report)
    assert (rounded.dual_objective, rounded.gap, rounded.history["dual"][-1]) == (100.0, 0.0, 100.0)
    assert history["dual"][-1] > 100.0
    # What is no rounding stays visible.
    above = replace(report, dual_objective=100.1)
    assert without_rounding(above) is above


def test_a_bound_above_the_objective_by_more_than_the_rounding_of_their_terms_is_none() -> None:
    for excess, rounding in ((1e-9, 1e-10), (1e-6, 1e-2)):
        spoilt = without_false_bound(Report(dual_objective=100.0 + excess, rounding=rounding))
        assert (spoilt.dual_objective, spoilt.gap, spoilt.status) == (-np.inf, np.inf, "inexact")
        late = Report(dual_objective=100.0 + excess, rounding=rounding, status="time_limit")
        assert without_false_bound(late).status == "time_limit"
    kept = Report(dual_objective=100.0 + 1e-11, rounding=1e-10)
    assert without_false_bound(kept) is kept
    indefinite = Report(dual_objective=200.0, status="indefinite_kernel")
    assert without_false_bound(indefinite) is indefinite


def test_a_bound_above_the_objective_certifies_nothing():
    assert relative_gap(29.17, 48.65, 1e-14) == np.inf
    assert relative_gap(1.0, np.nan, 1.0) == np.inf
    assert relative_gap(1.0, 1.0 + 1e-12, 1e-11) == pytest.approx(-1e-12, rel=1e-3)
    assert relative_gap(0.0, 0.0, 0.0) == 0.0
    # More than rounding, or than is good for anything.
    assert relative_gap(1.0, 1.0 + 1e-12, 1e-13) == np.inf
    assert relative_gap(1.0, 1.0 + 1e-8, 1e-4) == np.inf
    assert relative_gap(1.0, 1.1, 1.0) == np.inf
