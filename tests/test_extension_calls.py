"""Calls of the extension with arbitrary values: each answers, or raises what is documented."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from multimargin import _rust
from tests.support.cases import case

# An OverflowError is an integer that the argument's type cannot hold. A RuntimeError is a panic
# that the boundary caught: it is documented, and a fault all the same.
DOCUMENTED = (ValueError, TypeError, MemoryError, OverflowError)

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e-300, 5e-324, 1e150, 1e300, -1e300)
WILD_NUMBERS = (*NUMBERS, float("nan"), float("inf"), float("-inf"))
COUNTS = (0, 1, 2, 3, 7, 64, 1000, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -1, 10**30)
OBJECTS = (None, "", "linear", b"x", 1.5, [], {}, (), object(), True, np.float32(1.0))


class Drawer:
    """Draws arguments: mostly sensible ones, so that calls get beyond the first check."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = np.random.default_rng([seed, number])
        # How likely an argument is replaced by an arbitrary one.
        self.wildness = self.random.choice([0.0, 0.05, 0.3])
        self.n = int(self.random.choice([0, 1, 2, 3, 8, 40]))
        self.d = int(self.random.choice([0, 1, 2, 5, 17]))
        self.q = int(self.random.choice([0, 1, 2, 3, 5, 9]))
        self.scales = (0.0, 1.0, 1.0, 1.0, 1e-8, 1e8, 1e100, 1e-200)

    def pick(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def wild(self) -> bool:
        return bool(self.random.random() < self.wildness)

    def any_object(self) -> Any:
        return self.pick(OBJECTS)

    def number(self, *usual: float) -> Any:
        if not self.wild():
            return float(self.pick(usual))
        return self.any_object() if self.random.random() < 0.2 else self.pick(WILD_NUMBERS)

    def count(self, *usual: int) -> Any:
        if not self.wild():
            return int(self.pick(usual))
        return self.any_object() if self.random.random() < 0.2 else self.pick(COUNTS)

    def choice(self, *usual: Any) -> Any:
        return self.pick(usual) if not self.wild() else self.any_object()

    def flag(self) -> Any:
        return self.choice(True, False)

    def size(self, usual: int) -> int:
        return (
            int(self.random.choice([0, 1, usual + 1, max(usual - 1, 0)])) if self.wild() else usual
        )

    def values(self, shape: tuple[int, ...]) -> Any:
        scale = self.pick(self.scales)
        values = scale * self.random.normal(size=shape)
        if self.random.random() < 0.3:
            values[self.random.random(shape) < 0.5] = 0.0
        if values.size and self.wild():
            values.flat[int(self.random.integers(values.size))] = self.pick(WILD_NUMBERS)
        return values

    def distorted(self, array: Any) -> Any:
        """An array in another order, type or dimension, or no array."""
        if not self.wild():
            return array
        distortions: tuple[Callable[[], Any], ...] = (
            lambda: np.asfortranarray(array),
            lambda: array[::2],
            lambda: array[:, ::-1] if array.ndim == 2 else array[::-1],
            lambda: array.astype(np.float32),
            lambda: array.astype(object),
            lambda: array.ravel(),
            lambda: array[None],
            lambda: array.byteswap().view(array.dtype.newbyteorder()),
            lambda: np.broadcast_to(array[:1], array.shape) if len(array) else array,
            lambda: array.tolist(),
            self.any_object,
        )
        return self.pick(distortions)()

    def matrix(self, rows: int, columns: int) -> Any:
        return self.distorted(self.values((self.size(rows), self.size(columns))))

    def eigenpairs(self, rows: int, count: int) -> Any:
        """Arrays of the right shape, mostly; they need not belong to any matrix."""
        if self.wild():
            return None
        return np.abs(self.values((self.size(count),))), self.matrix(rows, count)

    def indicator(self) -> Any:
        shape = (self.size(self.n), self.size(self.q))
        Y = (self.random.random(shape) < self.pick((0.0, 0.2, 0.5, 1.0))).astype(np.uint8)
        if Y.size and self.wild():
            Y.flat[0] = 255
        return self.distorted(Y)

    def csr(self, rows: int, columns: int) -> Any:
        counts = self.random.integers(0, columns + 1, size=rows)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        indices = self.random.integers(0, max(columns, 1), size=int(indptr[-1])).astype(np.int32)
        data = self.values((int(indptr[-1]),))
        if self.random.random() < 0.5:
            for start, end in pairwise(indptr):
                indices[start:end] = np.sort(
                    self.random.choice(columns, size=end - start, replace=False)
                )
        for damaged in (indices, indptr):
            if damaged.size and self.wild():
                place = int(self.random.integers(damaged.size))
                damaged[place] = self.pick((-1, 0, columns, 2**31 - 1, -(2**31), data.size))
        if self.wild():
            data = data[: self.size(data.size)]
        parts = [self.distorted(part) for part in (data, indices, indptr)]
        width = self.count(columns)
        # A width that is plausible by itself is memory that the caller asked for.
        return (*parts, width if not isinstance(width, int) or width < 2**20 else 2**64 - 1)

    def features(self, rows: int, columns: int) -> Any:
        if self.random.random() < 0.4:
            return self.csr(self.size(rows), self.size(columns))
        return self.matrix(rows, columns)

    def kernel(self, *names: str) -> dict[str, Any]:
        return {
            "gamma": self.number(1.0, 0.1, 10.0),
            "degree": self.count(0, 1, 2, 3),
            "coef0": self.number(0.0, 1.0, -1.0),
        }

    def name_of_kernel(self, *more: str) -> Any:
        return self.choice("linear", "rbf", "poly", "sigmoid", *more)

    def kernel_or_features(self, name: Any) -> Any:
        if name != "precomputed":
            return self.features(self.n, self.d)
        X = self.values((self.n, self.d + 1))
        with np.errstate(all="ignore"):
            return self.distorted(np.ascontiguousarray(X @ X.T))

    def callback(self) -> Any:
        def stop(*_: Any) -> bool:
            return True

        def go_on(*_: Any) -> bool:
            return False

        def fail(*_: Any) -> bool:
            raise ValueError("from the callback")

        return self.choice(None, None, None, stop, go_on, fail, lambda *_: "text")

    def loop(self) -> dict[str, Any]:
        return {
            "tolerance": self.number(1e-3, 1e-6, 1.0),
            "callback": self.callback(),
            "threads": self.choice(1, 1, 2) if not self.wild() else self.pick((0, 1, 2, -1, "x")),
        }

    def epochs(self) -> Any:
        epochs = self.count(1, 2, 30)
        return 30 if isinstance(epochs, int) and epochs > 1000 and epochs < 2**64 else epochs


def kernel_matrix(draw: Drawer) -> Call:
    right = None if draw.flag() is True else draw.features(draw.n + 1, draw.d)
    threads = draw.loop()["threads"]
    named = {"name": draw.name_of_kernel(), "threads": threads, **draw.kernel()}
    return _rust.kernel_matrix, (draw.features(draw.n, draw.d), right), named


def kernel_product(draw: Drawer) -> Call:
    m = draw.n + 1
    arrays = (draw.features(draw.n, draw.d), draw.features(m, draw.d), draw.matrix(m, draw.q))
    threads = draw.loop()["threads"]
    named = {"name": draw.name_of_kernel(), "threads": threads, **draw.kernel()}
    return _rust.kernel_product, arrays, named


def sparse_product(draw: Drawer) -> Call:
    factor = draw.matrix(draw.d, draw.q)
    if isinstance(factor, np.ndarray) and not draw.wild():
        factor = factor.astype(np.float32)
    return _rust.sparse_product, (draw.features(draw.n, draw.d), factor, draw.loop()["threads"]), {}


def _loss(draw: Drawer) -> dict[str, Any]:
    return {
        "loss": draw.choice("hinge", "squared_hinge", "optimal_margin", "zero_label_hinge"),
        "theta": draw.number(0.0, 0.3, 0.9),
        "mu": draw.number(0.5, 1.0),
    }


def loss_prox(draw: Drawer) -> Call:
    centre = draw.distorted(draw.values((draw.q,)))
    return _rust.loss_prox, (centre, draw.count(1, 2), draw.number(1.0, 1e-3, 1e3)), _loss(draw)


def total_loss(draw: Drawer) -> Call:
    arrays = draw.indicator(), draw.matrix(draw.n, draw.q), draw.distorted(draw.values((draw.n,)))
    return _rust.total_loss, arrays, _loss(draw)


def solve_pairwise(draw: Drawer) -> Call:
    name = draw.name_of_kernel("precomputed", "linear")
    metric = None
    if draw.random.random() < 0.2:
        root = draw.values((draw.d, draw.d))
        with np.errstate(all="ignore"):
            metric = draw.distorted(np.ascontiguousarray(root @ root.T + np.eye(draw.d)))
    start = draw.matrix(draw.n, draw.q) if draw.random.random() < 0.3 else None
    start_bias = draw.distorted(draw.values((draw.size(draw.q),))) if start is not None else None
    named = {
        "c": draw.number(1.0, 1e-3, 1e3),
        **_loss(draw),
        "kernel_name": name,
        **draw.kernel(),
        "bias": draw.choice("free", "penalized", "none"),
        "solver": draw.choice("bcd", "dcd", "frank-wolfe", "multiplicative"),
        "start": start,
        "max_epochs": draw.epochs(),
        "seed": draw.count(0, 1),
        "shuffle": draw.flag(),
        "shrinking": draw.flag(),
        "acceleration": draw.flag(),
        "block_size": draw.count(0, 1, 3),
        "chains": draw.choice(0, 1, 2) if not draw.wild() else draw.pick((0, -1, 1000, 2**64 - 1)),
        "cache_bytes": draw.count(0, 1000, 10**6),
        **draw.loop(),
        "start_bias": start_bias,
        "metric": metric,
    }
    return _rust.solve_pairwise, (draw.indicator(), draw.kernel_or_features(name)), named


def solve_simplex(draw: Drawer) -> Call:
    name = draw.name_of_kernel("precomputed")
    loop = draw.loop()
    del loop["threads"]
    named = {
        "c": draw.number(1.0, 1e-3, 1e3),
        "kernel_name": name,
        **draw.kernel(),
        "absolute": draw.flag(),
        "max_epochs": draw.epochs(),
        "cache_bytes": draw.count(0, 1000, 10**6),
        **loop,
    }
    return _rust.solve_simplex, (draw.indicator(), draw.kernel_or_features(name)), named


def solve_mlrl(draw: Drawer) -> Call:
    name = draw.name_of_kernel("precomputed")
    covariance = None
    if draw.random.random() < 0.3:
        covariance = draw.distorted(np.eye(draw.size(draw.q)) / max(draw.q, 1))
    named = {
        "lam": draw.number(1.0, 1e-2, 1e2),
        "kernel_name": name,
        **draw.kernel(),
        "solver": draw.choice("splitting", "alternating"),
        "covariance": covariance,
        "ridge": draw.number(0.0, 1e-6),
        "max_rounds": draw.epochs(),
        "cache_bytes": draw.count(0, 1000, 10**6),
        **draw.loop(),
    }
    return _rust.solve_mlrl, (draw.indicator(), draw.kernel_or_features(name)), named


def solve_label_features(draw: Drawer) -> Call:
    coupling = None
    if draw.random.random() < 0.6:
        root = draw.values((draw.q, draw.q + 1))
        with np.errstate(all="ignore"):
            coupling = draw.distorted(np.ascontiguousarray(root @ root.T))
    start = draw.matrix(draw.q, draw.d) if draw.random.random() < 0.3 else None
    named = {
        "sums": (draw.matrix(draw.q, draw.d), draw.distorted(draw.values((draw.size(draw.q),)))),
        "coupling": coupling,
        "beta": draw.number(0.1, 0.0, 10.0),
        "anchor": draw.choice(None, 1.0, 0.0),
        "convex": draw.flag(),
        "solver": draw.choice("cd", "admm", "apg", "published"),
        "lipschitz": draw.number(1.0, 0.0, 100.0),
        "basis": draw.eigenpairs(draw.d, min(draw.n, draw.d)),
        "coupling_basis": None if coupling is None else draw.eigenpairs(draw.q, draw.q),
        "start": start,
        "max_epochs": draw.epochs(),
        **draw.loop(),
    }
    return _rust.solve_label_features, (draw.indicator(), draw.features(draw.n, draw.d)), named


ENTRIES = (
    kernel_matrix,
    kernel_product,
    sparse_product,
    loss_prox,
    total_loss,
    solve_pairwise,
    solve_pairwise,
    solve_simplex,
    solve_mlrl,
    solve_label_features,
)


def test_no_call_raises_anything_undocumented_or_ends_the_process(one_gigabyte: None) -> None:
    # The first is a kernel that overflows in the simplex loop.
    for seed, number in [(41, 236), *((1, number) for number in range(1000))]:
        with case(seed, number), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw = Drawer(seed, number)
            function, arrays, named = draw.pick(ENTRIES)(draw)
            try:
                function(*arrays, **named)
            except DOCUMENTED as error:
                if not str(error):
                    raise AssertionError("an exception without a message") from error
