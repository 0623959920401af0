"""Data passed between an estimator and a solver: a problem, the kind of model, and a fit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators.fitting.progress import EpochCallback
from multimargin.estimators.fitting.report import Report
from multimargin.kernels import Kernel
from multimargin.typing import Matrix


@dataclass(frozen=True, kw_only=True)
class Fit(Report):
    """Result of a solver of the pairwise family: a report, and the model."""

    # (n, q): Dual matrix B; CSR if it is large and `Problem.compact` allows it
    dual: Any
    bias: Matrix  # (q,): Bias b
    # (n, q): Scores of the training rows without the bias; None where Ctrl-C would have to wait
    # for them, and beside a CSR matrix
    scores: Matrix | None
    # (d, q): Weights W of a linear kernel on features; float32 where they are large, and
    # `Problem.compact` and the tolerance allow it
    weights: Any
    # (n, q): Coefficients of the kernel expansion of the scores, if they are not `dual` itself
    expansion: Matrix | None = None
    # The margin, if the objective rewards it; None if it is 1
    margin: float | None = None
    # Additional term of the regulariser besides the squared norm of the weights
    penalty: Callable[[Matrix], float] | None = None
    # Further attributes of the estimator, by name
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """A member of the pairwise family: its loss and its bias."""

    # Loss of the margin of a label pair. With a zero label, its column is the last of a `Fit`.
    loss: str
    bias: str  # Treatment of the bias
    theta: float = 0.0  # Parameters of the optimal margin loss
    mu: float = 1.0


@dataclass(frozen=True)
class Problem:
    """A training problem, ready for a solver."""

    model: Model
    X: Any  # (n, d'): Features, or the kernel matrix for a precomputed kernel
    # (d',): The columns of `features` that these are; None stands for all
    columns: NDArray[np.intp] | None
    # (n, d): What `fit` was given as X
    features: Any
    indicator: NDArray[np.uint8]  # (n, q): Label indicator, 2 where a label is unknown
    kernel: Kernel  # The kernel; its name is "precomputed" when `X` is the kernel matrix
    C: float  # Weight of the loss
    tol: float  # Relative duality gap at which to stop
    max_iter: int  # Largest number of epochs
    cache_bytes: int  # Memory for kernel rows
    start: Matrix | None  # (n, q): Dual matrix to start from
    start_bias: Matrix | None  # (q,): Bias to start from, when it is free
    seed: int  # Seed of the random permutations
    threads: int  # Number of threads
    pair_weights: Matrix  # (n,): Weight of each pair, by row
    callback: EpochCallback | None  # Called after each certificate
    # (d, d): Symmetric positive definite M of the inner products x^T M x' that take the place of
    # x^T x', for sparse `X` and the linear kernel
    metric: Matrix | None = None
    balanced: bool = False  # Whether each pair weighs `C` over the number of the row's pairs
    deadline: float | None = None  # When the fit has to end, by `time.monotonic`
    # (n,): How often each row counts, which `pair_weights` contain
    sample_weight: Matrix | None = None
    # (q,): Weight of the pairs in which each label is relevant; None is 1
    label_weights: Matrix | None = None
    # Number of the highest irrelevant labels with which each relevant one forms a pair; None is all
    top: int | None = None
    # Whether a large dual matrix may be CSR, and large weights in single precision
    compact: bool = False
