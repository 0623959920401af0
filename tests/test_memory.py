"""Where memory ends, a fit or a prediction raises MemoryError, and the process lives on.

A child process prepares the data and forks for each limit on its address space, so that limits can
be walked up in steps: each allocation is the first to fail at some of them.
"""

import os
import sys

import pytest

from tests.support.forks import outcomes_of, output_of
from tests.support.subsets import fast_only

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")

PROGRAM = """
import ctypes, warnings
import numpy as np
from scipy import sparse
from multimargin import LLSF, MLODM, MLRL, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.kernels import Kernel

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
n, d, q = {shape}
X = random.normal(size=(n, d))
Y = (X[:, :1] + random.normal(size=(n, q)) > 0.5).astype(np.uint8)
Y[:, 0], Y[:, 1] = 1, 0
S = sparse.csr_array(np.where(np.abs(X) > 1.5, X, 0.0))
work = lambda: {work}
# What is imported late, and the threads of libraries.
tiny = np.arange(8.0).reshape(4, 2), np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
for model in (RankSVM(), MLRL(), LLSF()):
    model.fit(*tiny).label_scores(tiny[0])

# Free blocks for the 64 kB buffers of NumPy's iterators, each between blocks in use: where such a
# buffer is the first to fail, NumPy 2.4 sets the error without the interpreter's lock, a SIGSEGV.
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
for block in [libc.malloc(68_000) for _ in range(32)][::2]:
    libc.free(block)

outcomes(work, {mega}, {shown})
"""


# No threshold is learned: the liblinear of scikit-learn does not check its allocations.
def fit(model, parameters, data="X"):
    return f"{model}(max_iter=2, {parameters}).fit({data}, Y).label_scores({data})"


def pairwise(parameters="", model="RankSVM", data="X"):
    return fit(model, f"threshold=0.0, {parameters}", data)


LINEAR, TALL = "kernel='linear'", (20000, 40, 30)
WORK = {
    "rbf, stored": ((1500, 10, 12), pairwise()),
    "rbf, single precision": ((3000, 10, 12), pairwise("cache_size=40")),
    "rbf, cached": ((3000, 10, 12), pairwise("cache_size=20")),
    "linear": (TALL, pairwise(LINEAR)),
    "linear, sparse": (TALL, pairwise(LINEAR, data="S")),
    "linear, threads": (TALL, pairwise(f"{LINEAR}, n_jobs=3", "RankLSVM")),
    "dcd": ((10000, 10, 30), pairwise(f"{LINEAR}, solver='dcd'")),
    "frank-wolfe": ((1500, 10, 12), pairwise(f"{LINEAR}, bias='none', solver='frank-wolfe'")),
    "frank-wolfe, free": ((1500, 10, 12), pairwise(f"{LINEAR}, solver='frank-wolfe'")),
    "RankCVM": ((1500, 10, 30), pairwise("", "RankCVM")),
    "RankCVM, frank-wolfe": ((800, 10, 6), pairwise("solver='frank-wolfe'", "RankCVM")),
    "mlODM": ((1500, 10, 12), pairwise("", "MLODM")),
    "RankHLapSVM": ((20000, 40, 12), pairwise(LINEAR, "RankHLapSVM")),
    "RankHLapSVM, rbf": ((1000, 10, 12), pairwise("kernel='rbf'", "RankHLapSVM")),
    "MLRL": ((1500, 10, 8), fit("MLRL", "")),
    "MLRL, cached": ((1500, 10, 8), fit("MLRL", "cache_size=1")),
    "MLRL, alternating": ((1000, 10, 8), fit("MLRL", "solver='alternating'")),
    "LLSF": ((20000, 60, 20), fit("LLSF", "")),
    "LLSF, sparse": ((20000, 60, 20), fit("LLSF", "", "S")),
    # The OpenBLAS of NumPy has no buffer yet, and ends the process where it finds no room for one.
    "LLSF, few rows": ((500, 100, 10), fit("LLSF", "")),
    "kernel matrix": ((2000, 10, 2), "Kernel('rbf').matrix(X, threads=2)"),
}


@pytest.mark.parametrize("name", fast_only(WORK, ["LLSF, sparse", "LLSF, few rows"]))
def test_no_memory_is_a_memory_error_at_every_limit(name, tmp_path):
    shape, work = WORK[name]
    steps = os.environ.get("MULTIMARGIN_MEMORY_STEPS", "(3, 9, 20, 45)")
    mega = f"[0, *{steps}, 2000]"
    program = PROGRAM.format(shape=shape, work=work, mega=mega, shown=False)
    outcomes = outcomes_of(program, tmp_path)
    assert outcomes[0] == 1
    assert outcomes[-1] == 0


def test_the_error_says_how_much_for_what_and_what_helps(tmp_path):
    work = "RankSVM(cache_size=100_000).fit(X, Y)"
    program = PROGRAM.format(shape=(60_000, 2, 3), work=work, mega="[1000]", shown=True)
    out = output_of(program, tmp_path)
    assert out.endswith("\n1\n"), out
    assert "cannot allocate 14.400 GB for the kernel matrix" in out
    assert "a smaller cache_size" in out


CACHE = """
import warnings
import numpy as np
from multimargin import RankSVM

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(4000, 5))
Y = (X[:, :1] + random.normal(size=(4000, 3)) > 0.5).astype(np.uint8)
model = RankSVM(gamma=1.0, threshold=0.0, max_iter=2)
model.set_params(cache_size=1).fit(X, Y)
before = peak()
model.set_params(cache_size=60).fit(X, Y)
print(peak() - before)
"""


def test_kept_kernel_rows_take_no_more_than_cache_size(tmp_path):
    """They grow row by row: an array that is copied as it grows takes twice as much."""
    assert 30e6 < int(output_of(CACHE, tmp_path)) < 75e6
