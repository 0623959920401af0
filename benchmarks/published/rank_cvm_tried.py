"""Xu 2013 (Rank-CVM): what was tried where the paper does not say what it did.

threshold-rules: how labels may be predicted from the scores of the published loop. Of the
thresholds of a training row with the fewest errors the lowest, the highest or the mean; a step
beyond the last score where one of them has no end; and whether a test row without a label gets that
of its largest score. medical: the coverage of ML-kNN on other splits and other features. scaling:
both published loops on emotions by how features are scaled, with the parameters of table 2 and over
the grid; other data scaled to [0, 1]; features of genbase as the file has them. folds: the
criterion of table 2 in three blocks of rows.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import KFold, cross_validate
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, normalize

from common import load_official, print_note, print_table
from multimargin import RankCVM
from multimargin.baselines import MLkNN
from multimargin.estimators import FrankWolfeOptions
from multimargin.measures import all_measures, get_scorer
from published.comparison import (
    COVERAGE,
    HAMMING_LOSS,
    ONE_ERROR,
    as_is,
    chosen,
    compact,
    dense,
    folds,
    official,
    values,
    whole,
)
from published.own_threshold import CHOICES, values_by_it
from published.printed import printed
from published.rank_cvm import (
    COLUMNS,
    CS,
    DATA_SETS,
    ELSEWHERE,
    GAMMAS,
    METHODS,
    TUNED,
    model_of,
    split_of,
)
from published.runs import all_of

STEPS = (1e-9, 1e-3, 0.1, 1.0)
SPLITS = ("second part", "first 645 of both parts", "last 645, second part first")
FEATURES = ("unit norm", "tf-idf", "unit variance")
SCALERS = {
    "[0, 1]": MinMaxScaler(),
    "[-1, 1]": MinMaxScaler((-1, 1)),
    "unit variance": StandardScaler(),
    "largest value": MaxAbsScaler(),
}
BY = ("training rows", "all rows")
# The ranking measures, which do not depend on how labels are predicted.
RANKING = COLUMNS[:4]


def losses(name: str) -> list[float]:
    """Return the Hamming loss of the published loop by each rule."""
    X, X_test, Y, Y_test = split_of(name)
    model = model_of(name, "Rank-CVM").fit(X, Y)
    return [
        values_by_it(
            (HAMMING_LOSS,), model, X, Y, X_test, Y_test, never_empty=full, choice=way, beyond=step
        )[0]
        for way, step, full in product(CHOICES, STEPS, (False, True))
    ]


def threshold_rules() -> None:
    """Print the rules that give a printed Hamming loss somewhere; all, for a split at random."""
    names = chosen(DATA_SETS, ELSEWHERE)
    found = all_of(
        {name: (f"rank-cvm {name} threshold rules", partial(losses, name)) for name in names}
    )
    theirs = printed("rank_cvm")[HAMMING_LOSS.key]["Rank-CVM"]
    lines = []
    for k, (way, step, full) in enumerate(product(CHOICES, STEPS, (False, True))):
        ours = {name: round(own[k], 5) for name, own in found.items()}
        as_printed = [name for name, loss in ours.items() if loss == round(theirs[name], 5)]
        if as_printed or found.keys() & set(ELSEWHERE):
            cells = (f"{loss:.5f}" for loss in ours.values())
            lines.append((way, f"{step:g}", "yes" if full else "no", *cells))
    header = ("threshold", "beyond the ends", "never empty", *found)
    rules = len(CHOICES) * len(STEPS) * 2
    title = f"Xu 2013, Rank-CVM: the rules, of {rules}, that give a printed Hamming loss"
    own = all_of(
        {name: (f"rank-cvm {name} package threshold", partial(own_loss, name)) for name in names}
    )
    lines.append(("the package's", "", "", *(f"{loss:.5f}" for loss in own.values())))
    lines.append(("published", "", "", *(f"{theirs[name]:.5f}" for name in found)))
    print_table(title, header, lines)


def own_loss(name: str) -> float:
    """Return the Hamming loss of the published loop with the package's own threshold."""
    X, X_test, Y, Y_test = split_of(name)
    return values((HAMMING_LOSS,), model_of(name, "Rank-CVM").fit(X, Y), X_test, Y_test)[0]


def coverage(split: str, features: str) -> float:
    """Return the coverage of ML-kNN on 645 training and 333 test rows of medical."""
    X, Y = whole("medical")
    order = np.arange(len(Y))
    if split == SPLITS[0]:
        train = order[-645:]
    elif split == SPLITS[1]:
        train = order[:645]
    else:
        train = np.concatenate([order[-645:], order[:333]])[-645:]
    if features == "unit norm":
        X = normalize(X)
    elif features == "tf-idf":
        X = TfidfTransformer().fit_transform(X)
    elif features == "unit variance":
        X = StandardScaler(with_mean=False).fit_transform(sparse.csr_matrix(X))
    X, test = dense(X), np.setdiff1d(order, train)
    model: Any = MLkNN(n_neighbors=10, smoothing=1.0).fit(X[train], Y[train])
    return values((COVERAGE,), model, X[test], Y[test])[0]


def other_medical() -> None:
    """Print the coverage of ML-kNN on medical."""
    tried = [(split, "as they are") for split in SPLITS]
    tried += [(SPLITS[0], features) for features in FEATURES]
    found = all_of(
        {
            (split, features): (
                f"rank-cvm medical ML-kNN, {split}, {features}",
                partial(coverage, split, features),
            )
            for split, features in tried
        }
    )
    lines = [(*key, f"{value:.2f}") for key, value in found.items()]
    theirs = float(printed("rank_cvm")[COVERAGE.key].loc["medical", "ML-kNN"])
    lines.append(("published", "", f"{theirs:.2f}"))
    print_table(
        "Xu 2013, ML-kNN on medical: coverage", ("training rows", "features", "coverage"), lines
    )


def scaled_emotions(scaling: str, by: str) -> tuple[Any, Any, Any, Any]:
    """Return the official split of emotions, scaled."""
    X, X_test, Y, Y_test = as_is("emotions")
    if scaling != "as they are":
        scaler = clone(SCALERS[scaling]).fit(X if by == BY[0] else np.vstack([X, X_test]))
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    return X, X_test, Y, Y_test


def ranking(name: str, method: str, scaling: str, by: str) -> list[float]:
    """Return the four ranking measures of a published loop."""
    parts = official(name) if name != "emotions" else scaled_emotions(scaling, by)
    X, X_test, Y, Y_test = parts
    return values(RANKING, model_of(name, method).fit(X, Y), X_test, Y_test)


def over_the_grid(scaling: str, by: str) -> list[list[float]]:
    """Return the ranking measures of the published loop of Rank-CVM on emotions, gamma by C."""
    X, X_test, Y, Y_test = scaled_emotions(scaling, by)
    loop = {"solver": "frank-wolfe", "max_iter": 50, "threshold": 0.0}
    rule = FrankWolfeOptions(epsilon=1e-3)
    return [
        values(RANKING, RankCVM(gamma=gamma, C=C, options=rule, **loop).fit(X, Y), X_test, Y_test)
        for gamma, C in product(GAMMAS, CS)
    ]


def other_scaling() -> None:
    """Print the published loops on emotions by scaling, elsewhere Rank-CVM scaled to [0, 1]."""
    theirs = printed("rank_cvm")
    tried = [("emotions", "as they are", ""), *product(["emotions"], SCALERS, BY)]
    jobs: dict[Any, Any] = {
        (name, scaling, by, method): (
            f"rank-cvm {name} {method} scaled {scaling} {by}",
            partial(ranking, name, method, scaling, by),
        )
        for (name, scaling, by), method in product(tried, METHODS)
        if name in chosen(("emotions",))
    }
    jobs |= {
        (name, "[0, 1]", BY[0], "Rank-CVM"): (
            f"rank-cvm {name} Rank-CVM scaled [0, 1] {BY[0]}",
            partial(ranking, name, "Rank-CVM", "[0, 1]", BY[0]),
        )
        for name in chosen(("scene", "yeast"))
    }
    lines = [(*key, *(f"{value:.5f}" for value in row)) for key, row in all_of(jobs).items()]
    for name, method in dict.fromkeys((key[0], key[3]) for key in jobs):
        row = (f"{theirs[column.key].loc[name, method]:.5f}" for column in RANKING)
        lines.append((name, "published", "", method, *row))
    header = ("data", "features", "scaled by", "method", *(column.title for column in RANKING))
    print_table("Xu 2013, the published loops by scaling", header, lines)
    if chosen(("emotions",)):
        print_grid(np.array([theirs[c.key].loc["emotions", "Rank-CVM"] for c in RANKING], float))
    if chosen(("genbase",)):
        name = "rank-cvm genbase BP-MLL, features of the file"
        for loss in all_of({0: (name, one_error_of_the_file)}).values():
            print_note(f"genbase, BP-MLL, YES read as 0 and NO as 1: one-error {loss:.3f}")


def print_grid(theirs: Any) -> None:
    """Print how many scalings, gamma and C give the printed row of Rank-CVM on emotions."""
    grids = all_of(
        {
            key: (
                f"rank-cvm emotions Rank-CVM grid scaled {' '.join(key)}",
                partial(over_the_grid, *key),
            )
            for key in product(SCALERS, BY)
        }
    )
    if grids:
        rows = np.vstack(list(grids.values()))
        equal = np.abs(rows - theirs) < 1e-5
        print_note(
            f"emotions, Rank-CVM, {len(rows)} scalings, gamma and C: the printed row comes out in"
            f" {int(equal.all(axis=1).sum())}, at most {int(equal.sum(axis=1).max())} of its"
            f" {len(RANKING)} values in one of them"
        )


def one_error_of_the_file() -> float:
    """Return the one-error of BP-MLL on genbase with {YES, NO} read as 0 and 1."""
    X, X_test, Y, Y_test = load_official("genbase").train_test()
    model = model_of("genbase", "BP-MLL").fit(compact(X), Y)
    return float(
        all_measures(Y_test, model.predict(compact(X_test)), model.label_scores(compact(X_test)))[
            ONE_ERROR.key
        ]
    )


def least_criterion(*, shuffled: bool) -> float:
    """Return what the procedure of table 2 finds for Rank-CVM on scene in three folds."""
    X, _, Y, _ = split_of("scene")
    cv = folds(3) if shuffled else KFold(3)
    scoring = get_scorer("neg_ranking_hamming")

    def criterion(gamma: float, C: float) -> float:
        model = RankCVM(gamma=gamma, C=C, random_state=0)
        return -float(cross_validate(model, X, Y, cv=cv, scoring=scoring)["test_score"].mean())

    gamma = min(GAMMAS, key=lambda gamma: criterion(gamma, 1.0))
    return min(criterion(gamma, C) for C in CS)


def other_folds() -> None:
    """Print the criterion of table 2 on scene in shuffled folds and in blocks of rows."""
    if not chosen(("scene",)):
        return
    jobs = {
        title: (f"rank-cvm scene criterion, {title}", partial(least_criterion, shuffled=shuffled))
        for title, shuffled in (("shuffled folds", True), ("blocks of rows", False))
    }
    lines = [(title, f"{value:.5f}") for title, value in all_of(jobs).items()]
    lines.append(("published", f"{TUNED['scene', 'Rank-CVM'][2]:.5f}"))
    print_table("Xu 2013, table 2, Rank-CVM on scene", ("folds", "criterion"), lines)


PARTS = {
    "threshold-rules": threshold_rules,
    "medical": other_medical,
    "scaling": other_scaling,
    "folds": other_folds,
}
