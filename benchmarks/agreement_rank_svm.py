"""RankSVM against the exact quadratic programme on 1000 random small problems.

    python benchmarks/agreement_rank_svm.py [count]

All kernels, all treatments of the bias, degenerate and duplicate rows, tiny and huge C; relative
differences of the primal and the dual objective from the interior-point optimum.
"""

import sys
import warnings

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from multimargin import RankSVM
from multimargin.reference import rank_svm
from multimargin.reference.random_problems import random_problems

REQUIRED = 1e-6


def main() -> None:
    """Print how many problems agree, and the worst difference."""
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    differences = []
    for problem in random_problems(count, seed=1):
        X, Y, C, kernel, gamma, coef0, bias = problem
        model = RankSVM(
            C, kernel, gamma, coef0=coef0, bias=bias, tol=1e-7, max_iter=100_000, random_state=0
        ).fit(X, Y)
        K = pairwise_kernels(
            X, metric=kernel, filter_params=True, gamma=gamma, coef0=coef0, degree=3
        )
        optimum = rank_svm.dual(K, Y, C, bias).objective
        distance = max(abs(model.objective_ - optimum), abs(model.dual_objective_ - optimum))
        # With a free bias the optimum can be 0: when the biases alone separate all pairs.
        differences.append(distance / optimum if optimum > 1e-9 * C else distance / C)
    agree = sum(d <= REQUIRED for d in differences)
    print(
        f"{agree} of {count} agree to {REQUIRED:g}; worst {max(differences):.1e}, "
        f"median {np.median(differences):.1e}"
    )
    sys.exit(agree != count)


if __name__ == "__main__":
    main()
