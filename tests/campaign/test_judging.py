"""The judge of random problems: it finds what is wrong. `tests/optimum` has it judge every fit."""

import sys
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from multimargin import MLODM, MLRL, RankCVM, RankLSVM, RankSVM
from multimargin.estimators.bases import pairwise as base
from multimargin.reference.interior_point import ExactSolverError
from tests.campaign import __main__ as program
from tests.campaign import judging
from tests.campaign.bounds import optimum
from tests.campaign.extremes import draw_extreme, misses_of
from tests.campaign.identities import IDENTITIES, broken
from tests.campaign.judging import judge
from tests.campaign.tasks import ENDS, draw_task, strained
from tests.support.subsets import first_fast


def test_a_task_is_drawn_by_its_numbers():
    one, two, other = draw_task(3, 4), draw_task(3, 4), draw_task(3, 5)
    np.testing.assert_array_equal(one.K, two.K)
    assert str(one) == str(two) != str(other)


def test_the_reference_brackets_the_optimum():
    tasks = [draw_task(8, index, RankSVM, "bcd") for index in range(10)]
    assert 0 < sum(np.isnan(task.Y).any() for task in tasks) < 10
    for task in tasks:
        lower, upper, zero = optimum(task)
        assert upper - lower < max(1e-6 * upper, 1e-14 * zero)
        assert 0.0 <= lower <= upper * (1.0 + 1e-12) <= zero * (1.0 + 1e-9)


def damaged(monkeypatch, method, **changes):
    """Judge a task whose solver returns something other than it found."""
    solve = base.solve_problem

    def careless(*arguments):
        fit = solve(*arguments)
        return replace(fit, **{name: change(fit) for name, change in changes.items()})

    monkeypatch.setattr(base, "solve_problem", careless)
    # The estimators would notice: what is damaged here is what leaves them.
    monkeypatch.setattr(base, "certified", lambda problem, fit, *_: fit)
    verdicts = [judge(draw_task(6, index, method, "bcd")) for index in range(4)]
    return [" ".join(verdict.misses) for verdict in verdicts]


def shrunk(fit):
    return 0.9 * fit.dual


def weights(fit):
    return None if fit.weights is None else 0.9 * fit.weights


@pytest.mark.parametrize("method", first_fast([RankLSVM, RankSVM, MLODM], 1))
def test_damage_is_found(method):
    for changes, message in (
        ({"primal": lambda fit: 1.01 * fit.primal}, "the returned model has the value"),
        ({"dual": shrunk, "weights": weights}, "the returned model has the value"),
        ({"primal": lambda fit: 0.9 * fit.primal}, "below a proven bound"),
        ({"primal": lambda fit: np.inf}, "objective inf, bound"),
        ({"dual_objective": lambda fit: 1.01 * fit.primal}, "above a model's value"),
        ({"gap": lambda fit: 1.0}, "converged with a gap of 1"),
    ):
        with pytest.MonkeyPatch.context() as patched:
            assert any(message in found for found in damaged(patched, method, **changes)), message


def test_an_early_end_that_says_converged_is_found(monkeypatch):
    task = draw_task(6, 0, RankSVM, "bcd")
    task.parameters |= {"tol": 0.9, "C": 100.0 * task.parameters["C"]}
    fit = RankSVM.fit
    monkeypatch.setattr(RankSVM, "fit", lambda *given: fit(*given).set_params(tol=1e-9))
    assert any("converged at" in miss for miss in judge(task).misses)


def test_dual_variables_that_are_almost_nothing_divide_nothing():
    # Sums of 1e-310 are inside of every bound.
    assert judge(strained(draw_task(33, 5257))).misses == []


def test_what_overflows_ends_at_the_model_0():
    # The dual of a kernel that is indefinite by its rounding has no maximum at such weights.
    assert judge(strained(draw_task(99123, 727))).misses == []


def test_exceptions_and_hangs_are_misses(monkeypatch):
    monkeypatch.setattr(RankCVM, "_solve", Mock(side_effect=OverflowError("no luck")))
    assert judge(draw_task(7, 0, RankCVM, "bcd")).misses[0].startswith("OverflowError: no luck")

    def hang(*_):
        while True:
            pass

    monkeypatch.setattr(judging, "PATIENCE", 1)
    monkeypatch.setattr(MLRL, "_solve", hang)
    assert judge(draw_task(7, 0, MLRL, "splitting")).status == "timeout"


def test_a_status_that_is_not_true_is_a_miss(monkeypatch):
    fit = RankSVM.fit
    for status, message in (
        ("indefinite_kernel", "is said to be indefinite"),
        ("interrupted", "nobody interrupted"),
    ):

        def stopped(model, X, Y, status=status):
            fit(model, X, Y).status_ = status

        monkeypatch.setattr(RankSVM, "fit", stopped)
        (miss,) = judge(draw_task(6, 0, RankSVM, "bcd")).misses
        assert message in miss


def test_a_kernel_that_is_a_little_indefinite_may_be_said_to_be():
    # tanh is not positive semidefinite: its least eigenvalue is -6e-9 of the largest.
    verdict = judge(strained(draw_task(20261128, 801)))
    assert (verdict.status, verdict.misses) == ("indefinite_kernel", [])


@pytest.mark.parametrize("ends", ["", *ENDS])
@pytest.mark.parametrize(("method", "solver"), [(RankSVM, "dcd"), (MLODM, "bcd")])
def test_there_is_no_optimum_of_an_indefinite_kernel(method, solver, ends):
    task = draw_task(6, 0, method, solver)
    X = np.random.default_rng(0).normal(size=(len(task.Y), 4))
    K = X * [1.0, 1.0, -1.0, -0.5] @ X.T
    parameters = task.parameters | {"kernel": "precomputed"}
    verdict = judge(replace(task, X=K, K=K, parameters=parameters, ends=ends))
    assert verdict.status == ("interrupted" if ends == "interrupt" else "indefinite_kernel")
    assert verdict.misses == []


def test_what_the_reference_cannot_solve_is_told_apart(monkeypatch):
    monkeypatch.setattr(judging, "optimum", Mock(side_effect=ExactSolverError("no answer")))
    verdict = judge(draw_task(6, 0, RankSVM, "bcd"))
    assert (verdict.resolved, verdict.misses) == (False, [])
    monkeypatch.setattr(judging, "optimum", Mock(side_effect=ValueError("there is no optimum")))
    verdict = judge(draw_task(6, 0, RankSVM, "bcd"))
    assert verdict.misses == ["the status is converged, but there is no optimum"]


def outcome_of(monkeypatch, capsys, count):
    """Return the exit code of the program, and what it prints."""
    monkeypatch.setattr(sys, "argv", ["campaign", "--seed", "6", "--count", str(count)])
    with pytest.raises(SystemExit) as ended:
        program.main()
    return ended.value.code, capsys.readouterr().out


def test_an_exact_solver_that_fails_often_is_a_miss(monkeypatch, capsys):
    monkeypatch.setattr(program, "draw_task", lambda *drawn: draw_task(*drawn, RankSVM, "bcd"))
    # Nothing else is judged.
    monkeypatch.setattr(program, "strained", lambda task: task)
    monkeypatch.setattr(program, "misses_of", lambda problem: [])
    monkeypatch.setattr(program.stacks, "misses_of", lambda stack: ("", []))
    monkeypatch.setattr(program, "broken", lambda name, seed: "")
    assert outcome_of(monkeypatch, capsys, 6)[0] == 0
    monkeypatch.setattr(judging, "optimum", Mock(side_effect=ExactSolverError("no answer")))
    few = program.FEW
    assert outcome_of(monkeypatch, capsys, few)[0] == 0
    code, said = outcome_of(monkeypatch, capsys, few + 1)
    assert code == 1
    assert f"RankSVM: the reference has no optimum of {few + 1} problems in {few + 1}" in said


def test_an_identity_whose_solver_fails_again_and_again_is_a_miss(monkeypatch):
    error, values = ExactSolverError("no answer"), [1.0, 1.0]
    for outcomes, missed in (([error, error, values], False), ([error] * 3, True)):
        monkeypatch.setitem(IDENTITIES, "one", Mock(side_effect=outcomes))
        assert bool(broken("one", 0)) == missed


@pytest.mark.parametrize("block", first_fast(range(4), 2))
def test_no_bound_of_extreme_columns_and_weights_is_false(block):
    for index in range(25 * block, 25 * block + 25):
        assert misses_of(draw_extreme(1, index)) == [], index


@pytest.mark.parametrize("index", [30, 383, 665, 1038, 3704])
def test_objectives_of_short_columns_and_heavy_rows_are_those_of_the_model(index):
    assert misses_of(draw_extreme(4, index)) == []


def test_a_false_bound_of_an_extreme_problem_is_found(monkeypatch):
    fit = MLODM.fit

    def lifted(model, *given, **weights):
        fit(model, *given, **weights).dual_objective_ *= 2.0
        return model

    monkeypatch.setattr(MLODM, "fit", lifted)
    problems = (draw_extreme(1, index) for index in range(40))
    found = [misses_of(problem) for problem in problems if problem.estimator is MLODM]
    assert any("is above" in miss for misses in found for miss in misses)


def test_the_program_judges_problems(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["campaign", "--seed", "6", "--first", "3", "--count", "1"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.endswith("1 problems, 0 misses\n")
