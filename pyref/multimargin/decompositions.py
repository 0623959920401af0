"""Decompositions of large matrices, and calls of libraries, that Ctrl-C can interrupt.

LAPACK does not return before it has finished, and SciPy keeps Python's lock meanwhile: here it is
called for a panel at a time. Functions that release the lock run in a thread of their own.
"""

import os
from collections.abc import Callable
from contextvars import copy_context
from threading import RLock, Thread
from typing import Any, TypeVar

import numpy as np
from joblib import parallel_config
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from scipy import linalg
from sklearn import config_context, get_config

from multimargin.typing import Matrix, Vector

_Result = TypeVar("_Result")

# Columns of a Cholesky factor that are computed at once.
_PANEL = 128

# Operations of one call of LAPACK or BLAS: about a tenth of a second.
_OPERATIONS = 4e9

# Rows of a square matrix that LAPACK factors within that time.
_AT_ONCE = 2000

# Rows and columns of a matrix for which no thread is worth it.
_SMALL = 200

# Seconds between two checks of a thread, the longest that Ctrl-C has to wait.
_LOOK = 0.05

# LIBLINEAR's dual loops draw random numbers from one generator for all threads.
_DUAL_LOOP = RLock()


def aside(work: Callable[..., _Result], matrix: Any, *arguments: Any, **options: Any) -> _Result:
    """Return the result of a function of a matrix that releases Python's lock, called in a thread.

    NumPy's linear algebra releases it, and so do scikit-learn's LIBLINEAR, LIBSVM and trees. The
    thread has the settings of scikit-learn and joblib that the caller has. After Ctrl-C the call
    goes on unheeded until it is done.
    """
    if max(matrix.shape) <= _SMALL:
        return work(matrix, *arguments, **options)
    results: list[_Result] = []
    errors: list[BaseException] = []
    settings, (backend, n_jobs) = get_config(), get_active_backend()
    parallel: dict[str, Any] = {} if n_jobs is None else {"n_jobs": n_jobs}
    # Where none is chosen, joblib makes a new one each time.
    if get_active_backend()[0] is backend:
        parallel["backend"] = backend

    def run() -> None:
        try:
            with config_context(**settings), parallel_config(**parallel):
                results.append(work(matrix, *arguments, **options))
        except BaseException as error:  # It is raised by the waiting thread.
            errors.append(error)

    thread = Thread(target=copy_context().run, args=(run,), name="multimargin", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # The system refuses threads, for lack of memory, say.
        return work(matrix, *arguments, **options)
    while thread.is_alive():
        thread.join(_LOOK)
    if errors:
        raise errors[0]
    return results[0]


def one_at_a_time(fit: Callable[..., _Result]) -> Callable[..., _Result]:
    """Make a fit of LIBLINEAR's dual loop wait until no other thread is in one.

    One that Ctrl-C has abandoned is waited for, too.
    """

    def waiting(*arguments: Any, **options: Any) -> _Result:
        with _DUAL_LOOP:
            return fit(*arguments, **options)

    return waiting


def _renew_lock() -> None:
    """Release the lock that a thread held that did not come along into a forked process."""
    global _DUAL_LOOP
    _DUAL_LOOP = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def cholesky(A: Matrix) -> None:
    """Replace the lower triangle of a positive definite matrix, row-major, by its factor L."""
    n = len(A)
    for start in range(0, n, _PANEL):
        end = min(start + _PANEL, n)
        corner = linalg.cholesky(A[start:end, start:end], lower=True, check_finite=False)
        A[start:end, start:end] = corner
        panel = A[end:, start:end]
        panel[:] = linalg.solve_triangular(corner, panel.T, lower=True, check_finite=False).T
        _subtract_square(A, panel, end)


def _subtract_square(A: Matrix, panel: Matrix, first: int) -> None:
    """Subtract P P^T from the lower triangle of the rows and columns of A from the first on."""
    n = len(A)
    for start in range(first, n, _PANEL):
        end = min(start + _PANEL, n)
        A[start:end, first:end] -= panel[start - first : end - first] @ panel[: end - first].T


def divide(X: Matrix, L: Matrix, *, transposed: bool = False) -> None:
    """Replace X, row-major, by X L^-T, or X L^-1 where `transposed`, for a lower triangular L."""
    together = max(1, int(_OPERATIONS / max(1, len(L)) ** 2))
    for start in range(0, len(X), together):
        linalg.blas.dtrsm(
            1.0, L.T, X[start : start + together].T, trans_a=not transposed, overwrite_b=True
        )


def diagonal_of_inverse(L: Matrix) -> Vector:
    """Return the diagonal of the inverse of A = L L^T."""
    n = len(L)
    found = np.empty(n)
    for start in range(0, n, _PANEL):
        # Columns of L^-1, which are 0 above
        columns = np.eye(min(_PANEL, n - start), n - start)
        divide(columns, np.ascontiguousarray(L[start:, start:]))
        found[start : start + _PANEL] = (columns**2).sum(axis=1)
    return found


def takes_long(A: Matrix) -> bool:
    """Return True if LAPACK decomposes a tall matrix in no less than a tenth of a second."""
    n, d = A.shape
    return bool(n > 4 * d and n * d**2 > _OPERATIONS)


def triangle(A: Matrix, b: Vector) -> Matrix:
    """Return R of the QR decomposition of a tall matrix and a column."""
    n, d = A.shape
    R = np.empty((0, d + 1))
    for start in range(0, n, d):
        rows = slice(start, start + d)
        more = np.column_stack([A[rows], b[rows]])
        R = np.asarray(np.linalg.qr(np.vstack([R, more]), mode="r"))
    return R


def pivoted_cholesky(
    A: Matrix, goes_on: Callable[[int], bool] = lambda rank: True
) -> tuple[Matrix, NDArray[np.intp], Matrix | None]:
    """Return L of shape (n, r), the order of the rows, and E of A = L L^T + E, None if rounding.

    The first r of that order are the pivots, whose rows of L are lower triangular. The rows of E,
    in its upper triangle, are the others in that order. A, positive semidefinite and row-major, is
    used up. It ends at the first multiple of a panel's columns for which `goes_on` is false.
    """
    n = len(A)
    if n <= _AT_ONCE:
        R, order, rank, _ = linalg.lapack.dpstrf(A.T, overwrite_a=True)
        order, whole = order.astype(np.intp) - 1, True
    else:
        R, (order, rank, whole) = A, _factorised(A, goes_on)
    L = np.empty((n, rank))
    L[order] = np.triu(R[:rank]).T
    return L, order, None if whole else A[rank:, rank:]


def _factorised(A: Matrix, goes_on: Callable[[int], bool]) -> tuple[NDArray[np.intp], int, bool]:
    """Replace the upper triangle of A by R of R^T R = A[order][:, order]; return order and rank.

    It is the algorithm of LAPACK's pstrf, and returns whether it has come to its end.
    """
    n = len(A)
    order, rest = np.arange(n), np.diagonal(A).copy()
    least = n * np.finfo(float).eps * rest.max()
    for start in range(0, n, _PANEL):
        if start > 0 and not goes_on(start):
            return order, start, False
        end = min(start + _PANEL, n)
        for k in range(start, end):
            pivot = k + int(rest[k:].argmax())
            if not rest[pivot] > least:
                return order, k, True
            if pivot > k:
                _exchange(A, k, pivot)
                for numbers in (order, rest):
                    numbers[[k, pivot]] = numbers[[pivot, k]]
            row = A[k, k:]
            row -= A[start:k, k] @ A[start:k, k:]
            row /= np.sqrt(rest[k])
            rest[k:] -= row**2
        panel = A[start:end]
        for first in range(end, n, _PANEL):
            rows = slice(first, first + _PANEL)
            A[rows, first:] -= panel[:, rows].T @ panel[:, first:]
    return order, n, True


def _exchange(A: Matrix, k: int, pivot: int) -> None:
    """Exchange two rows and columns of a symmetric matrix whose upper triangle is held."""
    both, between = [k, pivot], slice(k + 1, pivot)
    A[:k, both] = A[:k, both[::-1]]
    A[both, both] = A[both[::-1], both[::-1]]
    A[both, pivot + 1 :] = A[both[::-1], pivot + 1 :]
    A[k, between], A[between, pivot] = A[between, pivot].copy(), A[k, between].copy()
