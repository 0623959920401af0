"""Kernel matrices against scikit-learn's, one thread.

    python benchmarks/kernels.py

The floor is 2 n^2 d flops of dense features, 2 sum_f c_f^2 of sparse ones with c_f nonzeros in
column f, half of either where a matrix is symmetric, and 8 n^2 bytes written. Text data take part
where they are found.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from common import DATA, in_turn, load_official, print_table
from multimargin.kernels import Kernel

PARAMETERS = {"gamma": 0.01, "coef0": 0.5, "degree": 3}


def main() -> None:
    """Print the table."""
    random = np.random.default_rng(0)
    inputs = {
        "dense 3000 x 100": random.normal(size=(3000, 100)),
        "CSR 2000 x 5000, 1 %": sparse.random_array(
            (2000, 5000), density=0.01, format="csr", rng=random
        ),
        "CSR 2000 x 1000, 5 %": sparse.random_array(
            (2000, 1000), density=0.05, format="csr", rng=random
        ),
    }
    sides = {name: (X, None) for name, X in inputs.items()}
    rare = inputs["CSR 2000 x 5000, 1 %"]
    sides["CSR 1000 with 2000 x 5000, 1 %"] = (rare[:1000], rare)
    if (DATA / "bibtex").is_dir():
        X, X_test, _, _ = (sparse.csr_array(part) for part in load_official("bibtex").train_test())
        sides["bibtex, training rows"] = (X, None)
        sides["bibtex, test with training rows"] = (X_test, X)
    rows = []
    for name, (X, Y) in sides.items():
        for kernel in ("linear", "rbf", "laplacian", "poly", "sigmoid"):
            ours = partial(Kernel(kernel, **PARAMETERS).matrix, X, Y)
            peer = partial(pairwise_kernels, X, Y, metric=kernel, filter_params=True, **PARAMETERS)
            mine, theirs = in_turn(ours, peer)
            difference = np.abs(mine[1] - theirs[1]).max() / np.abs(theirs[1]).max()
            rows.append(
                (
                    name,
                    kernel,
                    f"{mine[0]:.3f}",
                    f"{theirs[0]:.3f}",
                    f"{mine[0] / theirs[0]:.2f}",
                    f"{difference:.0e}",
                )
            )
    header = ("features", "kernel", "ours s", "scikit-learn s", "ratio", "relative difference")
    print_table("kernel matrix, one thread", header, rows)


if __name__ == "__main__":
    main()
