"""RankLSVM, RankCVM, MLODM and RankHLapSVM against the exact optimum of 500 random small problems.

    python benchmarks/agreement_family.py [count]

All kernels, degenerate and duplicate rows, tiny and huge C; relative differences of objective and
lower bound from the interior-point optimum.
"""

import sys

import numpy as np

from common import print_table
from multimargin.reference.verify import comparisons

REQUIRED = 1e-6
SOLVERS = {
    "RankLSVM": ("bcd", "dcd"),
    "RankCVM": ("bcd", "dcd", "pairwise-frank-wolfe"),
    "MLODM": ("bcd", "dcd"),
    "RankHLapSVM": ("bcd", "dcd"),
}


def main() -> None:
    """Print how many problems agree, and the worst difference."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rows, all_agree = [], True
    for method, solvers in SOLVERS.items():
        for solver in solvers:
            errors = np.array([c.error for c in comparisons(method, solver, count, seed=1)])
            agree = int((errors <= REQUIRED).sum())
            all_agree &= agree == count
            rows.append(
                (
                    method,
                    solver,
                    f"{agree} of {count}",
                    f"{errors.max():.1e}",
                    f"{np.median(errors):.1e}",
                )
            )
    print_table(
        f"Agreement to {REQUIRED:g}", ("method", "solver", "agree", "worst", "median"), rows
    )
    sys.exit(not all_agree)


if __name__ == "__main__":
    main()
