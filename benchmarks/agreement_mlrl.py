"""MLRL and SSMLRL against the exact models on random small problems.

    python benchmarks/agreement_mlrl.py [count]

Fixed covariance against (8) and (10), the joint problem against the trace norm, SSMLRL against (15)
and (14); relative differences of the objectives. Covariances of every rank, labels without
variance, kernels of every rank, lam from 1e-3 to 10.
"""

import sys
import warnings

import numpy as np

from multimargin import MLRL, SSMLRL
from multimargin.reference import mlrl

REQUIRED = {"fixed covariance": 1e-6, "joint": 1e-4, "SSMLRL (15)": 1e-6, "SSMLRL (14)": 1e-4}


def main() -> None:
    """Print how many problems agree, and the worst difference."""
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    differences: dict[str, list[float]] = {name: [] for name in REQUIRED}
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

        def compare(name: str, model: MLRL | SSMLRL, expected: float) -> None:
            apart = max(abs(model.objective_ - expected), abs(model.dual_objective_ - expected))
            differences[name].append(apart / expected)

        fixed = MLRL(lam, fixed_covariance=Omega, tol=1e-8, **shared).fit(labelled, Y)
        compare("fixed covariance", fixed, mlrl.primal(labelled, Y, lam, Omega).objective)
        joint = MLRL(lam, tol=1e-5, **shared).fit(labelled, Y)
        compare("joint", joint, mlrl.joint(labelled, Y, lam).objective)
        fixed = SSMLRL(lam, lam2, fixed_covariance=Omega, tol=1e-8, **shared).fit(K, targets)
        expected = mlrl.semi_supervised_primal(K, Y, lam, lam2, Omega)[0]
        compare("SSMLRL (15)", fixed, expected)
        joint = SSMLRL(lam, lam2, tol=1e-5, **shared).fit(K, targets)
        compare("SSMLRL (14)", joint, mlrl.semi_supervised_primal(K, Y, lam, lam2)[0])
    failed = 0
    for name, values in differences.items():
        agree = sum(d <= REQUIRED[name] for d in values)
        failed += count - agree
        print(
            f"{name}: {agree} of {count} agree to {REQUIRED[name]:g}; worst {max(values):.1e}, "
            f"median {np.median(values):.1e}"
        )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
