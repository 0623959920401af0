"""Random training tasks over all methods, solvers, kernels, scales and forms of data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
)
from multimargin.estimators import RelationshipOptions
from multimargin.reference import estimators
from multimargin.reference.rank_svm import Array
from tests.campaign.random_problems import BIASES, KERNELS, RandomProblem, draw_problem

SOLVERS: dict[type, tuple[str, ...]] = {
    RankSVM: ("bcd", "bcd", "bcd", "dcd", "frank-wolfe"),
    RankSVMz: ("bcd", "bcd", "dcd"),
    RankLSVM: ("bcd", "bcd", "dcd"),
    RankCVM: ("bcd", "bcd", "dcd", "frank-wolfe"),
    MLODM: ("bcd", "bcd", "dcd", "multiplicative"),
    RankHLapSVM: ("bcd", "bcd", "dcd"),
    MLRL: ("splitting", "splitting", "alternating"),
    SSMLRL: ("splitting", "splitting", "alternating"),
    LLSF: ("auto", "admm", "apg"),
}
# How often each method is drawn.
METHODS = (
    *(RankSVM, RankSVM, RankSVM, RankSVMz, RankLSVM, RankCVM, MLODM, RankHLapSVM),
    *(MLRL, SSMLRL, LLSF),
)

MOST_ROWS_OF_MANY_LABELS = 10
# Whose reference takes a C for each row.
WEIGHTED = (RankSVM, RankSVMz, RankLSVM, RankCVM, MLODM)
# Whose labels or pairs have weights, and which rank against the highest irrelevant labels alone.
WITH_CLASS_WEIGHT = (*WEIGHTED, RankHLapSVM)
WITH_PAIR_WEIGHTS = (RankSVM, RankLSVM, MLODM)
WITH_TOP_K = (RankSVM, RankLSVM, RankCVM, RankHLapSVM)
SOLVERS_OF_TOP_K = ("bcd",)
# How a fit is ended before its time: by `max_time`, by Ctrl-C, or by the largest number of epochs.
ENDS = ("time", "interrupt", "epochs")

# The largest lam that RankHLapSVM takes.
MOST_LAM = 1e12
# Decades of the scale of the features.
DECADES = 8
# The trace norm is a semidefinite programme, many times as costly as a quadratic one.
MOST_ROWS_OF_MLRL, MOST_LABELS_OF_MLRL = 12, 4


@dataclass
class Task:
    """A model to fit, its data, and the same problem as the reference takes it."""

    seed: int
    index: int
    estimator: type
    parameters: dict[str, Any]
    X: Any
    Y: Any  # (n, q): Label indicator; rows of -1 are unlabelled, NaN is an unknown label
    features: Array  # (n, d): Features of the scale 1, in double precision
    scale: float  # The factor of the features
    K: Array = field(repr=False)  # (n, n): Kernel of the scaled features, by other packages
    weights: Array | None = field(default=None, repr=False)  # (n,): Weights of the rows
    ends: str = ""  # How the fit is ended before its time, one of `ENDS`
    after: int = 1  # After how many epochs, for Ctrl-C and the largest number

    def make(self) -> Any:
        """Return the unfitted estimator."""
        return self.estimator(**self.parameters)

    @property
    def top(self) -> int | None:
        """With how many irrelevant labels of its row each relevant one is compared; None is all."""
        return estimators.top(self.parameters, self.Y)

    def __str__(self) -> str:
        kind = f"{type(self.X).__name__} {self.X.dtype}"
        strain = f", weights to {self.weights.max():.1e}" if self.weights is not None else ""
        strain += f", ended by {self.ends} after {self.after}" if self.ends else ""
        size = f"{self.X.shape[0]} x {self.X.shape[1]} ({kind})"
        return f"{self.make()!r} on {size}{strain}".replace("\n", " ")


def draw_task(
    seed: int, index: int, estimator: type | None = None, solver: str | None = None
) -> Task:
    """Draw the task of a seed and an index; estimator and solver are drawn, too, if None."""
    random = np.random.default_rng([seed, index])
    drawn = METHODS[random.integers(len(METHODS))]
    estimator = drawn if estimator is None else estimator
    choices = SOLVERS[estimator]
    drawn_solver = choices[random.integers(len(choices))]
    solver = drawn_solver if solver is None else solver
    problem = _draw_problem(random, estimator)
    n, q = problem.Y.shape
    scale = 10.0 ** random.integers(-DECADES, DECADES + 1) if random.random() < 0.4 else 1.0
    single = random.random() < 0.2
    features = problem.X
    if single:
        # What single precision stores is the problem.
        scaled = np.asarray(scale * features, dtype=np.float32)
        features = scaled.astype(np.float64) / scale
    X = scale * features
    # Mostly the same problem in other units; else C and gamma stay as they were.
    square = scale**2 if random.random() < 0.8 else 1.0
    gamma = problem.gamma / square
    K = kernel_matrix(problem._replace(X=X, gamma=gamma))
    fitted: Any = X
    kernel = problem.kernel
    if estimator is LLSF:
        kernel = "linear"
    if random.random() < 0.15 and estimator is not LLSF:
        kernel, fitted = "precomputed", K
    elif random.random() < 0.3:
        fitted = sparse.csr_array(X)
    if single and kernel != "precomputed":
        fitted = fitted.astype(np.float32)
    parameters: dict[str, Any] = {"solver": solver, "threshold": 0.0}
    if estimator is not LLSF:
        parameters |= {"kernel": kernel, "gamma": gamma, "coef0": problem.coef0}
    # poly is not homogeneous: its units are those of its values.
    unit = float(np.diag(K).max(initial=0.0)) or 1.0
    unit = (square if problem.kernel == "linear" else unit) if scale != 1.0 else 1.0
    tol = 10.0 ** random.uniform(-7, -2)
    Y = problem.Y
    if estimator is LLSF:
        parameters |= _draw_llsf(random, tol, scale)
    elif estimator in (MLRL, SSMLRL):
        del parameters["threshold"]
        parameters |= _draw_relationships(random, estimator, solver, q, tol, unit)
        if estimator is SSMLRL:
            Y = Y.copy()
            Y[random.random(n) < random.choice([0.0, 0.3])] = -1
            Y[:2] = problem.Y[:2]
    else:
        spread = 1.0 if kernel == "precomputed" else square
        parameters |= _draw_pairwise(random, estimator, solver, problem, tol, unit, spread)
        if estimator is RankSVMz:
            del parameters["threshold"]
    if estimator is not LLSF:
        Y = _with_unknown_labels(np.random.default_rng([seed, index, 1]), Y)
    return Task(seed, index, estimator, parameters, fitted, Y, features, scale, K)


def strained(task: Task) -> Task:
    """Return a task with weights from 1e-5 to 1e8, with 200 to 300 labels, or ended early, or none.

    The pairs of many labels are affordable for the reference where all are with a zero label.
    """
    task = _with_weighted_labels(task)
    random = np.random.default_rng([task.seed, task.index, 2])
    weights, ends, Y = None, "", task.Y
    few = len(Y) <= MOST_ROWS_OF_MANY_LABELS and "class_weight" not in task.parameters
    if random.random() < 0.3 and task.estimator is RankSVMz and few:
        Y = (random.random((len(Y), random.integers(200, 301))) < random.uniform(0.05, 0.5)).astype(
            int
        )
    if random.random() < 0.2:
        ends = str(random.choice(ENDS))
    if random.random() < 0.2 and task.estimator in WEIGHTED:
        low, high = np.sort(random.uniform(-5, 8, size=2))
        weights = 10.0 ** random.uniform(low, high, size=len(task.Y))
    after = int(random.geometric(0.3))
    return replace(task, Y=Y, weights=weights, ends=ends, after=after)


def _with_weighted_labels(task: Task) -> Task:
    """Return a task in which labels have weights, or the top of the ranking counts, in a part."""
    random = np.random.default_rng([task.seed, task.index, 3])
    q = task.Y.shape[1]
    weights = 10.0 ** random.uniform(-1.0, 1.0, size=q)
    top_k = random.choice([float(random.uniform(0.1, 0.9)), int(random.integers(1, q))])
    parameters = dict(task.parameters)
    if random.random() < 0.2 and task.estimator in WITH_CLASS_WEIGHT:
        parameters["class_weight"] = weights
    takes_top_k = task.estimator in WITH_TOP_K and parameters["solver"] in SOLVERS_OF_TOP_K
    if random.random() < 0.3 and takes_top_k:
        parameters["top_k"] = float(top_k) if top_k < 1.0 else int(top_k)
    return replace(task, parameters=parameters)


def _draw_llsf(random: np.random.Generator, tol: float, scale: float) -> dict[str, Any]:
    return {
        "alpha": float(random.choice([0.0, 10.0 ** random.uniform(-3, 1)])) * scale**2,
        "beta": 10.0 ** random.uniform(-3, 0.5) * scale,
        "tol": tol,
        "max_iter": 20_000,
    }


def _draw_relationships(
    random: np.random.Generator, estimator: type, solver: str, q: int, tol: float, unit: float
) -> dict[str, Any]:
    lam = 10.0 ** random.uniform(-3, 1) * unit
    names = ("lam",) if estimator is MLRL else ("lam1", "lam2")
    parameters: dict[str, Any] = {name: lam * 10.0 ** random.uniform(-1, 1) for name in names}
    # The published loop stalls above the optimum, and every round is a whole problem.
    rounds = 30 if solver == "alternating" else 20_000
    parameters |= {"tol": max(tol, 1e-6), "max_iter": rounds}
    if random.random() < 0.4:
        S = random.normal(size=(q, random.integers(1, q + 1)))
        covariance = S @ S.T / np.trace(S @ S.T)
        parameters["options"] = RelationshipOptions(fixed_covariance=covariance)
    return parameters


def _draw_pairwise(
    random: np.random.Generator,
    estimator: type,
    solver: str,
    problem: Any,
    tol: float,
    unit: float,
    spread: float,
) -> dict[str, Any]:
    published = solver.endswith("frank-wolfe")
    parameters = {
        "C": problem.C / unit,
        "tol": max(tol, 1e-3) if published else tol,
        "max_iter": 2_000 if published else 20_000,
        "random_state": 0,
    }
    if estimator in (RankSVM, RankSVMz):
        parameters["bias"] = problem.bias
    if estimator is MLODM:
        parameters |= {"theta": random.uniform(0.0, 0.9), "mu": random.uniform(0.05, 1.0)}
    if estimator is RankHLapSVM:
        nu = float(random.choice([0.0, random.uniform(0.01, 1.0)]))
        lam = min(10.0 ** random.uniform(-3, 2) / unit, MOST_LAM)
        parameters |= {"lam": lam, "nu": nu / spread}
    return parameters


def _with_unknown_labels(random: np.random.Generator, Y: Any) -> Any:
    """Return labels of which some are NaN, in a part of the tasks."""
    if random.random() < 0.7:
        return Y
    # Rows of -1 stay as they are.
    known = (random.random(Y.shape) >= random.choice([0.05, 0.3, 0.7])) | (Y < 0)
    masked = np.where(known, Y, np.nan)
    has_pair = ((masked == 1).any(axis=1) & (masked == 0).any(axis=1)).any()
    return masked if has_pair else Y


def _draw_problem(random: np.random.Generator, estimator: type) -> RandomProblem:
    while True:
        kernel = KERNELS[random.integers(len(KERNELS))]
        if kernel == "sigmoid" and estimator not in (RankSVM, MLODM):
            # Its values of order 1e-6 vanish beside the 1 that a penalized bias adds.
            kernel = "rbf"
        problem = draw_problem(random, kernel, BIASES[random.integers(len(BIASES))])
        if problem is None:
            continue
        if estimator in (MLRL, SSMLRL):
            problem = problem._replace(
                X=problem.X[:MOST_ROWS_OF_MLRL],
                Y=problem.Y[:MOST_ROWS_OF_MLRL, :MOST_LABELS_OF_MLRL],
            )
        return problem


def kernel_matrix(problem: RandomProblem) -> Array:
    """Return the kernel matrix of a random problem by its definition."""
    return estimators.kernel(problem.X, problem._asdict())
