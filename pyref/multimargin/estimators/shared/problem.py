"""What passes between an estimator and a solver: a problem, the kind of model, and a fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators.shared.progress import EpochCallback
from multimargin.kernels import Kernel

Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a solver ended, and how far it is from the optimum.

    Parameters
    ----------
    status : str
        Why it ended.
    n_iter : int
        Epochs or rounds made.
    primal, dual_objective, gap : float
        Objectives and relative duality gap.
    history : dict of ndarray
        Columns "epoch", "seconds", "primal" and "dual".
    """

    status: str
    n_iter: int
    primal: float
    dual_objective: float
    gap: float
    history: dict[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Fit(Report):
    """What a solver of the pairwise family returns: a report, and the model.

    Parameters
    ----------
    dual : ndarray of shape (n, q)
        Dual matrix B.
    bias : ndarray of shape (q,)
        Bias b.
    scores : ndarray of shape (n, q) or None
        Scores of the training rows without the bias; None where Ctrl-C would have to wait for them.
    weights : ndarray of shape (d, q) or None
        Weights W of a linear kernel on features.
    expansion : ndarray of shape (n, q), default=None
        Coefficients of the kernel expansion of the scores, where they are not `dual` itself.
    """

    dual: Matrix
    bias: Matrix
    scores: Matrix | None
    weights: Matrix | None
    expansion: Matrix | None = None


def history_of(columns: Iterable[NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the columns that a compiled loop recorded by their names."""
    epoch, seconds, primal, dual = columns
    return {"epoch": epoch.astype(int), "seconds": seconds, "primal": primal, "dual": dual}


@dataclass(frozen=True)
class Problem:
    """A training problem, ready for a solver.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features, or the kernel matrix for a precomputed kernel.
    features : ndarray or CSR matrix of shape (n, d)
        What `fit` was given as X: `X` unless a kernel matrix was computed from it.
    indicator : ndarray of shape (n, q)
        Label indicator, 2 where a label is unknown.
    kernel : Kernel
        The kernel; its name is "precomputed" when `X` is the kernel matrix.
    C : float
        Weight of the loss.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Largest number of epochs.
    cache_bytes : int
        Memory for kernel rows.
    start : ndarray of shape (n, q) or None
        Dual matrix to start from.
    start_bias : ndarray of shape (q,) or None
        Bias to start from, when it is free.
    seed : int
        Seed of the random permutations.
    threads : int
        Number of threads.
    callback : callable or None
        Called after each epoch.
    metric : ndarray of shape (d, d), default=None
        Symmetric positive definite M of the inner products x^T M x' that take the place of x^T x',
        for sparse `X` and the linear kernel.
    pair_weights : ndarray of shape (n,), default=None
        Weight of each pair, by row; None is `C` over the number of the row's pairs.
    deadline : float or None, default=None
        When the fit has to end, by `time.monotonic`.
    sample_weight : ndarray of shape (n,), default=None
        How often each row counts, which `pair_weights` contain.
    label_weights : ndarray of shape (q,), default=None
        How many times the pairs of each label count where it is relevant; None is once.
    top : int or None, default=None
        With how many of the highest irrelevant labels each relevant one forms a pair; None is all.
    """

    X: Any
    features: Any
    indicator: NDArray[np.uint8]
    kernel: Kernel
    C: float
    tol: float
    max_iter: int
    cache_bytes: int
    start: Matrix | None
    start_bias: Matrix | None
    seed: int
    threads: int
    callback: EpochCallback | None
    metric: Matrix | None = None
    pair_weights: Matrix | None = None
    deadline: float | None = None
    sample_weight: Matrix | None = None
    label_weights: Matrix | None = None
    top: int | None = None


@dataclass(frozen=True)
class Model:
    """A member of the pairwise family: its loss and its bias.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "optimal_margin", "zero_label_hinge"}
        Loss of the margin of a label pair. With a zero label, its column is the last of a `Fit`.
    bias : {"free", "penalized", "none"}
        Treatment of the bias.
    theta, mu : float
        Parameters of the optimal margin loss.
    """

    loss: str
    bias: str
    theta: float = 0.0
    mu: float = 1.0
