"""Each function of the extension under falling limits on memory: an answer, or a MemoryError.

Arrays here are larger than the reserve of 64 MB that allocations of the solvers' own steps may
take, so that one that cannot fail ends the process.
"""

import sys

import pytest

from tests.support.forks import outcomes_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")

PROGRAM = """
import numpy as np
from scipy import sparse
from multimargin import _rust

n, d, q = {shape}
random = np.random.default_rng(0)
indicator = (np.arange(n)[:, None] * 7 + np.arange(q)) % max(q // 2, 2) == 0
indicator = np.ascontiguousarray(indicator.astype(np.uint8))
X = random.normal(size=(n, d))
csr = sparse.random_array((n, d), density=0.05, rng=random, format="csr")
S = csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32), d
rows = lambda count, width: np.full((count, width), 0.01)
kernel = dict(gamma=1.0, degree=2, coef0=0.0)
short = dict(seconds=0.0, tolerance=1e-9)
pairwise = dict(c=1.0, loss="hinge", solver="bcd", max_epochs=1, **kernel, **short)
part = dict(pair_weights=np.ones(n), dual=np.zeros((n, q)), weights=np.zeros((d, q)))
part |= dict(offset=np.zeros(q), loss="hinge")
flow = dict(part, threads=1, bands=np.full(q, 0.1))
mlrl = dict(lam=0.01, kernel_name="linear", ridge=0.0, max_rounds=1, cache_bytes=0)
mlrl |= dict(kernel, **short)
simplex = dict(c=1.0, kernel_name="linear", absolute=False, max_epochs=1, cache_bytes=0)
simplex |= dict(kernel, **short)
llsf = dict(sums=(rows(q, d), np.ones(q)), beta=0.1, convex=True, lipschitz=1.0)
llsf |= dict(max_epochs=1, **short)
call = lambda: _rust.{name}({arguments})

# The reserve is kept from the first call on.
_rust.kernel_matrix(X[:2], None, name="rbf", threads=1, **kernel)
outcomes(call, {mega})
"""

# By the name of the function and a kind, its arguments.
ARGUMENTS = {
    "solve_mlrl": "indicator, X, solver='splitting', **mlrl",
    "solve_mlrl, fixed": "indicator, X, solver='splitting', covariance=np.eye(q) / q, **mlrl",
    "solve_mlrl, alternating": "indicator, X, solver='alternating', **mlrl",
    "solve_simplex": "indicator, X, **simplex",
    "solve_pairwise, dense": "indicator, X, kernel_name='linear', bias='free', **pairwise",
    "solve_pairwise, sparse": "indicator, S, kernel_name='linear', bias='penalized', **pairwise",
    "solve_pairwise, compact": (
        "indicator, S, kernel_name='linear', bias='none', storage='single', **pairwise"
    ),
    "solve_pairwise, kernel": (
        "indicator, X, kernel_name='rbf', bias='none', cache_bytes=10**9, **pairwise"
    ),
    "solve_pairwise, blocks": (
        "indicator, X, kernel_name='rbf', bias='penalized', cache_bytes=10**8, **pairwise"
    ),
    "solve_pairwise, one block": (
        "indicator, X, kernel_name='linear', bias='none', block_size=12_000, **pairwise"
    ),
    "improve_part": (
        "indicator, X, theta=0.0, mu=1.0, sigma=1.0, growth=2.0, tolerated=0.0, epochs=0, "
        "seed=0, **part"
    ),
    "split_part": "indicator, X, theta=0.0, mu=1.0, rho=1.0, length=1.0, beside=0.0, **part",
    "pairs_near_margin": "indicator, X, **flow",
    "mixed_rows": "indicator, X, prices=np.zeros(q), **flow",
    "best_bias_without_features": "rows(q, q)",
    "route_label_sums": "np.zeros(q), rows(q, q)",
    "solve_label": (
        "rows(n, n), np.where(indicator[:, 0] == 1, 1.0, -1.0), np.ones(n), np.zeros(n), "
        "scale=1.0, tolerance=0.1, steps=1"
    ),
    "solve_label_features, cd": "X, solver='cd', **llsf",
    "solve_label_features, apg": "X, solver='apg', **llsf",
    "kernel_matrix": "X, None, name='rbf', threads=1, **kernel",
    "kernel_product": "X, X[:5], rows(5, q), name='rbf', threads=1, **kernel",
    "loss_prox": "indicator, rows(n, q), 1.0, loss='squared_hinge'",
    "sparse_product": "S, rows(d, q).astype(np.float32), 1",
    "total_loss": "indicator, rows(n, q), np.ones(n), loss='squared_hinge'",
}
# Rows, features and labels of those that have others.
SHAPES = {
    **dict.fromkeys(("solve_pairwise, kernel", "solve_pairwise, blocks"), (4000, 10, 2500)),
    **dict.fromkeys(("best_bias_without_features", "route_label_sums"), (2, 2, 3500)),
    "solve_label": (3000, 2, 2),
    "solve_label_features, cd": (3000, 3000, 4000),
    "solve_label_features, apg": (300, 3000, 4000),
    "kernel_matrix": (4000, 3, 2),
    "sparse_product": (12_000, 20, 3000),
}
FEW = ("solve_mlrl", "solve_simplex", "solve_pairwise, sparse", "sparse_product")


def outcomes(name, mega, folder):
    shape, arguments = SHAPES.get(name, (12_000, 20, 720)), ARGUMENTS[name]
    called = {"name": name.split(",")[0], "arguments": arguments}
    return outcomes_of(PROGRAM.format(shape=shape, mega=mega, **called), folder)


@pytest.mark.parametrize("name", FEW)
def test_an_entry_raises_memory_error(name, tmp_path):
    assert 1 in outcomes(name, [2, 100, 240, 380, 520], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_entry_answers_or_raises_memory_error(name, tmp_path):
    assert outcomes(name, [*range(30, 1000, 90), 8000], tmp_path)[-1] == 0
