"""The baselines on the official splits, beside what the papers print for them.

    python benchmarks/baselines.py [--raw] [--methods ml-knn,adtree,...] [DATA ...]
    python benchmarks/baselines.py --semi [--methods mlgrf,mllgc,cnmf] [DATA ...]

Published: Xu 2013, tables 3 to 7; Tan et al. 2019, table 2. Features are scaled to [0, 1]
on the training part (sparse ones by their largest value), or left as they are with --raw. Methods
that nobody printed on these splits are measured alone.

With --semi the protocol of Zhang & Yeung 2013, section 5.4: a fifth of all rows is labelled and
the others are scored, ten times; published: tables XI to XV.
"""

import argparse
import time
import warnings

import numpy as np

from common import load_official
from multimargin.compare import make_estimator
from multimargin.measures import all_measures
from multimargin.scaling import with_scaler

MEASURES = ("coverage", "one_error", "average_precision", "ranking_loss", "hamming_loss")

# Rank-CVM paper: coverage, one-error, average precision, ranking loss, Hamming loss.
XU = {
    ("adtree", "emotions"): (2.20792, 0.37129, 0.73629, 0.22847, 0.25660),
    ("adtree", "scene"): (0.68645, 0.31940, 0.80664, 0.11796, 0.11859),
    ("adtree", "genbase"): (0.45226, 0.00000, 0.99422, 0.00390, 0.00093),
    ("adtree", "yeast"): (6.51908, 0.25518, 0.73723, 0.18726, 0.21234),
    ("bp-mll", "emotions"): (1.95050, 0.30693, 0.77910, 0.17992, 0.21782),
    ("bp-mll", "scene"): (2.06270, 0.82692, 0.46483, 0.39452, 0.29097),
    ("bp-mll", "genbase"): (0.59799, 0.00000, 0.99145, 0.00762, 0.00335),
    ("bp-mll", "yeast"): (6.42310, 0.23664, 0.75049, 0.17504, 0.20922),
    ("ml-knn", "emotions"): (1.87620, 0.30198, 0.79073, 0.16148, 0.20875),
    ("ml-knn", "scene"): (0.56856, 0.24247, 0.85118, 0.09308, 0.09894),
    ("ml-knn", "genbase"): (0.55276, 0.00503, 0.99144, 0.00647, 0.00462),
    ("ml-knn", "yeast"): (6.41440, 0.23446, 0.75846, 0.17150, 0.19801),
}
# mlODM paper: one-error, average precision, ranking loss, Hamming loss.
MLODM = {
    ("bp-mll", "emotions"): (0.5248, 0.5918, 0.4589, 0.3177),
    ("bp-mll", "yeast"): (0.2377, 0.7505, 0.1747, 0.2084),
    ("ml-knn", "emotions"): (0.4059, 0.6938, 0.2829, 0.2937),
    ("ml-knn", "scene"): (0.2425, 0.8512, 0.0931, 0.0989),
    ("ml-knn", "yeast"): (0.2345, 0.7585, 0.1715, 0.1980),
    ("ml-knn", "genbase"): (0.0050, 0.9914, 0.0064, 0.0428),
    ("ml-knn", "medical"): (0.3504, 0.7256, 0.0585, 0.0187),
    ("ml-knn", "enron"): (0.3040, 0.6232, 0.0938, 0.0520),
}
# MLRL paper, semi-supervised: coverage, one-error, average precision, ranking loss, Hamming loss.
MLRL = {
    ("mlgrf", "emotions"): (2.4749, 0.4559, 0.6689, 0.3138, 0.2989),
    ("mllgc", "emotions"): (2.4352, 0.4660, 0.6694, 0.3101, 0.3860),
    ("cnmf", "emotions"): (2.7709, 0.5800, 0.5992, 0.4019, 0.3153),
    ("mlgrf", "yeast"): (6.5325, 0.2540, 0.7393, 0.1885, 0.2171),
    ("mllgc", "yeast"): (6.3800, 0.2504, 0.7391, 0.1859, 0.2557),
    ("cnmf", "yeast"): (11.7836, 0.9006, 0.3035, 0.7090, 0.3026),
    ("mlgrf", "scene"): (0.5329, 0.2629, 0.8436, 0.0894, 0.1129),
    ("mllgc", "scene"): (0.5624, 0.2843, 0.8318, 0.0955, 0.1171),
    ("cnmf", "scene"): (0.6392, 0.3367, 0.8025, 0.1091, 0.1791),
}
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
    print(f"{'':37}" + "".join(f"{name:>18}" for name in MEASURES))
    if arguments.semi:
        semi_supervised(arguments.data, (arguments.methods or "mlgrf,mllgc,cnmf").split(","))
        return
    for name in arguments.data:
        X, X_test, Y, Y_test = (data := load_official(name)).train_test()
        for method in (arguments.methods or METHODS).split(","):
            estimator = make_estimator(method)
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
            if (method, name) in XU:
                show(name, method, "Xu 2013", XU[method, name])
            if (method, name) in MLODM:
                show(name, method, "Tan et al. 2019", (None, *MLODM[method, name]))
            print(f"{'':37}fitted in {seconds:.1f} s", flush=True)


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
                model = make_estimator(method).fit(X, partly)
                scores, predicted = model.label_scores(X[others]), model.predict(X[others])
                found = all_measures(Y[others], predicted, scores)
                trials.append([found[measure] for measure in MEASURES])
            show(name, method, "ours", list(np.mean(trials, axis=0)))
            if (method, name) in MLRL:
                show(name, method, "MLRL", MLRL[method, name])


def show(
    data: str, method: str, source: str, values: "list[float] | tuple[float | None, ...]"
) -> None:
    """Print a line of measures."""
    cells = "".join(f"{'' if value is None else format(value, '.5f'):>18}" for value in values)
    print(f"{data:10}{method:15}{source:12}{cells}", flush=True)


if __name__ == "__main__":
    main()
