"""One thread against two: the same bits, and how much faster.

python benchmarks/threads.py
"""

import warnings
from functools import partial

import numpy as np
from sklearn.preprocessing import normalize

from common import in_turn, load_official, print_table
from kernel_blocks import problem
from multimargin import RankSVM


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")

    def text(name: str) -> tuple:
        X, _, Y, _ = load_official(name).train_test()
        return normalize(X), Y

    dense = problem(8000)
    wide = np.random.default_rng(0).normal(size=(len(dense[0]), 500))
    jobs = {
        "rbf stored, n = 8000, q = 20": (RankSVM(C=1.0, gamma=0.01, cache_size=1000), dense),
        "rbf in blocks, n = 8000, q = 20": (RankSVM(C=1.0, gamma=0.01, cache_size=100), dense),
        "linear dense, n = 8000, d = 500, q = 20": (
            RankSVM(C=1.0, kernel="linear"),
            (wide, dense[1]),
        ),
        "linear CSR, bibtex, q = 159": (RankSVM(C=1.0, kernel="linear"), text("bibtex")),
        "linear CSR, delicious, q = 983": (
            RankSVM(C=1.0, kernel="linear", threshold=0.0),
            text("delicious"),
        ),
    }
    rows = []
    for name, (estimator, data) in jobs.items():
        estimator.set_params(bias="penalized", random_state=0, max_iter=30)
        one = type(estimator)(**estimator.get_params())
        two = type(estimator)(**estimator.get_params()).set_params(n_jobs=2)
        first, second = in_turn(partial(one.fit, *data), partial(two.fit, *data), repeats=5)
        model = "coef_" if hasattr(one, "coef_") else "dual_coef_"
        same = all(
            np.array_equal(getattr(one, attribute), getattr(two, attribute))
            for attribute in (model, "intercept_", "objective_", "dual_gap_")
        )
        rows.append(
            (
                name,
                f"{first[0]:.2f}",
                f"{second[0]:.2f}",
                f"{first[0] / second[0]:.2f}",
                "same bits" if same else "DIFFERENT",
            )
        )
    header = ("problem", "1 thread s", "2 threads s", "speed-up", "result")
    print_table("threads, whole fit", header, rows)


if __name__ == "__main__":
    main()
