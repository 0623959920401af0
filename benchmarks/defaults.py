"""What the methods give at their defaults, beside one-vs-rest SVC and LinearSVC at theirs.

    python benchmarks/defaults.py [DATA ...] [--methods rank-svm,rank-svm:C=1,...] [--results FILE]

What `multimargin compare DATA --cv 3` measures: three stratified folds, features scaled to [0, 1],
nothing tuned. Printed are the means of the folds, and the mean rank of each method among itself and
the two peers: 1 is better than both on all data sets. Results are kept in a file, and only what is
missing there is computed. On enron and the tags of Debian, `SVC` takes minutes a fold.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from common import load_official, print_table
from multimargin.compare import run_experiment
from multimargin.datasets import load_debian_tags
from multimargin.methods import make_method

DATA = ("emotions", "yeast", "birds", "scene", "enron", "medical", "debian-tags")
PEERS = ("ovr-svc", "ovr-linear-svc")
# The old scale of C beside the default: RankSVM at C = 1.
METHODS = "rank-svm,mlodm,rank-cvm,rank-lsvm,rank-svmz,rank-hlapsvm,llsf,mlrl,rank-svm:C=1"
# Whether larger is better.
MEASURES = {
    "ranking_loss": False,
    "ranking_average_precision": True,
    "micro_f1": True,
    "macro_f1": True,
}


def estimator_of(text: str) -> Any:
    """Return the estimator of a name such as "rank-svm:C=1"."""
    name, *assignments = text.split(":")
    return make_method(name, **dict(one.split("=") for one in assignments))


def means(name: str, estimators: dict[str, Any], file: str) -> dict[str, dict[str, float]]:
    """Return the means of the folds, by method and measure, of one data set."""
    data = load_debian_tags() if name == "debian-tags" else load_official(name)
    results = run_experiment(data, estimators, cv=3, results_file=file)
    failed = [result for result in results if result.failed]
    if failed:
        raise RuntimeError(f"{failed[0].method} on {name}: {failed[0].error}")
    return {
        method: {
            measure: float(np.mean([r.measures[measure] for r in results if r.method == method]))
            for measure in MEASURES
        }
        for method in estimators
    }


def main() -> None:
    """Print a table a measure, and the mean ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--results", default="defaults.jsonl")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = chosen.methods.split(",")
    estimators = {name: estimator_of(name) for name in (*PEERS, *methods)}
    found = {}
    with threadpool_limits(1):
        for name in chosen.data:
            found[name] = means(name, estimators, chosen.results)
            print(f"{name} done", flush=True)
    ranks: dict[str, dict[str, float]] = {method: {} for method in methods}
    for measure, larger in MEASURES.items():
        rows = [
            [method, *(f"{found[name][method][measure]:.4f}" for name in found)]
            for method in estimators
        ]
        print_table(f"{measure}, means of three folds", ["method", *found], rows)
        sign = -1.0 if larger else 1.0
        for method in methods:
            table = [[sign * of[m][measure] for m in (method, *PEERS)] for of in found.values()]
            ranks[method][measure] = float(rankdata(table, axis=1).mean(axis=0)[0])
            ranks[method][f"{measure} of SVC, LinearSVC"] = rankdata(table, axis=1).mean(axis=0)[1:]
    rows = []
    for method in methods:
        cells = []
        for measure in MEASURES:
            first, second = ranks[method][f"{measure} of SVC, LinearSVC"]
            cells.append(f"{ranks[method][measure]:.2f} / {first:.2f} / {second:.2f}")
        rows.append([method, *cells])
    print_table(
        "Mean ranks among three: the method / one-vs-rest SVC / LinearSVC",
        ["method", *MEASURES],
        rows,
    )


if __name__ == "__main__":
    main()
