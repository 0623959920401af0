"""Kernel matrices against scikit-learn's, one thread.

    python benchmarks/kernels.py

The floor is 2 n^2 d flops and 8 n^2 bytes written.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from common import in_turn, print_table
from multimargin.kernels import kernel_matrix

PARAMETERS = {"gamma": 0.01, "coef0": 0.5, "degree": 3}


def main() -> None:
    """Print the table."""
    random = np.random.default_rng(0)
    inputs = {
        "dense 3000 x 100": random.normal(size=(3000, 100)),
        "CSR 2000 x 5000, 1 %": sparse.random_array(
            (2000, 5000), density=0.01, format="csr", rng=random
        ),
    }
    rows = []
    for name, X in inputs.items():
        for kernel in ("linear", "rbf", "poly", "sigmoid"):
            ours = partial(kernel_matrix, X, kernel=kernel, **PARAMETERS)
            peer = partial(pairwise_kernels, X, metric=kernel, filter_params=True, **PARAMETERS)
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
