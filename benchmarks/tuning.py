"""What warm starts and the lazy search save, on yeast.

    python benchmarks/tuning.py [data]

Three folds, rbf kernel with gamma 1, the ten C of the Rank-CVM paper in increasing order: warm
starts against the same search from cold starts (`GridSearchCV`). Then the lazy search of the paper,
gamma and C one after the other, against the whole grid.
"""

import sys
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler

from common import in_turn, load_official, print_table
from multimargin import MLODM, RankCVM, RankLSVM, RankSVM
from multimargin.measures import get_scorer
from multimargin.tuning import LazySearchCV, WarmStartGridSearchCV

CS = [2.0**k for k in range(-1, 9)]
GAMMAS = [2.0**k for k in range(-10, 3)]
CRITERION = get_scorer("neg_ranking_hamming")


def epochs_and_gaps(estimator: Any, X: Any, Y: Any) -> tuple[list[int], list[int], float]:
    """Fit all C warm and cold; return the epochs and the largest difference of the objectives."""
    warm, cold, difference = [], [], 0.0
    model = estimator.set_params(warm_start=True)
    for C in CS:
        one = model.set_params(C=C).fit(X, Y)
        other = type(model)(**{**model.get_params(), "warm_start": False}).fit(X, Y)
        warm.append(one.n_iter_)
        cold.append(other.n_iter_)
        difference = max(difference, abs(one.objective_ - other.objective_) / other.objective_)
    return warm, cold, difference


def main() -> None:
    """Print both tables."""
    name = sys.argv[1] if len(sys.argv) > 1 else "yeast"
    X, _, Y, _ = load_official(name).train_test()
    X = MinMaxScaler().fit_transform(X)
    rows = []
    for method in (RankSVM, RankLSVM, RankCVM, MLODM):
        for tol in (1e-3, 1e-5):
            model = method(gamma=1.0, tol=tol, max_iter=10_000, random_state=0)
            grid = {"C": CS}
            arguments = {"scoring": CRITERION, "cv": 3, "refit": False}
            (warm_seconds, warm), (cold_seconds, cold) = in_turn(
                lambda m=model, g=grid, a=arguments: WarmStartGridSearchCV(m, g, **a).fit(X, Y),
                lambda m=model, g=grid, a=arguments: GridSearchCV(m, g, **a).fit(X, Y),
                repeats=3,
            )
            epochs, cold_epochs, difference = epochs_and_gaps(model, X, Y)
            fit_ratio = (
                warm.cv_results_["mean_fit_time"].sum() / cold.cv_results_["mean_fit_time"].sum()
            )
            rows.append(
                (
                    method.__name__,
                    f"{tol:g}",
                    f"{warm_seconds / cold_seconds:.2f}",
                    f"{fit_ratio:.2f}",
                    f"{sum(epochs)} / {sum(cold_epochs)}",
                    f"{difference:.1e}",
                    "yes" if warm.best_params_ == cold.best_params_ else "no",
                )
            )
    header = ("method", "tol", "search", "fits alone", "epochs", "objectives differ by", "same C")
    print_table(f"{name}: warm / cold starts along ten C, time ratios", header, rows)

    model = RankSVM(C=1.0, random_state=0)
    grid = {"gamma": GAMMAS, "C": CS}
    (lazy_seconds, lazy), (full_seconds, full) = in_turn(
        lambda: LazySearchCV(model, grid, scoring=CRITERION, cv=3).fit(X, Y),
        lambda: GridSearchCV(model, grid, scoring=CRITERION, cv=3).fit(X, Y),
        repeats=1,
    )
    rows = [
        (
            kind,
            f"{seconds / full_seconds:.2f}",
            str(len(search.cv_results_["params"])),
            f"{-search.best_score_:.5f}",
            ", ".join(f"{key} 2^{np.log2(value):g}" for key, value in search.best_params_.items()),
        )
        for kind, seconds, search in (
            ("lazy", lazy_seconds, lazy),
            ("whole grid", full_seconds, full),
        )
    ]
    header = ("search", "time ratio", "combinations", "criterion", "found")
    print_table(f"{name}: RankSVM, lazy search against the whole grid", header, rows)


if __name__ == "__main__":
    main()
