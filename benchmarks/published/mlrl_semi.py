"""Zhang & Yeung 2013 (SSMLRL), semi-supervised: tables XI to XVII.

Protocol: a fifth of the rows with labels, ten random splits, measured on the other rows; rbf kernel
whose width is the mean distance of all rows (for MLRL, of the labelled ones). lambda, lambda1 and
lambda2 from {0.01, 0.1, 1, 10, 100} / n with n labelled rows, that is with the loss summed; chosen
by the ranking loss in three folds of the labelled rows, of SSMLRL among all 25 pairs. MLGRF, MLLGC
and CNMF have the defaults of `published.rivals`: the paper does not say which graph it has.
"""

import time
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from common import in_turn, print_table
from multimargin import MLRL, SSMLRL
from multimargin.measures import get_scorer
from published.comparison import chosen, dense, values
from published.layout import print_measures, print_t_tests
from published.mlrl import COLUMNS, DATA_SETS, LINEAR, kernel_of, scaled
from published.printed import printed
from published.rivals import CNMF, MLGRF, MLLGC
from published.runs import all_of

METHODS = ("SSMLRL", "MLRL", "MLGRF", "MLLGC", "CNMF")
# Names of runs where the method alone does not say what was run.
TITLES = {"SSMLRL": "SSMLRL by grid"}
WEIGHTS = [0.01, 0.1, 1.0, 10.0, 100.0]
SPLITS = 10
# Table XVI: wins, ties and losses of SSMLRL over the five measures, nine data sets.
TABLE_XVI = {"MLRL": "41/4/0", "MLGRF": "22/17/6", "MLLGC": "33/7/5", "CNMF": "43/2/0"}
# Table XVII: seconds of MLRL and of SSMLRL.
SECONDS = {
    "emotions": (3.6981, 7.3062),
    "scene": (15.5381, 33.2390),
    "yeast": (30.0544, 39.7401),
    LINEAR: (1148.1750, 1270.3306),
}


def split_of(name: str, number: int) -> tuple[Any, Any, Any, Any]:
    """Return all rows, labels, the labelled rows and the others."""
    X, Y = scaled(name)
    order = np.random.default_rng(number).permutation(len(Y))
    labelled, others = np.split(order, [len(Y) // 5])
    return X, Y, labelled, others


def hidden(Y: Any, others: Any) -> Any:
    """Return labels of which those of some rows are unknown."""
    partly = Y.astype(int)
    partly[others] = -1
    return partly


def candidates(method: str, name: str, labelled: Any, others: Any) -> GridSearchCV:
    """Return the search of SSMLRL or MLRL in three folds of the labelled rows."""
    weights = [weight / labelled.size for weight in WEIGHTS]
    scoring = get_scorer("neg_ranking_loss")
    if method == "MLRL":
        return GridSearchCV(MLRL(**kernel_of(name)), {"lam": weights}, scoring=scoring, cv=3)
    folds = [
        (np.concatenate([labelled[a], others]), labelled[b]) for a, b in KFold(3).split(labelled)
    ]
    pairs = {"lam1": weights, "lam2": weights}
    return GridSearchCV(SSMLRL(**kernel_of(name)), pairs, scoring=scoring, cv=folds)


def measured(name: str, method: str, number: int) -> list[float]:
    """Measure a method on the rows without labels of a split."""
    X, Y, labelled, others = split_of(name, number)
    if method == "SSMLRL":
        model = candidates(method, name, labelled, others).fit(X, hidden(Y, others))
    elif method == "MLRL":
        model = candidates(method, name, labelled, others).fit(X[labelled], Y[labelled])
    else:
        graph = {"MLGRF": MLGRF, "MLLGC": MLLGC, "CNMF": CNMF}[method]()
        X = dense(X)
        model = graph.fit(X, hidden(Y, others))
    return values(COLUMNS, model, X[others], Y[others])


def compare_methods() -> None:
    """Print tables XI to XVI."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for name in chosen(DATA_SETS):
        # CNMF, by far the slowest, last.
        order = sorted(product(range(SPLITS), METHODS), key=lambda key: key[1] == "CNMF")
        jobs = {
            (method, number): (
                f"mlrl semi {name} {TITLES.get(method, method)} split {number}",
                partial(measured, name, method, number),
            )
            for number, method in order
        }
        for (method, _), run in all_of(jobs).items():
            found.setdefault((name, method), []).append(run)
    title = "Zhang & Yeung 2013, tables XI to XV"
    print_measures(title, COLUMNS, METHODS, found, printed("mlrl_semi"), digits=4)
    title = "Zhang & Yeung 2013, table XVI: SSMLRL, t-tests"
    print_t_tests(title, COLUMNS, found, "SSMLRL", TABLE_XVI)


def timed(name: str) -> list[float]:
    """Return the processor seconds of a fit of MLRL to all rows, and of SSMLRL to 20 % labelled."""
    X, Y, labelled, others = split_of(name, 0)
    kernel = kernel_of(name)
    jobs = (
        partial(MLRL(1.0 / len(Y), **kernel).fit, X, Y),
        partial(
            SSMLRL(1.0 / labelled.size, 0.01 / labelled.size, **kernel).fit,
            X,
            hidden(Y, others),
        ),
    )
    return [seconds for seconds, _ in in_turn(*jobs, repeats=1, clock=time.process_time)]


def compare_times() -> None:
    """Print table XVII."""
    jobs = {name: (f"mlrl seconds {name}", partial(timed, name)) for name in chosen(DATA_SETS)}
    lines = [
        (name, *(f"{value:.2f}" for pair in zip(SECONDS[name], row, strict=True) for value in pair))
        for name, row in all_of(jobs).items()
    ]
    header = ("data", "MLRL published", "ours", "SSMLRL published", "ours")
    print_table("Zhang & Yeung 2013, table XVII: seconds of a fit", header, lines)


PARTS = {"tables-XI-XVI": compare_methods, "table-XVII": compare_times}
