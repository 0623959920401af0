"""The baselines on the official splits, beside what the papers print for them.

    python benchmarks/baselines.py [--raw] [--methods ml-knn,adtree,...] [DATA ...]
    python benchmarks/baselines.py --semi [--methods mlgrf,mllgc,cnmf] [DATA ...]

Published: Xu 2013, tables 3 to 7; Tan et al. 2019, table 2. Features are scaled to [0, 1]
on the training part (sparse ones by their largest value), or left as they are with --raw. Methods
without printed values on these splits are measured alone.

With --semi the protocol of Zhang & Yeung 2013, section 5.4: a fifth of all rows is labelled and
the others are scored, ten times; published: tables XI to XV.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from common import load_official
from multimargin.measures import all_measures
from multimargin.methods import make_method
from multimargin.scaling import with_scaler
from published.printed import printed
from published.rivals import CNMF, LEAD, LIFT, MLGRF, MLLGC, ADTree, BRkNN

MEASURES = ("coverage", "one_error", "ranking_average_precision", "ranking_loss", "hamming_loss")

# The papers' names of the methods, and the papers by their files in benchmarks/published/printed.
TITLES = {
    "adtree": "ADTree",
    "bp-mll": "BP-MLL",
    "ml-knn": "ML-kNN",
    "mlgrf": "MLGRF",
    "mllgc": "MLLGC",
    "cnmf": "CNMF",
}
RIVALS = {
    "lift": LIFT(random_state=0),
    "lead": LEAD(),
    "br-knn": BRkNN(),
    "adtree": ADTree(),
    "mlgrf": MLGRF(),
    "mllgc": MLLGC(),
    "cnmf": CNMF(),
}
SOURCES = {"Xu 2013": "rank_cvm", "Tan et al. 2019": "mlodm"}
SEMI = {"Zhang & Yeung 2013": "mlrl_semi"}
TRIALS = 10
METHODS = "ml-knn,br-knn,lift,lead,adtree,bp-mll,clr,rakel,label-powerset,mlgrf,mllgc,cnmf"


def main() -> None:
    """Print one block of lines for each data set and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=["emotions", "yeast", "scene"])
    parser.add_argument("--methods")
    parser.add_argument("--semi", action="store_true", help="a fifth of the rows is labelled")
    parser.add_argument("--raw", action="store_true", help="leave the features as they are")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':45}" + "".join(f"{name:>18}" for name in MEASURES))
    if arguments.semi:
        semi_supervised(arguments.data, (arguments.methods or "mlgrf,mllgc,cnmf").split(","))
        return
    for name in arguments.data:
        X, X_test, Y, Y_test = (data := load_official(name)).train_test()
        for method in (arguments.methods or METHODS).split(","):
            estimator = estimator_of(method)
            if not arguments.raw:
                estimator = with_scaler(estimator, "minmax", sparse=hasattr(data.X, "tocsr"))
            start = time.perf_counter()
            model = estimator.fit(X, Y)
            seconds = time.perf_counter() - start
            last, rows = (
                (model, X_test) if arguments.raw else (model[-1], model[:-1].transform(X_test))
            )
            found = all_measures(Y_test, model.predict(X_test), last.label_scores(rows))
            show(name, method, "ours", [found[measure] for measure in MEASURES])
            show_printed(name, method, SOURCES)
            print(f"{'':45}fitted in {seconds:.1f} s", flush=True)


def estimator_of(method: str) -> Any:
    """Return a rival of the papers' tables, or a baseline of the package."""
    return clone(RIVALS[method]) if method in RIVALS else make_method(method)


def semi_supervised(names: list[str], methods: list[str]) -> None:
    """Print the means over the trials."""
    for name in names:
        data = load_official(name)
        X, Y = with_scaler("passthrough", "minmax", sparse=False)[0].fit_transform(data.X), data.Y
        for method in methods:
            trials = []
            for seed in range(TRIALS):
                others = np.random.default_rng(seed).permutation(len(Y))[len(Y) // 5 :]
                partly = Y.astype(int)
                partly[others] = -1
                model = estimator_of(method).fit(X, partly)
                scores, predicted = model.label_scores(X[others]), model.predict(X[others])
                found = all_measures(Y[others], predicted, scores)
                trials.append([found[measure] for measure in MEASURES])
            show(name, method, "ours", list(np.mean(trials, axis=0)))
            show_printed(name, method, SEMI)


def show_printed(data: str, method: str, sources: dict[str, str]) -> None:
    """Print what papers print for a method on data, a line each."""
    title = TITLES.get(method)
    for source, file in sources.items():
        tables = printed(file)
        here = tables["one_error"]
        if data in here.index and title in here.columns:
            row = [
                float(tables[measure].loc[data, title]) if measure in tables else None
                for measure in MEASURES
            ]
            show(data, method, source, row)


def show(
    data: str, method: str, source: str, values: "list[float] | tuple[float | None, ...]"
) -> None:
    """Print a line of measures."""
    cells = "".join(f"{'' if value is None else format(value, '.5f'):>18}" for value in values)
    print(f"{data:10}{method:15}{source:20}{cells}", flush=True)


if __name__ == "__main__":
    main()
