"""The hypergraph of the label sets: the weights of its hyperedges, and its Laplacian."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from multimargin.kernels import Kernel, less_offset, offset_of
from multimargin.typing import Features, Matrix, is_sparse

# Rows that are processed at once.
_CHUNK = 256


@dataclass(frozen=True)
class Laplacian:
    """The Laplacian D_c - Y diag(w) Y^T of the label hypergraph, eq. (5), by its factors."""

    # (n, q): How often row i lies in hyperedge k: once if label k is relevant, times the row's
    # weight
    Y: Matrix
    weights: Matrix  # (q,): Hyperedge weights w

    @property
    def degrees(self) -> Matrix:
        """The diagonal of D_c, self-loops included: they cancel in the Laplacian."""
        degrees: Matrix = self.Y @ (self.weights * self.Y.sum(axis=0))
        return degrees

    def product(self, F: Matrix) -> Matrix:
        """Return Lap F."""
        product: Matrix = self.degrees[:, None] * F
        product -= self.Y @ (self.weights[:, None] * (self.Y.T @ F))
        return product

    def roughness(self, F: Matrix) -> float:
        """Return trace(F^T Lap F), without cancellation if F hardly varies in a hyperedge.

        It is the sum over hyperedges of w delta sum ||f_i - mean f||^2, with the delta rows of the
        hyperedge and their mean: the squared differences of all pairs of its rows.
        """
        total = 0.0
        for members, weight in zip(self.Y.T, self.weights, strict=True):
            rows = members > 0.0
            if np.count_nonzero(rows) > 1:
                counts = members[rows]
                inside = F[rows]
                inside -= inside[0].copy()
                inside -= np.average(inside, axis=0, weights=counts)
                total += float(weight) * counts.sum() * float(counts @ (inside**2).sum(axis=1))
        return total

    def gram(self, X: Features) -> Matrix:
        """Return X^T Lap X, d x d, of X that ends with the feature 1, in the lower triangle.

        That feature, and whatever else is constant where hyperedges meet, lies in the null space of
        the Laplacian: it is taken out first, since the difference of the two terms of Lap keeps no
        digit of it.
        """
        roots = np.sqrt(self.degrees)[:, None]
        if is_sparse(X):
            gram = Kernel("linear").matrix(sparse.csr_array(X.multiply(roots).T)).T
            sums = X.T @ self.Y
        else:
            gram, sums = self._gram_of_chunks(roots, X)
        sums = np.asfortranarray(sums * np.sqrt(self.weights))
        gram = np.asarray(linalg.blas.dsyrk(-1.0, sums, beta=1.0, c=gram, overwrite_c=1))
        gram[:, -1] = 0.0
        return gram.T

    def _gram_of_chunks(self, roots: Matrix, X: Matrix) -> tuple[Matrix, Matrix]:
        """Return both terms of X^T Lap X, centred by components, in O(n d^2) operations."""
        d = X.shape[1]
        gram, sums = np.zeros((d, d), order="F"), np.zeros((d, self.Y.shape[1]))
        component, means = self._means(X)
        for rows in gen_batches(X.shape[0], _CHUNK):
            centred = X[rows] - means[component[rows]]
            sums += centred.T @ self.Y[rows]
            centred *= roots[rows]
            linalg.blas.dsyrk(1.0, centred.T, beta=1.0, c=gram, overwrite_c=1)
        return gram, sums

    def _means(self, X: Matrix) -> tuple[NDArray[np.intp], Matrix]:
        """Return the connected component of each row, and the mean row of each component."""
        touching = sparse.csr_array(self.Y.T @ self.Y)
        count, of_label = connected_components(touching, directed=False)
        component = of_label[self.Y.argmax(axis=1)]
        rows = np.flatnonzero(self.Y.any(axis=1))
        ones = np.ones(rows.size)
        members = sparse.csr_array((ones, (component[rows], rows)), shape=(count, X.shape[0]))
        sizes = np.maximum(members.sum(axis=1), 1.0)
        return component, np.asarray(members @ X) / sizes[:, None]


def weights_by_features(
    X: Features, Y: Matrix, nu: float | str, sample_weight: Matrix | None
) -> Matrix:
    """Return the hyperedge weights for the distances of the rows of X."""
    X = less_offset(X, offset_of(X))

    def norm_of_sum(groups: Matrix) -> Matrix:
        sums: Matrix = (np.asarray(safe_sparse_dot(X.T, groups)) ** 2).sum(axis=0)
        return sums

    return _weights(row_norms(X, squared=True), norm_of_sum, Y, nu, sample_weight)


def weights_by_kernel(
    K: Matrix, Y: Matrix, nu: float | str, sample_weight: Matrix | None
) -> Matrix:
    """Return the hyperedge weights for the distances that a kernel matrix implies."""

    def norm_of_sum(groups: Matrix) -> Matrix:
        sums: Matrix = np.einsum("ik,ik->k", groups, K @ groups)
        return sums

    return _weights(np.diagonal(K), norm_of_sum, Y, nu, sample_weight)


def _weights(
    squares: Matrix,
    norm_of_sum: Callable[[Matrix], Matrix],
    Y: Matrix,
    nu: float | str,
    sample_weight: Matrix | None,
) -> Matrix:
    """Return exp(-nu dbar), eq. (29) and (30), where dbar averages over ordered pairs of two rows.

    The sum of ||x_u - x_v||^2 over all u and v of a group is 2 delta sum ||x||^2 - 2 ||sum x||^2.
    """

    def mean_distance(groups: Matrix) -> Matrix:
        delta = groups.sum(axis=0)
        total = 2.0 * delta * (squares @ groups) - 2.0 * norm_of_sum(groups)
        several = delta > 1.0
        pairs = np.where(several, delta * (delta - 1.0), 1.0)
        return np.where(several, np.maximum(total, 0.0) / pairs, 0.0)

    if isinstance(nu, str):
        row_weights = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        spread = float(mean_distance(row_weights[:, None])[0])
        nu = 1.0 / spread if spread > 0.0 else 1.0
    # A label without instances has no hyperedge.
    return np.where(Y.any(axis=0), np.exp(-float(nu) * mean_distance(Y)), 0.0)
