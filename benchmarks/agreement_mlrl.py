"""MLRL and SSMLRL against the exact models on random small problems.

    python benchmarks/agreement_mlrl.py [count]

Fixed covariance against (8) and (10), the joint problem against the trace norm, SSMLRL against (15)
and (14); relative differences of the objectives. Covariances of every rank, labels without
variance, kernels of every rank, lam from 1e-3 to 10.
"""

import sys
import warnings
from functools import partial

import numpy as np

from multimargin import MLRL, SSMLRL
from multimargin.reference import mlrl

REQUIRED = {"fixed covariance": 1e-6, "joint": 1e-4, "SSMLRL (15)": 1e-6, "SSMLRL (14)": 1e-4}


def main() -> None:
    """Print how many problems agree, and the worst difference."""
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    differences: dict[str, list[float]] = {name: [] for name in REQUIRED}
    unsolved: list[str] = []
    for seed in range(count):
        random = np.random.default_rng(seed)
        n, u, q = random.integers(4, 13), random.integers(1, 8), random.integers(2, 5)
        G = random.normal(size=(n + u, random.integers(1, n + 4))) * random.choice([0.3, 1, 3])
        Y = (random.random((n, q)) < random.choice([0.2, 0.5])).astype(int)
        Y[0], Y[1] = 1, 0
        lam, lam2 = 10.0 ** random.uniform(-3, 1, 2)
        S = random.normal(size=(q, random.integers(1, q + 1)))
        Omega = S @ S.T / np.trace(S @ S.T)
        K = G @ G.T
        labelled = np.ascontiguousarray(K[:n, :n])
        targets = np.vstack([Y, np.full((u, q), -1)])
        shared = {"kernel": "precomputed", "max_outer": 50_000}

        semi = partial(mlrl.semi_supervised_primal, K, Y, lam, lam2)
        cases = (
            (
                MLRL(lam, fixed_covariance=Omega, tol=1e-8, **shared).fit(labelled, Y),
                partial(mlrl.primal, labelled, Y, lam, Omega),
            ),
            (
                MLRL(lam, tol=1e-5, **shared).fit(labelled, Y),
                partial(mlrl.joint, labelled, Y, lam),
            ),
            (
                SSMLRL(lam, lam2, fixed_covariance=Omega, tol=1e-8, **shared).fit(K, targets),
                partial(semi, Omega),
            ),
            (SSMLRL(lam, lam2, tol=1e-5, **shared).fit(K, targets), semi),
        )
        for name, (model, exact) in zip(REQUIRED, cases, strict=True):
            try:
                expected = exact()[0]
            except RuntimeError:
                unsolved.append(f"{name} {seed}")
                continue
            apart = max(abs(model.objective_ - expected), abs(model.dual_objective_ - expected))
            differences[name].append(apart / expected)
    failed = 0
    if unsolved:
        print(f"not solved by the interior-point solver: {', '.join(unsolved)}")
    for name, values in differences.items():
        agree = sum(d <= REQUIRED[name] for d in values)
        failed += len(values) - agree
        print(
            f"{name}: {agree} of {len(values)} agree to {REQUIRED[name]:g}; "
            f"worst {max(values):.1e}, median {np.median(values):.1e}"
        )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
