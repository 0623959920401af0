"""What each mechanism of the pairwise loop gives: whole fits without it, against fits with all.

    python benchmarks/ablate.py [--repeats 3] [--only NAME ...] [--packaged]
                                [--mechanisms NAME ...] [--threads 2]

The fits are those of the pairwise methods in `race_main.py`, and some that are hard or have a
thousand labels, on one thread, in processor seconds, or on several by the clock; all in turn, and
the fastest run counts. A fit whose objective and epochs are the same bits without a mechanism has
not used it: its ratio is 1. `mean` is the geometric mean of all ratios, `most` the largest, of the
fit behind it.
"""

import argparse
import statistics
import time
import warnings
from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from common import load_official, print_table
from multimargin import MLODM, RankCVM, RankSVM, _rust
from race_main import MADE_UP, PACKAGED, cells, data

MECHANISMS = (
    *("shrinking", "passes", "neighbours", "chains", "shortlists", "deflation", "leaps"),
    *("extrapolation", "oracle"),
)
OTHERS = ("LLSF", "MLRL")
SOLVE = _rust.solve_pairwise


def fits() -> dict[str, tuple[str, Any]]:
    """Return the fits by name: the data and the estimator."""
    found = {name: cell for name, cell in cells().items() if not name.startswith(OTHERS)}
    hard = {"random_state": 0, "max_iter": 20_000}
    for make, name, kernel, C in (
        (RankSVM, "emotions", "rbf", 100),
        (RankCVM, "emotions", "rbf", 100),
        (MLODM, "yeast", "rbf", 100),
        (RankSVM, "enron", "rbf", 100),
        (RankSVM, "yeast", "rbf", 1000),
        (RankSVM, "enron", "linear", 100),
        (MLODM, "emotions", "linear", 100),
        (RankSVM, "yeast columns", "linear", 1),
        (RankCVM, "emotions columns", "linear", 10),
        (MLODM, "yeast columns", "linear", 10),
    ):
        model = make(C=C, kernel=kernel, gamma=1.0 if kernel == "rbf" else "scale", **hard)
        found[f"hard {make.__name__} {kernel} {name} C={C}"] = (name, model)
    for source in ("columns-48", "columns-300"):
        for make, C in ((RankSVM, 100), (MLODM, 10)):
            name = f"hard {make.__name__} linear {source} C={C}"
            found[name] = (source, make(C=C, kernel="linear", **hard))
    for top_k in (None, 5):
        model = RankSVM(C=1.0, kernel="linear", bias="penalized", top_k=top_k, random_state=0)
        found[f"RankSVM delicious top_k={top_k}"] = ("delicious", model)
    return found


def load(source: str) -> tuple[Any, Any]:
    """Load a data set, of columns of mean 0 and variance 1 where it is one of `columns`."""
    name, _, form = source.partition(" ")
    if form != "columns":
        return data(source)
    X, _, Y, _ = load_official(name).train_test()
    return StandardScaler().fit_transform(X), Y


def fit(
    model: Any, X: Any, Y: Any, without: tuple[str, ...] = (), threads: int = 1
) -> tuple[float, Any]:
    """Return the seconds of a fit, and what tells its course."""
    _rust.solve_pairwise = partial(SOLVE, without=without)
    clock = time.process_time if threads == 1 else time.perf_counter
    model, start = clone(model).set_params(n_jobs=threads), clock()
    model.fit(X, Y)
    return clock() - start, (model.objective_, model.n_iter_)


def ratios(
    model: Any, X: Any, Y: Any, mechanisms: list[str], repeats: int, threads: int
) -> dict[str, float]:
    """Return how many times as long the fit takes without each mechanism."""
    least: dict[str, float] = {}
    course: dict[str, Any] = {}
    for _ in range(repeats):
        for name in ("", *mechanisms):
            if name and course.get(name) == course[""]:
                continue
            seconds, course[name] = fit(model, X, Y, (name,) if name else (), threads)
            least[name] = min(least.get(name, seconds), seconds)
    unused = {name for name in mechanisms if course[name] == course[""]}
    return {name: 1.0 if name in unused else least[name] / least[""] for name in mechanisms}


def main() -> None:
    """Print each ratio, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of names of fits")
    parser.add_argument("--packaged", action="store_true", help="data of the package alone")
    parser.add_argument("--mechanisms", nargs="*", default=MECHANISMS)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, float]] = {name: {} for name in chosen.mechanisms}
    for name, (source, model) in fits().items():
        if not any(part in name for part in chosen.only):
            continue
        if chosen.packaged and source not in PACKAGED | MADE_UP:
            continue
        X, Y = load(source)
        of_fit = ratios(model, X, Y, list(found), chosen.repeats, chosen.threads)
        for mechanism, ratio in of_fit.items():
            found[mechanism][name] = ratio
        used = (f"{key} {ratio:.2f}" for key, ratio in of_fit.items() if ratio != 1.0)
        print(f"{name}: {', '.join(used) or 'none'}", flush=True)
    rows = []
    for mechanism, by_fit in found.items():
        most = max(by_fit, key=by_fit.__getitem__)
        used_by = sum(value != 1.0 for value in by_fit.values())
        mean = statistics.geometric_mean(by_fit.values())
        rows.append((mechanism, str(used_by), f"{mean:.3f}", f"{by_fit[most]:.2f}", most))
    print_table(
        "What fits take without a mechanism", ("without", "used by", "mean", "most", "of"), rows
    )


if __name__ == "__main__":
    main()
