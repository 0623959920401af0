"""What the seed of `LabelRankerCV` decides on small dense data, and what its parts gain.

    python benchmarks/seeds.py [trees boosting kernels ridge] [--sets emotions ...] [--seeds 5]

trees: a stack with 100, 200 and 400 extra trees, by the seeds, on the official test part: means and
standard deviations over the seeds. The others compare the default with what it would be without a
part, a random split of the official sizes for each seed: means, and in how many splits the default
is better. boosting: a forest in place of boosted trees; kernels: "rbf" alone; ridge: without kernel
ridge regressions.

Features are scaled to [0, 1]; of the tags of Debian they are vectors by `StaticEmbedding`. Seconds
are those of this process's processor, for one fit.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from common import load_official, print_table
from meaning import texts_and_labels
from multimargin import LabelRankerCV
from multimargin.blocks.by_name import BLOCKS, Data
from multimargin.datasets import load_digit_attributes
from multimargin.embeddings import StaticEmbedding
from multimargin.measures import macro_f1, micro_f1, ranking_average_precision, ranking_loss

SETS = ("emotions", "birds", "digits", "yeast", "scene", "vectors")
FOREST = ["discriminant", "kernel_ridge", "forest", "neighbours", "lift"]
NO_RIDGE = ["discriminant", "boosting", "neighbours", "lift"]
MEASURES = ("ranking loss", "average precision", "micro-F1", "macro-F1")


def parts(name: str) -> tuple[Any, Any, Any, Any]:
    """Return training and test features, and the labels of both."""
    if name == "digits":
        return load_digit_attributes().train_test()
    if name == "vectors":
        texts, y = texts_and_labels("tags", 2400, 0)
        vectors = StaticEmbedding().fit_transform(texts).astype(float)
        return vectors[:1500], vectors[1500:], y[:1500], y[1500:]
    X, X_test, y, y_test = load_official(name).train_test()
    scaler = MinMaxScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def stack_of(X: Any, n_labels: int, seed: int, trees: int) -> list[Any]:
    """Return the blocks of a stack with a number of trees."""
    forest = BLOCKS["forest"](Data(X, n_labels, seed, full=False)).set_params(n_estimators=trees)
    return [("forest", forest), "neighbours", "lift"]


def measured(seed: int, data: tuple[Any, Any, Any, Any], **options: Any) -> list[float]:
    """Return the measures of a fit on the test part, and its seconds."""
    X, X_test, y, y_test = data
    start = time.process_time()
    model = LabelRankerCV(random_state=seed, **options).fit(X, y)
    seconds = time.process_time() - start
    scores, predicted = model.decision_function(X_test), model.predict(X_test)
    ranked = [ranking_loss(y_test, scores), ranking_average_precision(y_test, scores)]
    return [*ranked, micro_f1(y_test, predicted), macro_f1(y_test, predicted), seconds]


def by_trees(names: list[str], n_seeds: int) -> None:
    """Print means and standard deviations over the seeds."""
    rows = []
    for name in names:
        data = parts(name)
        for trees in (100, 200, 400):
            found = np.array(
                [
                    measured(seed, data, stack=stack_of(data[0], data[2].shape[1], seed, trees))
                    for seed in range(n_seeds)
                ]
            )
            means, deviations = found.mean(axis=0), found.std(axis=0, ddof=1)
            cells = [f"{m:.4f} ± {d:.4f}" for m, d in zip(means[:-1], deviations, strict=False)]
            rows.append([name, str(trees), *cells, f"{means[-1]:.1f}"])
    print_table(f"{n_seeds} seeds", ["data", "trees", *MEASURES, "s"], rows)


def without_ridge(n_rows: int) -> dict[str, Any]:
    """Return the default stack of as many rows without its kernel ridge regressions."""
    return {"stack": NO_RIDGE if n_rows >= 1000 else [*NO_RIDGE, "forest"]}


def beside(
    names: list[str], n_seeds: int, label: str, options_of: Callable[[int], dict[str, Any]]
) -> None:
    """Print what options for a number of rows give, and the default."""
    rows = []
    for name in names:
        X, X_test, y, y_test = parts(name)
        n, X, y = len(X), np.vstack([X, X_test]), np.vstack([y, y_test])
        found: list[list[list[float]]] = []
        for seed in range(n_seeds):
            order = np.random.default_rng(seed).permutation(len(X))
            train, test = order[:n], order[n:]
            data = X[train], X[test], y[train], y[test]
            found.append([measured(seed, data, **options_of(n)), measured(seed, data)])
        values = np.array(found)
        better = values[:, 1] > values[:, 0]
        better[:, 0] = values[:, 1, 0] < values[:, 0, 0]
        for place, own in enumerate((label, "default")):
            means = values[:, place].mean(axis=0)
            cells = [f"{mean:.4f}" for mean in means[:-1]]
            if place:
                cells = [f"{c} ({b})" for c, b in zip(cells, better.sum(axis=0), strict=False)]
            rows.append([name, own, *cells, f"{means[-1]:.1f}"])
    print_table(f"{n_seeds} splits", ["data", "fit", *MEASURES, "s"], rows)


def main() -> None:
    """Print the tables that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["trees", "boosting", "kernels", "ridge"])
    parser.add_argument("--sets", nargs="*", default=[*SETS])
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables: dict[str, Callable[[list[str], int], None]] = {
        "trees": by_trees,
        "boosting": partial(beside, label="forest", options_of=lambda n: {"stack": FOREST}),
        "kernels": partial(beside, label="rbf", options_of=lambda n: {"kernel": "rbf"}),
        "ridge": partial(beside, label="without", options_of=without_ridge),
    }
    for table in arguments.tables:
        tables[table](arguments.sets, arguments.seeds)


if __name__ == "__main__":
    main()
