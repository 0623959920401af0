"""Estimators against the exact solution of the same random problem.

Used by the tests, on a few problems, and by the benchmarks, on many.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM
from multimargin.reference import mlodm, rank_cvm, rank_hlapsvm, rank_lsvm
from multimargin.reference.exact import Array
from multimargin.reference.random_problems import RandomProblem, random_problems

# The optimal margin loss and the hypergraph of the random problems.
THETA, MU, LAM, NU = 0.2, 0.4, 0.3, 0.2


class Comparison(NamedTuple):
    """An estimator's certificate beside the optimum.

    Parameters
    ----------
    problem : RandomProblem
        The problem.
    optimum : float
        Its optimum by the interior-point solver.
    objective, bound : float
        The estimator's objective and its lower bound.
    status : str
        Why its solver ended.
    """

    problem: RandomProblem
    optimum: float
    objective: float
    bound: float
    status: str

    @property
    def error(self) -> float:
        """The larger of the distances of objective and bound to the optimum, relative to it."""
        distance = max(abs(self.objective - self.optimum), abs(self.optimum - self.bound))
        return distance / abs(self.optimum) if self.optimum else distance


def _rank_lsvm(K: Array, problem: RandomProblem) -> float:
    return rank_lsvm.dual(K, problem.Y, problem.C).objective


def _rank_cvm(K: Array, problem: RandomProblem) -> float:
    return rank_cvm.dual(K, problem.Y, problem.C).objective


def _mlodm(K: Array, problem: RandomProblem) -> float:
    return mlodm.dual(K, problem.Y, problem.C, THETA, MU).objective


def _rank_hlapsvm(K: Array, problem: RandomProblem) -> float:
    return rank_hlapsvm.dual(K, problem.Y, problem.C, LAM, NU).objective


# name: (estimator, its parameters, the exact optimum)
METHODS: dict[str, tuple[Any, dict[str, float], Callable[[Array, RandomProblem], float]]] = {
    "RankLSVM": (RankLSVM, {}, _rank_lsvm),
    "RankCVM": (RankCVM, {}, _rank_cvm),
    "MLODM": (MLODM, {"theta": THETA, "mu": MU}, _mlodm),
    "RankHLapSVM": (RankHLapSVM, {"lam": LAM, "nu": NU}, _rank_hlapsvm),
}


def comparisons(
    method: str, solver: str, count: int, seed: int, tol: float = 1e-7
) -> Iterator[Comparison]:
    """Fit an estimator to random problems and solve each of them exactly, too.

    Parameters
    ----------
    method : {"RankLSVM", "RankCVM", "MLODM", "RankHLapSVM"}
        The estimator.
    solver : str
        Its solver.
    count : int
        How many problems.
    seed : int
        Seed of the problems.
    tol : float, default 1e-7
        The estimator's tolerance.

    Yields
    ------
    Comparison
        One for each problem.
    """
    estimator, parameters, optimum = METHODS[method]
    for problem in random_problems(count, seed):
        if problem.kernel == "sigmoid" and method != "MLODM":
            # Its values of order 1e-6 vanish beside the 1 that a penalised bias adds. As an rbf
            # kernel it needs a width and a weight of ordinary size.
            problem = problem._replace(kernel="rbf", gamma=1e6 * problem.gamma, C=1e-6 * problem.C)
        # The hyperedge weights of a precomputed kernel are those of its own distances.
        K = kernel_matrix(problem)
        model = estimator(
            C=problem.C,
            kernel="precomputed",
            solver=solver,
            tol=tol,
            max_iter=1_000_000,
            threshold=0.0,
            random_state=0,
            **parameters,
        )
        with warnings.catch_warnings():
            # A fit that misses its tolerance is judged by its error, not by its warning.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(K, problem.Y)
        yield Comparison(
            problem, optimum(K, problem), model.objective_, model.dual_objective_, model.status_
        )


def kernel_matrix(problem: RandomProblem) -> Array:
    """Return the kernel matrix of a random problem by scikit-learn.

    Parameters
    ----------
    problem : RandomProblem

    Returns
    -------
    ndarray, shape (n, n)
    """
    parameters = {
        "linear": {},
        "rbf": {"gamma": problem.gamma},
        "poly": {"gamma": problem.gamma, "coef0": problem.coef0, "degree": 3},
        "sigmoid": {"gamma": problem.gamma, "coef0": problem.coef0},
    }[problem.kernel]
    K: Array = pairwise_kernels(problem.X, metric=problem.kernel, **parameters)
    return (K + K.T) / 2.0
