"""Products of matrices with the same bits for any number of BLAS threads."""

from functools import cache
from typing import Any

from sklearn.utils.extmath import safe_sparse_dot
from threadpoolctl import ThreadpoolController

from multimargin.estimators.shared.problem import Matrix


def product(left: Any, right: Any) -> Matrix:
    """Return the dense product of two matrices, on one thread.

    Parameters
    ----------
    left : ndarray or CSR matrix of shape (n, m)
        The left factor.
    right : ndarray or CSR matrix of shape (m, k)
        The right factor.

    Returns
    -------
    ndarray of shape (n, k)
        With more threads, a BLAS adds up in another order.
    """
    with _thread_pools().limit(limits=1, user_api="blas"):
        result: Matrix = safe_sparse_dot(left, right, dense_output=True)
    return result


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the libraries that NumPy has loaded; to look for them takes a millisecond."""
    return ThreadpoolController()
