"""Fits in processes of their own: after a fork, and by how much they add to the memory."""

import os

import pytest

from tests.support.forks import output_of
from tests.support.subsets import first_fast

FORK = """
import os
import numpy as np
from multimargin import RankSVM

random = np.random.default_rng(0)
X = random.normal(size=(200, 20))
Y = (X[:, :4] + random.normal(size=(200, 4)) > 0.5).astype(int)
model = RankSVM(C=0.1, gamma=0.01, n_jobs=2, random_state=0).fit(X, Y)
before = model.label_scores(X)
child = os.fork()
if child == 0:
    # Threads of the parent do not live on here: a pool that did would be waited for in vain.
    same = np.array_equal(model.fit(X, Y).label_scores(X), before)
    os._exit(0 if same else 1)
_, status = os.waitpid(child, 0)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_threads_work_after_a_fork(tmp_path):
    output_of(FORK, tmp_path)


MEMORY = """
import resource
import numpy as np
from scipy import sparse
from multimargin import _rust
from multimargin.kernels import rust_matrix

def high_water():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

random = np.random.default_rng(0)
X = {X}
n = X.shape[0]
Y = np.zeros((n, 2), np.uint8)
Y[np.arange(n), random.integers(2, size=n)] = 1
options = dict(
    c=1.0, loss="hinge", bias="penalized", solver="bcd", tolerance=1e-3, max_epochs=1
)
small = rust_matrix(X[:3, :{columns}].copy())
_rust.solve_pairwise(Y[:3], small, kernel_name="{kernel}", **options)
before = high_water()
_rust.solve_pairwise(Y, rust_matrix(X), kernel_name="{kernel}", **options)
print(high_water() - before)
"""
ARRAYS = {
    "dense features": ("random.standard_normal((100_000, 100))", "linear", "100"),
    "CSR features": (
        "sparse.csr_array((random.standard_normal(6_000_000),"
        " np.tile(np.arange(60, dtype=np.int32), 100_000),"
        " np.arange(0, 6_000_001, 60, dtype=np.int32)), (100_000, 100))",
        "linear",
        "100",
    ),
    "kernel matrix": ("np.ones((3000, 3000))", "precomputed", "3"),
}


@pytest.mark.parametrize("kind", first_fast(ARRAYS, 1))
def test_input_arrays_of_72_to_80_megabytes_are_not_copied(kind, tmp_path):
    X, kernel, columns = ARRAYS[kind]
    program = MEMORY.format(X=X, kernel=kernel, columns=columns)
    assert float(output_of(program, tmp_path)) < 36
