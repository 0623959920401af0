"""Random small problems with everything that is rare in real data: for tests of solvers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

KERNELS = ("linear", "rbf", "laplacian", "poly", "sigmoid")
BIASES = ("free", "penalized", "none")


class RandomProblem(NamedTuple):
    """A small training problem."""

    X: npt.NDArray[np.float64]
    Y: npt.NDArray[np.int_]
    C: float
    kernel: str
    gamma: float
    coef0: float
    bias: str


def draw_problem(random: np.random.Generator, kernel: str, bias: str) -> RandomProblem | None:
    """Draw one problem with all that is rare, C over eight decades; None if it has no pair."""
    n, d, q = random.integers(2, 31), random.integers(1, 7), random.integers(2, 7)
    X = random.normal(size=(n, d))
    Y = (random.random((n, q)) < random.uniform(0.2, 0.8)).astype(int)
    if random.random() < 0.3:
        Y[random.integers(n)] = random.integers(2)
    if random.random() < 0.3:
        copies = random.integers(n, size=2)
        X[copies[0]] = X[copies[1]]
        if random.random() < 0.5:
            Y[copies[0]] = Y[copies[1]]
    if random.random() < 0.2:
        X[random.integers(n)] = 0.0
    if random.random() < 0.2:
        Y[:, random.integers(q)] = random.integers(2)
    relevant = Y.sum(axis=1)
    if not ((relevant > 0) & (relevant < q)).any():
        return None
    tiny_or_huge = random.random() < 0.4
    C = 10.0 ** (random.uniform(-4, 4) if tiny_or_huge else random.uniform(-1, 1))
    gamma, coef0 = random.uniform(0.1, 1.0) / d, random.uniform(0.0, 1.0)
    if kernel == "sigmoid":
        # Only where tanh is all but linear is this kernel positive semidefinite. A penalized
        # bias would dwarf its values.
        gamma, coef0, C = 1e-6 * gamma, 0.0, 1e6 * min(C, 10.0)
        bias = "none" if bias == "penalized" else bias
    return RandomProblem(X, Y, C, kernel, gamma, coef0, bias)
