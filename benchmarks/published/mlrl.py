"""Zhang & Yeung 2013 (MLRL), supervised: tables I to VIII and X.

Data: emotions, scene and yeast, and rcv1(subset1) as it circulates, which is what the paper used.
Protocol: ten folds of all rows, rbf kernel whose width is the mean distance of the training rows,
on rcv1(subset1) the linear kernel, lambda from {0.01, 0.1, 1, 10, 100}. The paper says nothing of
scaling nor of how a parameter is chosen: here features are scaled to [0, 1], the rows of
rcv1(subset1) to unit norm, and parameters are chosen by the ranking loss in three shuffled folds of
the training part. Significance is its plain paired t-test over the folds at 5 %.

With the loss averaged over the n rows, as equation 6 has it, all these lambda are far too large.
The published values are within reach if the loss is the sum over the rows, that is with lambda / n;
the comparison with the other methods uses that, and the averaged form is a part of its own.

BSVM is libsvm one label at a time with the same kernel, liblinear where that is linear, Rank-SVM
that of equation 13 (every pair weighs the same). Their C is chosen in the same way, for BSVM from
4^-1 to 4^3, and the weight of a pair for Rank-SVM from 4^-4 to 4.
ML-kNN has 10 neighbours, BP-MLL the paper's network, LEAD the parameters of its own paper.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import SVC, LinearSVC

from common import print_table
from multimargin import MLRL, RankSVM
from multimargin.baselines import BPMLL, MLkNN
from multimargin.measures import get_scorer
from published.comparison import (
    AVERAGE_PRECISION,
    COVERAGE,
    HAMMING_LOSS,
    ONE_ERROR,
    RANKING_LOSS,
    Row,
    chosen,
    folds,
    print_comparison,
    values,
    whole,
)
from published.layout import print_data, print_measures, print_t_tests
from published.llsf import rcv1
from published.printed import printed
from published.rivals import LEAD
from published.runs import all_of

COLUMNS = (HAMMING_LOSS, ONE_ERROR, COVERAGE, RANKING_LOSS, AVERAGE_PRECISION)
LINEAR = "rcv1(subset1)"
DATA_SETS = ("emotions", "scene", "yeast", LINEAR)
METHODS = ("MLRL", "BSVM", "Rank-SVM", "ML-kNN", "BP-MLL", "LEAD")
WEIGHTS = [0.01, 0.1, 1.0, 10.0, 100.0]
CS = {
    "BSVM": [4.0**k for k in range(-1, 4)],
    "Rank-SVM": [4.0**k for k in range(-4, 2)],
}
FOLDS = 10

# Table I: rows, features, labels, labels a row, density, label sets, their share of the rows.
TABLE_I = {
    "emotions": (593, 72, 6, 1.869, 0.311, 27, 0.046),
    "scene": (2407, 294, 6, 1.074, 0.179, 15, 0.006),
    "yeast": (2417, 103, 14, 4.237, 0.303, 198, 0.082),
    LINEAR: (6000, 944, 101, 2.880, 0.029, 1028, 0.171),
}
# Table VII: wins, ties and losses of MLRL over the five measures, nine data sets.
TABLE_VII = {
    "BSVM": "39/6/0",
    "Rank-SVM": "36/8/1",
    "ML-kNN": "34/11/0",
    "BP-MLL": "39/5/1",
    "LEAD": "18/26/1",
}
# Tables VIII and X: label correlations, the rows of the upper triangle.
CORRELATIONS = {
    "emotions": [
        (0.0000, -0.7300, -0.3389, -0.2858, 0.1725),
        (0.0000, 0.0000, 0.0000, 0.0000),
        (0.2674, 0.1638, -0.7178),
        (0.8687, -0.2799),
        (-0.1181,),
    ],
    "scene": [
        (-0.0208, -0.1709, -0.2714, -0.2036, -0.2669),
        (-0.4559, -0.0270, -0.2017, -0.2331),
        (-0.2124, -0.0369, -0.0774),
        (-0.0841, -0.1421),
        (-0.4337,),
    ],
}


def rows_of(name: str) -> tuple[Any, Any]:
    """Return all rows as they are."""
    return rcv1() if name == LINEAR else whole(name)


@cache
def scaled(name: str) -> tuple[Any, Any]:
    """Return all rows, features scaled to [0, 1], or rows of unit norm for the linear kernel."""
    X, Y = rows_of(name)
    return (normalize(X) if name == LINEAR else MinMaxScaler().fit_transform(X)), Y


def kernel_of(name: str) -> dict[str, Any]:
    """Return the kernel of a data set."""
    return {"kernel": "linear"} if name == LINEAR else {"gamma": "mean_distance"}


def fold(name: str, number: int) -> tuple[Any, Any, Any, Any]:
    """Return one of the ten folds."""
    X, Y = scaled(name)
    train, test = list(folds(FOLDS).split(X))[number]
    return X[train], X[test], Y[train], Y[test]


def candidates(method: str, name: str, X: Any, *, summed: bool = True) -> tuple[Any, Any]:
    """Return a method and the values of its parameter."""
    n = X.shape[0]
    kernel = kernel_of(name)
    if method == "MLRL":
        unit = n if summed else 1
        return MLRL(**kernel), {"lam": [weight / unit for weight in WEIGHTS]}
    if method == "BSVM" and name == LINEAR:
        svm = OneVsRestClassifier(LinearSVC(loss="hinge", max_iter=20_000, random_state=0))
        return svm, {"estimator__C": CS[method]}
    if method == "BSVM":
        gamma = 1.0 / (2.0 * float(pdist(X).mean()) ** 2)
        svm = OneVsRestClassifier(SVC(gamma=gamma, max_iter=1_000_000))
        return svm, {"estimator__C": CS[method]}
    uniform = RankSVM(**kernel, pair_weights="uniform", tol=1e-2, random_state=0)
    return uniform, {"C": [C * n for C in CS[method]]}


def measured(name: str, method: str, number: int, *, summed: bool = True) -> dict[str, Any]:
    """Measure a method on a fold; MLRL also returns its label correlations."""
    X, X_test, Y, Y_test = fold(name, number)
    rivals = {"ML-kNN": MLkNN(10), "BP-MLL": BPMLL(random_state=0), "LEAD": LEAD()}
    if method in rivals:
        if sparse.issparse(X):
            X, X_test = X.toarray(), X_test.toarray()
        return {"test": values(COLUMNS, rivals[method].fit(X, Y), X_test, Y_test)}
    model, grid = candidates(method, name, X, summed=summed)
    search = GridSearchCV(model, grid, scoring=get_scorer("neg_ranking_loss"), cv=folds(3))
    best = search.fit(X, Y).best_estimator_
    found = {
        "test": values(COLUMNS, best, X_test, Y_test),
        "place": int(search.best_index_),
    }
    if method == "MLRL" and name in CORRELATIONS:
        found["correlations"] = best.label_correlation_.tolist()
    return found


def runs_of(
    name: str, methods: Sequence[str], *, summed: bool = True
) -> dict[str, list[dict[str, Any]]]:
    """Return the folds that are there, by method; all methods on a fold before the next fold."""
    form = "" if summed else ", averaged"
    jobs = {
        (method, number): (
            f"mlrl {name} {method}{form} fold {number}",
            partial(measured, name, method, number, summed=summed),
        )
        for number in range(FOLDS)
        for method in methods
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for (method, _), run in all_of(jobs).items():
        found.setdefault(method, []).append(run)
    return found


def compare_methods() -> None:
    """Print tables II to VII."""
    found = {
        (name, method): [run["test"] for run in runs]
        for name in chosen(DATA_SETS)
        for method, runs in runs_of(name, METHODS).items()
    }
    print_measures(
        "Zhang & Yeung 2013, tables II to VI", COLUMNS, METHODS, found, printed("mlrl"), digits=4
    )
    title = "Zhang & Yeung 2013, table VII: MLRL, t-tests"
    print_t_tests(title, COLUMNS, found, "MLRL", TABLE_VII)


def averaged() -> None:
    """Print MLRL with the loss averaged over the rows, as equation 6 has it, and summed."""
    theirs = printed("mlrl")
    rows = []
    for name in chosen(("emotions", "yeast")):
        published = [float(theirs[column.key].loc[name, "MLRL"]) for column in COLUMNS]
        for note, summed in (("averaged", False), ("summed", True)):
            runs = runs_of(name, ["MLRL"], summed=summed).get("MLRL", [])
            if runs:
                found = [run["test"] for run in runs]
                rows.append(Row(name, "MLRL", published, found, f"loss {note}, {len(runs)} folds"))
    print_comparison("Zhang & Yeung 2013, the loss averaged as printed", COLUMNS, rows)


def correlations() -> None:
    """Print tables VIII and X."""
    for name in chosen(CORRELATIONS):
        runs = runs_of(name, ["MLRL"])
        if not runs:
            continue
        ours = np.mean([run["correlations"] for run in runs["MLRL"]], axis=0)
        lines = [
            (
                f"L{i + 1}, L{j + 1}",
                f"{theirs:.4f}",
                f"{ours[i, j]:.4f}",
                f"{ours[i, j] - theirs:+.4f}",
            )
            for i, row in enumerate(CORRELATIONS[name])
            for j, theirs in enumerate(row, start=i + 1)
        ]
        header = ("labels", "published", "ours", "difference")
        print_table(f"Zhang & Yeung 2013, label correlations of {name}", header, lines)


def statistics_of_data() -> None:
    """Print table I."""
    ours = {}
    for name in chosen(DATA_SETS):
        X, Y = rows_of(name)
        n, q = Y.shape
        sets = len(np.unique(Y, axis=0))
        size = float(Y.sum()) / n
        ours[name] = (n, X.shape[1], q, size, size / q, sets, sets / n)
    columns = ("rows", "features", "labels", "labels a row", "density", "label sets", "share")
    print_data("Zhang & Yeung 2013, table I", columns, TABLE_I, ours, digits=3)


PARTS = {
    "table-I": statistics_of_data,
    "tables-II-VII": compare_methods,
    "tables-VIII-X": correlations,
    "averaged": averaged,
}
