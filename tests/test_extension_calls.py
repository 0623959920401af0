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
NUMBERS += (float("nan"), float("inf"), float("-inf"))
COUNTS = (0, 1, 2, 3, 7, 64, 1000, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -1, 10**30)
OBJECTS = (None, "", "linear", b"x", 1.5, [], {}, (), object(), True, np.float32(1.0))
# What an argument may be replaced by where any count is hours of work, or thousands of threads.
CHEAP = {
    "threads": (0, 1, 2, -1, "x"),
    "chains": (0, -1, 1000, 2**64 - 1),
    "steps": (0, 1, 3),
    "max_epochs": (0, 1, 3, -1, 2**64, 10**30, "x"),
}
LOSSES = ("hinge", "squared_hinge", "optimal_margin", "zero_label_hinge")


class Drawer:
    """Draws arguments that fit each other, and spoils some of them, so that calls get far."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = np.random.default_rng([seed, number])
        # How likely an argument is replaced by an arbitrary one.
        self.wildness = self.random.choice([0.0, 0.05, 0.3])
        self.n, self.d, self.q = (
            int(self.random.choice(sizes, p=[0.05, *[0.95 / (len(sizes) - 1)] * (len(sizes) - 1)]))
            for sizes in ([0, 1, 2, 3, 8, 40], [0, 1, 2, 5, 17], [0, 1, 2, 3, 5, 9])
        )

    def pick(self, *values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def values(self, *shape: int) -> Any:
        values = self.pick(0.0, 1.0, 1.0, 1.0, 1e-8, 1e8, 1e100, 1e-200) * self.random.normal(
            size=shape
        )
        if self.random.random() < 0.3:
            values[self.random.random(shape) < 0.5] = 0.0
        return values

    def gram(self, n: int, d: int) -> Any:
        X = self.values(n, d)
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(X @ X.T)

    def indicator(self) -> Any:
        relevant = self.random.random((self.n, self.q)) < self.pick(0.0, 0.2, 0.5, 0.5, 1.0)
        return relevant.astype(np.uint8)

    def features(self, rows: int, columns: int, sparse: float = 0.4) -> Any:
        if self.random.random() >= sparse:
            return self.values(rows, columns)
        counts = self.random.integers(0, columns + 1, size=rows)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        indices = self.random.integers(0, max(columns, 1), size=indptr[-1]).astype(np.int32)
        if self.random.random() < 0.5:
            for start, end in pairwise(indptr):
                drawn = self.random.choice(columns, size=end - start, replace=False)
                indices[start:end] = np.sort(drawn)
        return self.values(indptr[-1]), indices, indptr, columns

    def kernel(self, *more: str) -> dict[str, Any]:
        return {
            "kernel_name": self.pick("linear", "rbf", "laplacian", "poly", "sigmoid", *more),
            "gamma": self.pick(1.0, 0.1, 10.0),
            "degree": self.pick(0, 1, 2, 3),
            "coef0": self.pick(0.0, 1.0, -1.0),
        }

    def loss(self) -> dict[str, Any]:
        theta, mu = self.pick(0.0, 0.3, 0.9), self.pick(0.5, 1.0)
        return {"loss": self.pick(*LOSSES), "theta": theta, "mu": mu}

    def loop(self) -> dict[str, Any]:
        def fail(*_: Any) -> bool:
            raise ValueError("from the callback")

        calls = (lambda *_: True, lambda *_: False, lambda *_: "text", fail)
        return {
            "tolerance": self.pick(1e-3, 1e-6, 1.0),
            "callback": self.pick(None, None, None, None, *calls),
            "max_epochs": self.pick(1, 2, 30),
        }

    def spoiled(self, value: Any, cheap: tuple[Any, ...] | None = None) -> Any:
        """A value, or now and then one of another size, order, type or kind."""
        if isinstance(value, tuple):
            parts = tuple(self.spoiled(part) for part in value)
            # A width that is plausible by itself is memory that the caller asked for.
            plausible = isinstance(parts[-1], int) and 2**20 <= parts[-1] < 2**64
            return (*parts[:-1], 2**64 - 1) if plausible else parts
        if self.random.random() >= self.wildness:
            return value
        if cheap is not None:
            return self.pick(*cheap)
        if isinstance(value, np.ndarray):
            return self.pick(*self.distortions(value))()
        kinds = NUMBERS if isinstance(value, float) else COUNTS
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return self.pick(*(kinds if number and self.random.random() < 0.8 else OBJECTS))

    def distortions(self, array: Any) -> tuple[Callable[[], Any], ...]:
        def with_one(value: Any) -> Any:
            changed = array.copy()
            if array.size:
                changed.flat[int(self.random.integers(array.size))] = value
            return changed

        entries = {
            "f": lambda: with_one(self.pick(*NUMBERS)),
            "i": lambda: with_one(self.pick(-1, 0, array.size, 2**31 - 1, -(2**31))),
            "u": lambda: with_one(255),
        }
        return (
            *(3 * (entries[array.dtype.kind],)),
            lambda: np.concatenate([array, array[:1]]),
            lambda: array[: self.pick(0, 1, -1)],
            lambda: np.asfortranarray(array),
            lambda: array[::2],
            lambda: array[..., ::-1],
            lambda: array.astype(np.float32),
            lambda: array.astype(object),
            lambda: array.ravel(),
            lambda: array[None],
            lambda: array.byteswap().view(array.dtype.newbyteorder()),
            lambda: np.broadcast_to(array[:1], array.shape) if len(array) else array,
            lambda: array.tolist(),
            lambda: self.pick(*OBJECTS),
        )


def kernel_matrix(draw: Drawer) -> Call:
    right = draw.pick(None, draw.features(draw.n + 1, draw.d))
    named = draw.kernel() | {"threads": draw.pick(1, 2)}
    named["name"] = named.pop("kernel_name")
    return _rust.kernel_matrix, (draw.features(draw.n, draw.d), right), named


def kernel_product(draw: Drawer) -> Call:
    _, (X, _), named = kernel_matrix(draw)
    right = draw.features(draw.n + 1, draw.d, float(isinstance(X, tuple)))
    return _rust.kernel_product, (X, right, draw.values(draw.n + 1, draw.q)), named


def sparse_product(draw: Drawer) -> Call:
    factor = draw.values(draw.d, draw.q)
    factor = factor.astype(np.float32) if draw.random.random() < 0.9 else factor
    return _rust.sparse_product, (draw.features(draw.n, draw.d, 0.9), factor, draw.pick(1, 2)), {}


def loss_prox(draw: Drawer) -> Call:
    lam = draw.pick(1.0, 1e-3, 1e3)
    return _rust.loss_prox, (draw.indicator(), draw.values(draw.n, draw.q), lam), draw.loss()


def total_loss(draw: Drawer) -> Call:
    arrays = draw.indicator(), draw.values(draw.n, draw.q), np.abs(draw.values(draw.n))
    return _rust.total_loss, arrays, draw.loss()


def solve_label(draw: Drawer) -> Call:
    arrays = draw.gram(draw.n, draw.n), draw.pick(-1.0, 1.0) * np.sign(draw.values(draw.n))
    weights = np.abs(draw.values(draw.n))
    named = {"scale": draw.pick(1.0, 1e3), "tolerance": draw.pick(1e-3, 1e-9), "steps": 100}
    return _rust.solve_label, (*arrays, weights, draw.values(draw.n)), named


def solve_pairwise(draw: Drawer) -> Call:
    kernel = draw.kernel("precomputed", "linear")
    X = draw.gram if kernel["kernel_name"] == "precomputed" else draw.features
    started = draw.random.random() < 0.3
    metric = draw.gram(draw.d, draw.d) + np.eye(draw.d) if draw.random.random() < 0.2 else None
    named = {
        "c": draw.pick(1.0, 1e-3, 1e3),
        **draw.loss(),
        **kernel,
        "bias": draw.pick("free", "penalized", "none"),
        "solver": draw.pick("bcd", "bcd", "dcd", "frank-wolfe", "multiplicative"),
        "start": draw.values(draw.n, draw.q) if started else None,
        "start_bias": draw.values(draw.q) if started else None,
        "seed": draw.pick(0, 1),
        "shuffle": draw.pick(True, False),
        "without": draw.pick([], ["shrinking"], ["passes", "leaps"], ["oracle", "deflation"]),
        "block_size": draw.pick(0, 1, 3),
        "chains": draw.pick(0, 1, 2),
        "cache_bytes": draw.pick(0, 1000, 10**6),
        "threads": draw.pick(1, 2),
        **draw.loop(),
        "metric": metric,
    }
    return _rust.solve_pairwise, (draw.indicator(), X(draw.n, draw.d)), named


def solve_simplex(draw: Drawer) -> Call:
    kernel = draw.kernel("precomputed")
    X = draw.gram if kernel["kernel_name"] == "precomputed" else draw.features
    named = {"c": draw.pick(1.0, 1e-3, 1e3), "absolute": draw.pick(True, False), **kernel}
    named |= {"cache_bytes": draw.pick(0, 1000, 10**6), **draw.loop()}
    return _rust.solve_simplex, (draw.indicator(), X(draw.n, draw.d)), named


def solve_mlrl(draw: Drawer) -> Call:
    kernel = draw.kernel("precomputed")
    X = draw.gram if kernel["kernel_name"] == "precomputed" else draw.features
    named = {
        "lam": draw.pick(1.0, 1e-2, 1e2),
        **kernel,
        "solver": draw.pick("splitting", "alternating"),
        "covariance": draw.pick(None, None, np.eye(draw.q) / max(draw.q, 1)),
        "ridge": draw.pick(0.0, 1e-6),
        "cache_bytes": draw.pick(0, 1000, 10**6),
        "threads": draw.pick(1, 2),
        **draw.loop(),
    }
    named["max_rounds"] = named.pop("max_epochs")
    return _rust.solve_mlrl, (draw.indicator(), X(draw.n, draw.d)), named


def solve_label_features(draw: Drawer) -> Call:
    """Sums and eigenpairs of the right shape, which belong to no matrix."""
    n, d, q = draw.n, draw.d, draw.q
    coupling = draw.pick(None, draw.gram(q, q + 1))
    eigenpairs = [(np.abs(draw.values(k)), draw.values(m, k)) for m, k in ((d, min(n, d)), (q, q))]
    named = {
        "sums": (draw.values(q, d), draw.values(q)),
        "coupling": coupling,
        "beta": draw.pick(0.1, 0.1, 0.0, 10.0),
        "anchor": draw.pick(None, 1.0, 0.0),
        "convex": draw.pick(True, False),
        "solver": draw.pick("cd", "admm", "apg", "published"),
        "lipschitz": draw.pick(1.0, 0.0, 100.0),
        "basis": eigenpairs[0],
        "coupling_basis": None if coupling is None else eigenpairs[1],
        "start": draw.values(q, d) if draw.random.random() < 0.3 else None,
        "threads": draw.pick(1, 2),
        **draw.loop(),
    }
    return _rust.solve_label_features, (draw.features(n, d),), named


ENTRIES = (kernel_matrix, kernel_product, sparse_product, loss_prox, total_loss)
ENTRIES += (solve_pairwise, solve_pairwise, solve_simplex, solve_mlrl, solve_label_features)
ENTRIES += (solve_label,)


def test_no_call_raises_anything_undocumented_or_ends_the_process(one_gigabyte: None) -> None:
    for number in range(1000):
        with case(number), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw = Drawer(1, number)
            function, arrays, named = draw.pick(*ENTRIES)(draw)
            arrays = [draw.spoiled(value) for value in arrays]
            named = {
                name: draw.spoiled(value, CHEAP.get(name.replace("rounds", "epochs")))
                for name, value in named.items()
            }
            try:
                function(*arrays, **named)
            except DOCUMENTED as error:
                if not str(error):
                    raise AssertionError("an exception without a message") from error
