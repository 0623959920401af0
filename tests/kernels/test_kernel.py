"""Kernel matrices and products against scikit-learn."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from multimargin import MLRL, SSMLRL, RankHLapSVM, RankSVM, RankSVMz, _rust
from multimargin.kernels import Kernel, is_indefinite, make_kernel, mean_distance, rust_matrix
from multimargin.kernels import kernel as kernels
from tests.support.cases import case
from tests.support.subsets import first_fast

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.3),
    Kernel("rbf", gamma=1e-9),
    Kernel("rbf", gamma=1e9),
    Kernel("laplacian", gamma=0.3),
    Kernel("laplacian", gamma=1e-9),
    Kernel("laplacian", gamma=1e9),
    Kernel("poly", gamma=0.3, coef0=0.7, degree=3),
    Kernel("poly", gamma=0.3, coef0=-0.2, degree=2),
    Kernel("poly", gamma=2.0, coef0=1.0, degree=1),
    Kernel("poly", gamma=0.3, coef0=0.7, degree=0),
    Kernel("poly", gamma=0.1, coef0=0.3, degree=7),
    Kernel("sigmoid", gamma=0.3, coef0=0.4),
    Kernel("sigmoid", gamma=1e-7),
    Kernel("sigmoid", gamma=100.0),
]
# Below, at and above the sizes that are computed together: 64 rows, 256 columns.
SHAPES = [(1, 1, 1), (5, 3, 2), (64, 256, 7), (65, 257, 3), (130, 600, 20), (300, 5, 1)]


def features(n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[np.abs(X) < 0.6] = 0.0
    return X


def expected_matrix(kernel, X, Y=None):
    if kernel.name == "rbf":
        # Scikit-learn's ||x||^2 + ||y||^2 - 2 x.y cancels where gamma is large.
        dense = [rows.toarray() if sparse.issparse(rows) else rows for rows in (X, Y)]
        distances = cdist(dense[0], dense[0] if Y is None else dense[1], "sqeuclidean")
        return np.exp(-kernel.gamma * distances)
    metrics = {"gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
    return pairwise_kernels(X, Y, metric=kernel.name, filter_params=True, **metrics)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_matrix_is_that_of_scikit_learn(kernel):
    for n, m, d in SHAPES:
        with case(n, m, d):
            X, Y = features(n, d, 0), features(m, d, 1)
            for other in (None, Y):
                expected = expected_matrix(kernel, X, other)
                rows = None if other is None else sparse.csr_array(other)
                for found in (kernel.matrix(X, other), kernel.matrix(sparse.csr_array(X), rows)):
                    assert found.shape == expected.shape
                    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
            own = kernel.matrix(X)
            np.testing.assert_array_equal(own, own.T)
            if kernel.of_distances:
                np.testing.assert_array_equal(np.diagonal(own), 1.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_product_is_the_matrix_times_the_factor(kernel):
    for (n, m, d), q in product(SHAPES, (1, 5)):
        X, Y = features(n, d, 3), features(m, d, 4)
        factor = np.random.default_rng(5).normal(size=(m, q))
        K = expected_matrix(kernel, X, Y)
        scale = np.abs(K) @ np.abs(factor)
        for order in "CF":
            right = np.asarray(factor, order=order)
            dense = kernel.product(X, Y, right)
            rows = kernel.product(sparse.csr_array(X), sparse.csr_array(Y), right)
            for found in (dense, rows):
                with case(n, m, d, q, order):
                    assert (np.abs(found - K @ factor) <= 1e-11 * scale + 1e-13).all()


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[1], KERNELS[4], KERNELS[9]], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_number_of_threads_does_not_change_a_bit(form, kernel):
    X, Y = features(700, 15, 6), features(530, 15, 7)
    factor = np.random.default_rng(8).normal(size=(530, 3))
    one = kernel.matrix(form(X)), kernel.matrix(form(X), form(Y))
    product = kernel.product(form(X), form(Y), factor)
    for threads in (2, 3, 4):
        np.testing.assert_array_equal(kernel.matrix(form(X), threads=threads), one[0])
        np.testing.assert_array_equal(kernel.matrix(form(X), form(Y), threads=threads), one[1])
        found = kernel.product(form(X), form(Y), factor, threads=threads)
        np.testing.assert_array_equal(found, product)


@pytest.mark.parametrize(
    ("kernel", "density", "n"),
    first_fast([(KERNELS[1], 0.02, 2200), (KERNELS[0], 0.02, 2200), (KERNELS[0], 0.2, 4300)], 1),
)
def test_many_sparse_rows(kernel, density, n):
    # More rows than are computed together; a linear kernel of few nonzeros is computed whole, and
    # of others one half.
    rng = np.random.default_rng(14)
    X = sparse.random_array((n, 40), density=density, format="csr", random_state=rng)
    Y = sparse.random_array((70, 40), density=density, format="csr", random_state=rng)
    own, other, turned = kernel.matrix(X), kernel.matrix(Y, X), kernel.matrix(X, Y)
    np.testing.assert_array_equal(own, own.T)
    np.testing.assert_allclose(own, expected_matrix(kernel, X), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(other, expected_matrix(kernel, Y, X), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(turned, other.T, rtol=1e-11, atol=1e-13)
    factor = rng.normal(size=(n, 2))
    np.testing.assert_allclose(kernel.product(Y, X, factor), other @ factor, atol=1e-10)
    np.testing.assert_array_equal(kernel.matrix(X, threads=2), own)
    np.testing.assert_array_equal(kernel.matrix(Y, X, threads=2), other)


def test_rows_without_nonzeros_and_features_that_no_row_has():
    X = sparse.csr_array((70, 10))
    for kernel in KERNELS:
        expected = expected_matrix(kernel, X.toarray())
        np.testing.assert_allclose(kernel.matrix(X), expected, rtol=1e-12)


def test_repeated_and_unsorted_entries_of_a_sparse_matrix_are_one_number():
    data, indices = np.array([1.0, 2.0, 0.5, 0.5, 3.0]), np.array([2, 0, 1, 1, 0], np.int32)
    X = sparse.csr_matrix((data, indices, np.array([0, 2, 5], np.int32)), (2, 3))
    dense = np.array([[2.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    for kernel in KERNELS:
        expected = expected_matrix(kernel, dense)
        np.testing.assert_allclose(kernel.matrix(X), expected, rtol=1e-12, atol=1e-14)
    found = make_kernel("rbf", X).matrix(X)
    np.testing.assert_allclose(found, make_kernel("rbf", dense).matrix(dense))
    np.testing.assert_array_equal(X.indices, [2, 0, 1, 1, 0])


def test_gamma_by_name_is_that_of_scikit_learn():
    X = features(40, 5, 11)
    for data in (X, sparse.csr_array(X)):
        assert make_kernel("rbf", data, gamma="scale").gamma == pytest.approx(1 / (5 * X.var()))
        assert make_kernel("rbf", data, gamma="auto").gamma == 0.2
        assert make_kernel("rbf", data, gamma=3).gamma == 3.0
        absolute = make_kernel("laplacian", data, gamma="scale").gamma
        assert absolute == pytest.approx(1 / (5 * X.std()))
        assert make_kernel("laplacian", data, gamma="auto").gamma == 0.2
    for name in ("rbf", "laplacian"):
        assert make_kernel(name, np.ones((4, 2)), gamma="scale").gamma == 1.0
    found = make_kernel("poly", X, gamma="auto", degree=2, coef0=1.0).matrix(X)
    np.testing.assert_allclose(found, (0.2 * X @ X.T + 1) ** 2, rtol=1e-12)


@pytest.mark.parametrize("value", [1.0, 0.1, 0.3, -7.7e-5, 1e5 + 0.1])
def test_features_that_are_all_alike_have_no_variance_of_rounding(value):
    X = np.full((150, 3), value)
    # A row without weight has no part in it.
    X[0, 0], weights = 9.0, np.random.default_rng(0).random(150) * 1e3
    weights[0] = 0.0
    for rows, own in ((X[1:], None), (X, weights)):
        for data in (rows, sparse.csr_array(rows)):
            assert make_kernel("poly", data, gamma="scale", sample_weight=own).gamma == 1.0


def test_binding_refuses_what_does_not_fit():
    X = features(5, 3, 15)
    common = {"name": "rbf", "gamma": 1.0, "degree": 3, "coef0": 0.0, "threads": 1}
    with pytest.raises(ValueError, match="expected"):
        _rust.kernel_matrix(X, rust_matrix(sparse.csr_array(X)), **common)
    with pytest.raises(ValueError, match="X is not C-contiguous"):
        _rust.kernel_matrix(np.asfortranarray(X), None, **common)
    with pytest.raises(ValueError, match=r"factor has shape \(4, 2\), expected 5 rows"):
        _rust.kernel_product(X, X, np.ones((4, 2)), **common)
    with pytest.raises(ValueError, match="factor is not C-contiguous"):
        _rust.kernel_product(X, X, np.asfortranarray(np.ones((5, 2))), **common)
    single = np.ones((3, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="features are dense or not of 3 columns"):
        _rust.sparse_product(X, single, 1)
    with pytest.raises(ValueError, match="factor is not C-contiguous"):
        _rust.sparse_product(rust_matrix(sparse.csr_array(X)), np.asfortranarray(single), 1)
    with pytest.raises(ValueError, match="kernel is \"cubic\", expected 'linear'"):
        _rust.kernel_matrix(X, None, **(common | {"name": "cubic"}))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700])
def test_definiteness_is_that_of_the_smallest_eigenvalue(n):
    X = np.random.default_rng(n).normal(size=(n, n // 2 + 1))
    K = X @ X.T
    largest = np.diagonal(K).max()
    for shift in (0.0, 0.5e-8, 2e-8, 1e-3):
        shifted = K - shift * largest * np.eye(n)
        before = shifted.copy()
        smallest = np.linalg.eigvalsh(shifted)[0]
        assert is_indefinite(shifted) == (smallest < -1e-8 * np.abs(np.diagonal(shifted)).max())
        np.testing.assert_array_equal(shifted, before)
    assert not is_indefinite(np.zeros((n, n)))
    assert is_indefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e8, 1e12])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rbf_of_rows_that_are_close_for_their_norms(form, scale):
    X = scale * features(300, 9, seed=4)
    X[7], X[290] = X[1], X[1]
    X[8] = X[1] + np.linspace(0.0, 0.5, 9)
    differences = X[:, None, :] - X[None, :, :]
    expected = np.exp(-0.3 * np.sum(differences**2, axis=2))
    rows = form(X)
    kernel = Kernel("rbf", gamma=0.3)
    K = kernel.matrix(rows)
    np.testing.assert_allclose(K, expected, rtol=0, atol=1e-9)
    assert K[1, 7] == K[290, 1] == 1.0 or scale == 1e3
    # Whichever rows are computed together: all, some, in a product.
    np.testing.assert_allclose(kernel.matrix(rows[5:9], rows), K[5:9], rtol=0, atol=1e-9)
    np.testing.assert_allclose(kernel.product(rows, rows, np.eye(300)), K, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 255, 256, 257, 600])
def test_mean_distance_is_that_of_all_pairs_of_rows(n):
    X = features(n, 7, n)
    for offset in (0.0, 1e5):
        moved = X + offset
        expected = pdist(moved).mean()
        for form in (np.array, sparse.csr_array):
            assert mean_distance(form(moved)) == pytest.approx(expected, rel=1e-7)


def test_mean_distance_of_one_row_and_of_equal_rows():
    for X in (np.ones((1, 3)), np.ones((5, 3)), sparse.csr_array((5, 3))):
        assert mean_distance(X) == 0.0
        for name in ("rbf", "laplacian"):
            assert make_kernel(name, X, gamma="mean_distance").gamma == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_mean_of_manhattan_distances(form, monkeypatch):
    X = features(30, 7, 2) + np.arange(7) ** 3
    weights = np.random.default_rng(0).integers(0, 4, 30).astype(float)
    copies = np.repeat(X, weights.astype(int), axis=0)
    for entries in (1, 100, 2**20):
        monkeypatch.setattr(kernels, "_ENTRIES", entries)
        for rows, own, expected in ((X, None, X), (X, weights, copies), (copies, None, copies)):
            found = make_kernel("laplacian", form(rows), gamma="mean_distance", sample_weight=own)
            assert 1.0 / found.gamma == pytest.approx(pdist(expected, "cityblock").mean())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_laplacian_of_rows_far_from_zero_and_of_equal_rows(form):
    # Each difference is exact where rows are close: nothing cancels.
    X = 1e12 + np.arange(300)[:, None] * [0.5, 0.0, 2.0]
    X[7] = X[290]
    K = Kernel("laplacian", gamma=0.01).matrix(form(X))
    np.testing.assert_allclose(K, np.exp(-0.01 * cdist(X, X, "cityblock")), rtol=1e-12)
    assert K[7, 290] == K[290, 7] == 1.0
    beyond = Kernel("laplacian").matrix(form(np.array([[1e150], [-1e150], [1e150]])))
    np.testing.assert_array_equal(beyond, [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])


def test_gamma_by_the_mean_distance():
    X = features(40, 3, 5)
    gamma = 1.0 / (2.0 * pdist(X).mean() ** 2)
    expected = rbf_kernel(X, gamma=gamma)
    found = make_kernel("rbf", X, gamma="mean_distance").matrix(X)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert make_kernel("linear", X, gamma="mean_distance").gamma == 1.0
    Y = (X[:, :2] > 0).astype(int)
    for estimator in (RankSVM(), RankSVMz(), RankHLapSVM(kernel="rbf"), MLRL(), SSMLRL()):
        if isinstance(estimator, SSMLRL):
            # Unlabelled rows count.
            Y[30:] = -1
        model = estimator.set_params(gamma="mean_distance").fit(X, Y)
        assert model._kernel.gamma == pytest.approx(gamma, rel=1e-12)
