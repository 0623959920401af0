"""The LLSF problem: label correlations, convexity, and calls of the solvers.

    min  1/2 ||X W - Y||_F^2  +  alpha/2 tr(M W^T W)  +  beta ||W||_1,      M = R + shift I

(LLSF paper, eqs. 3, 7 and 8.) R has a zero diagonal and so, unless it is 0, a negative eigenvalue.
The smallest eigenvalue of the quadratic form is lambda_min(X^T X) + alpha lambda_min(M): where it
is negative, the objective has no lower bound, since along its eigenvector the quadratic term
outweighs the two linear ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.blas import with_one_blas_thread
from multimargin.decompositions import aside, cholesky, divide
from multimargin.estimators.fitting.progress import EpochCallback
from multimargin.estimators.fitting.report import Report
from multimargin.estimators.fitting.time_limit import seconds_until
from multimargin.kernels import rust_matrix
from multimargin.typing import Features, Marks, Matrix, is_sparse

# Eigenvalues of R closer to zero than this are rounding: its entries are at most 1.
_ROUNDING = 1e-12

# Above this number eigenvalues take minutes and eigenvectors half a gigabyte.
MOST_EIGENVALUES = 4096
# With fewer labels than this share of the eigenvalues, these cost more than they save.
_EIGENVALUES_PER_LABEL = 50
# Below this share of the largest useful beta, per 1000 eigenvalues, solutions have so many features
# that coordinate descent is slower than the alternating direction method.
_DENSE_ALONE = 9e-7


def label_dissimilarity(indicator: Marks) -> Matrix:
    """Return R, one minus the cosine between label columns; 1 beside a label of no row."""
    Y = indicator.astype(np.float64)
    counts = Y.T @ Y
    norms: Matrix = np.sqrt(np.diag(counts))
    norms[norms == 0.0] = 1.0
    R: Matrix = 1.0 - counts / np.outer(norms, norms)
    # Equal columns differ by rounding.
    R[np.abs(R) < _ROUNDING] = 0.0
    np.fill_diagonal(R, 0.0)
    return R


@dataclass(frozen=True)
class Convexity:
    """Change of the objective's curvature by the label correlations."""

    # (q, q): alpha (R + shift I); None when it is 0, and the labels are independent
    coupling: Matrix | None
    shift: float  # What was added to the diagonal of R
    convex: bool  # Whether the problem with this coupling is convex
    # An upper bound of <C, H^+ C> with C = X^T Y and the quadratic form H, for the duality gap;
    # None when ||Y||^2 is one, that is when the coupling alone is positive semidefinite
    anchor: float | None
    smallest_label_eigenvalue: float  # lambda_min(R)
    largest_eigenvalue: float  # lambda_max(coupling)


def examine(X: Features, indicator: Marks, alpha: float, *, convexify: bool) -> Convexity:
    """Decide whether the published problem is convex, and shift it on request.

    The shift is 0 where the published problem is convex, else -lambda_min(R), the smallest one for
    which the correlation term alone is never negative. A still smaller one, by
    lambda_min(X^T X) / alpha, would make the problem convex but not bounded: it leaves a direction
    without curvature, along which the linear term X^T Y may exceed beta ||W||_1.
    """
    R = label_dissimilarity(indicator)
    eigenvalues = aside(np.linalg.eigvalsh, R)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    if alpha == 0.0 or not R.any():
        return Convexity(None, 0.0, True, None, smallest, 0.0)
    anchor = _anchor(X, indicator, -alpha * smallest)
    convex = anchor is not None
    shift = 0.0 if convex or not convexify else -smallest
    coupling = np.ascontiguousarray(alpha * (R + shift * np.eye(R.shape[0])))
    return Convexity(
        coupling, shift, convex or convexify, anchor, smallest, alpha * (largest + shift)
    )


def _anchor(X: Features, indicator: NDArray[Any], deficit: float) -> float | None:
    """Return <C, (X^T X - deficit I)^-1 C>, None when that matrix is not positive definite."""
    n, d = X.shape
    squared_norms = _column_squared_norms(X)
    if d > n or squared_norms.min() <= deficit:
        return None
    gram = as_dense(safe_sparse_dot(X.T, X))
    gram[np.diag_indices(len(gram))] -= deficit
    try:
        cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    C = np.ascontiguousarray(as_dense(safe_sparse_dot(indicator.T.astype(np.float64), X)))
    divide(C, gram)
    return float(np.vdot(C, C))


def smallest_feature_eigenvalue(X: Features) -> float:
    """Return lambda_min(X^T X); 0 when d > n."""
    if X.shape[1] > X.shape[0]:
        return 0.0
    gram = as_dense(safe_sparse_dot(X.T, X))
    return max(0.0, float(aside(np.linalg.eigvalsh, gram)[0]))


def lipschitz(X: Features, convexity: Convexity) -> float:
    """Return a Lipschitz constant of the gradient, lambda_max(X^T X) + lambda_max(coupling)."""
    return largest_feature_eigenvalue(X) + convexity.largest_eigenvalue


def published_lipschitz(X: Features, coupling: Matrix | None) -> float:
    """Return L_f of eq. (15), sqrt(2 sigma_max(X^T X)^2 + 2 sigma_max(alpha R)^2)."""
    features = largest_feature_eigenvalue(X)
    labels = 0.0 if coupling is None else float(np.linalg.norm(coupling, 2))
    return float(np.sqrt(2.0 * features**2 + 2.0 * labels**2))


def largest_feature_eigenvalue(X: Features) -> float:
    """Return lambda_max(X^T X)."""
    n, d = X.shape
    if min(n, d) <= 2:
        return float(np.linalg.norm(as_dense(X), 2)) ** 2
    if not _column_squared_norms(X).any():
        return 0.0
    square = LinearOperator((d, d), matvec=lambda v: X.T @ (X @ v), dtype=np.float64)
    # A start that cannot be orthogonal to the leading eigenvector by symmetry of the columns.
    start = np.random.default_rng(0).uniform(0.5, 1.5, d)
    return float(eigsh(square, k=1, v0=start, tol=0, return_eigenvectors=False)[0])


def ridge_start(X: Features, indicator: Marks, gamma: float) -> Matrix:
    """Return the transpose of the start of Algorithm 1, (X^T X + gamma I)^-1 X^T Y."""
    n, d = X.shape
    Y = indicator.astype(np.float64)
    # The smaller of the two equal systems, in features or in rows.
    if d <= n:
        system = as_dense(safe_sparse_dot(X.T, X))
        right = as_dense(safe_sparse_dot(X.T, Y))
    else:
        system = as_dense(safe_sparse_dot(X, X.T))
        right = Y
    system[np.diag_indices(min(n, d))] += gamma
    solution = aside(np.linalg.solve, system, right)
    W = solution if d <= n else as_dense(safe_sparse_dot(X.T, solution))
    return np.ascontiguousarray(W.T)


_Pairs = tuple[Matrix, Matrix]


@dataclass(frozen=True)
class Eigenbasis:
    """The basis in which the quadratic form is diagonal."""

    # Eigenvalues of X^T X and their eigenvectors, with r = min(n, d): the eigenvalues that are
    # left out are 0
    features: _Pairs
    coupling: _Pairs | None  # The same for the coupling; None without one


@with_one_blas_thread
def eigenbasis(X: Features, coupling: Matrix | None) -> Eigenbasis:
    """Compute the basis."""
    n, d = X.shape
    if d <= n:
        features = _eigenpairs(as_dense(safe_sparse_dot(X.T, X)))
    else:
        # The eigenvectors of X X^T, times X^T, would not be orthogonal if X is nearly
        # rank-deficient.
        _, singular, vectors = aside(np.linalg.svd, as_dense(X), full_matrices=False)
        features = singular**2, np.ascontiguousarray(vectors.T)
    return Eigenbasis(features, None if coupling is None else _eigenpairs(coupling))


def _eigenpairs(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return increasing eigenvalues of a symmetric matrix, and C-contiguous eigenvectors."""
    values, vectors = aside(np.linalg.eigh, matrix)
    return values, np.ascontiguousarray(vectors)


def is_affordable(X: Features, labels: int) -> bool:
    """Decide whether the basis is worth its cost: O(n d min(n, d)), once."""
    n, d = (int(size) for size in X.shape)
    rank = min(n, d)
    few = rank <= min(MOST_EIGENVALUES, _EIGENVALUES_PER_LABEL * labels)
    return few and rank * d <= MOST_EIGENVALUES**2


def choose_solver(X: Features, correlation: Matrix, coupling: Matrix | None, beta: float) -> str:
    """Name the loop that `solver="auto"` stands for; `correlation` is that of `Request`."""
    affordable = is_affordable(X, len(correlation))
    if coupling is not None:
        return "admm" if affordable else "apg"
    dense = beta <= _DENSE_ALONE * min(*X.shape, 1000) * np.abs(correlation).max()
    return "admm" if affordable and dense else "cd"


@dataclass(frozen=True)
class Request:
    """Settings of a solver besides the data."""

    # The transpose of X^T Y and the squared norms of the columns of Y: the problem depends only on
    # these and X^T X
    sums: tuple[Matrix, Matrix]
    beta: float  # Weight of the l1 norm, positive
    solver: str
    lipschitz: float  # A constant of the gradient for "apg" and "published", else unused
    tol: float  # Relative duality gap, and KKT residual relative to the largest entry of X^T Y
    max_iter: int  # Largest number of epochs or iterations
    start: Matrix | None  # (q, d): Coefficients to start from
    threads: int  # Number of threads
    callback: EpochCallback | None  # Called after each epoch
    basis: Eigenbasis | None = None  # Needed by "admm"
    deadline: float | None = None  # When the fit has to end, by `time.monotonic`


@dataclass(frozen=True, kw_only=True)
class Coefficients(Report):
    """Result of a solver: a report, and the model."""

    weights: Matrix  # (q, d)
    kkt_residual: float  # Largest violation of the optimality conditions


def solve_llsf(X: Features, convexity: Convexity, request: Request) -> Coefficients:
    """Call a solver."""
    solution = _rust.solve_label_features(
        rust_matrix(X),
        sums=request.sums,
        coupling=convexity.coupling,
        beta=request.beta,
        anchor=convexity.anchor,
        convex=convexity.convex,
        solver=request.solver,
        lipschitz=request.lipschitz,
        basis=None if request.basis is None else request.basis.features,
        coupling_basis=None if request.basis is None else request.basis.coupling,
        start=request.start,
        tolerance=request.tol,
        max_epochs=request.max_iter,
        threads=request.threads,
        callback=request.callback,
        seconds=seconds_until(request.deadline),
    )
    return Coefficients(**solution)


def weighted(
    X: Features, indicator: NDArray[np.uint8], sample_weight: Matrix | None
) -> tuple[Features, Matrix, tuple[Matrix, Matrix]]:
    """Return the problem in which each row counts once: X, Y, `Request.sums`."""
    Y: NDArray[Any] = indicator
    norms = indicator.sum(axis=0, dtype=np.float64)
    if sample_weight is not None:
        roots, norms = np.sqrt(sample_weight), sample_weight @ indicator
        Y = roots[:, None] * indicator
        if is_sparse(X):
            X = sparse.csr_array(sparse.diags_array(roots) @ X)
        else:
            X = roots[:, None] * X
    return X, Y, (correlation_of(X, Y), norms)


def correlation_of(X: Features, Y: Marks) -> Matrix:
    """Return the transpose of X^T Y."""
    return np.ascontiguousarray(as_dense(sparse.csr_array(Y.T, dtype=np.float64) @ X))


def _column_squared_norms(X: Any) -> Matrix:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", X, X), dtype=np.float64)


def as_dense(matrix: Features) -> Matrix:
    """Return a matrix as a dense one."""
    return matrix.toarray() if is_sparse(matrix) else np.asarray(matrix)
