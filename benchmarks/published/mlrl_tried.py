"""Zhang & Yeung 2013 (MLRL): what was tried where its rows do not come out.

rcv1: the first of the ten folds of rcv1(subset1), by lambda beyond the ends that matter, by rows as
they are, by the rbf kernel and by few rounds of the published alternation. yeast: the first fold by
lambda, kernel width and scaling. Both with the scores, and with the scores without the biases. No
parameter is chosen: what a choice could give is in the table. Of yeast also all folds at two narrow
kernels, found on the first. scene: all folds with lambda in steps of 4.
"""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from common import print_table
from multimargin import MLRL
from multimargin.measures import all_measures, get_scorer
from published.comparison import Row, chosen, folds, print_comparison, values
from published.mlrl import COLUMNS, FOLDS, LINEAR, fold, rows_of, scaled
from published.printed import printed
from published.runs import all_of

UNIT, PLAIN, RBF = "linear, rows of unit norm", "linear, rows as they are", "rbf, unit norm"
# What is fitted, lambda n, and the rounds of the published alternation where it is that.
ON_RCV1 = (
    *((UNIT, weight, 0) for weight in (1.0, 0.1, 0.01, 0.001)),
    *((PLAIN, weight, 0) for weight in (100.0, 10.0, 1.0)),
    *((RBF, weight, 0) for weight in (0.1, 0.01)),
    *((UNIT, 0.01, rounds) for rounds in (1, 5, 15)),
)
SCALINGS = ("[0, 1]", "as they are", "unit variance")
WIDTHS = (0.25, 0.5, 1.0, 2.0)
ON_YEAST = tuple(product(SCALINGS, WIDTHS, (0.001, 0.01, 0.1, 1.0, 10.0)))
# Width and lambda n.
NARROW = ((0.5, 0.1), (0.25, 0.01))
STEPS_OF_4 = [0.005 * 4.0**k for k in range(5)]


def with_and_without_biases(model: Any, X: Any, Y: Any) -> list[list[float]]:
    """Return the measures of a fitted model by its scores, and by its scores less the biases."""
    scores, labels = model.decision_function(X), model.predict(X)
    found = [all_measures(Y, labels, own) for own in (scores, scores - model.intercept_)]
    return [[own[column.key] for column in COLUMNS] for own in found]


def on_rcv1(form: str, weight: float, rounds: int) -> list[list[float]]:
    """Measure MLRL on the first fold of rcv1(subset1)."""
    X, X_test, Y, Y_test = fold(LINEAR, 0)
    if form == PLAIN:
        X = rows_of(LINEAR)[0]
        train, test = next(iter(folds(FOLDS).split(X)))
        X, X_test = X[train], X[test]
    kernel: dict[str, Any] = {"gamma": "mean_distance"} if form == RBF else {"kernel": "linear"}
    loop: dict[str, Any] = {"solver": "alternating", "max_iter": rounds} if rounds else {}
    model = MLRL(weight / len(Y), **kernel, **loop).fit(X, Y)
    return with_and_without_biases(model, X_test, Y_test)


def print_tried(name: str, tried: Mapping[tuple[str, ...], list[list[float]]]) -> None:
    """Print a line for the scores, and one for those without the biases, of all that was tried."""
    theirs = printed("mlrl")
    lines = [
        ("", "", "", "published", *(f"{theirs[c.key].loc[name, 'MLRL']:.4f}" for c in COLUMNS))
    ]
    for key, pair in tried.items():
        for biases, row in zip(("scores", "without biases"), pair, strict=True):
            lines.append((*key, biases, *(f"{value:.4f}" for value in row)))
    header = ("features, kernel", "lambda n", "", "ranked by", *(c.title for c in COLUMNS))
    print_table(f"Zhang & Yeung 2013, MLRL on {name}, first fold: what was tried", header, lines)


def other_rcv1() -> None:
    """Print what was tried on rcv1(subset1)."""
    if not chosen((LINEAR,)):
        return
    jobs = {
        (
            form,
            f"{weight:g}",
            f"{rounds} rounds of alternation" if rounds else "to a gap of 1e-3",
        ): (
            f"mlrl {LINEAR} tried {form} lambda {weight:g} rounds {rounds}",
            partial(on_rcv1, form, weight, rounds),
        )
        for form, weight, rounds in ON_RCV1
    }
    print_tried(LINEAR, all_of(jobs))


def on_yeast(scaling: str, width: float, weight: float, number: int = 0) -> list[list[float]]:
    """Measure MLRL on a fold of yeast; the width is in units of the mean distance."""
    X, Y = scaled("yeast") if scaling == SCALINGS[0] else rows_of("yeast")
    if scaling == "unit variance":
        X = StandardScaler().fit_transform(X)
    train, test = list(folds(FOLDS).split(X))[number]
    gamma = 1.0 / (2.0 * (width * float(pdist(X[train]).mean())) ** 2)
    model = MLRL(weight / len(train), gamma=gamma).fit(X[train], Y[train])
    return with_and_without_biases(model, X[test], Y[test])


def other_yeast() -> None:
    """Print, of all that was tried on yeast, the best by each measure."""
    if not chosen(("yeast",)):
        return
    jobs = {
        (f"{scaling}, width {width:g}", f"{weight:g}"): (
            f"mlrl yeast tried {scaling} width {width:g} lambda {weight:g}",
            partial(on_yeast, scaling, width, weight),
        )
        for scaling, width, weight in ON_YEAST
    }
    found = all_of(jobs)
    if not found:
        return
    theirs = printed("mlrl")
    keys = [(*key, by) for key in found for by in ("scores", "without biases")]
    table = np.array([row for pair in found.values() for row in pair])
    lines = []
    for k, column in enumerate(COLUMNS):
        best = table[:, k].argmax() if column.larger_is_better else table[:, k].argmin()
        published = float(theirs[column.key].loc["yeast", "MLRL"])
        lines.append((column.title, f"{published:.4f}", f"{table[best, k]:.4f}", *keys[best]))
    header = ("measure", "published", "best of all", "features, width", "lambda n", "ranked by")
    title = (
        f"Zhang & Yeung 2013, MLRL on yeast, first fold: the best of {len(table)} by each measure"
    )
    print_table(title, header, lines)
    print_narrow([float(theirs[column.key].loc["yeast", "MLRL"]) for column in COLUMNS])


def print_narrow(published: list[float]) -> None:
    """Print the ten folds of yeast at narrow kernels, found on the first of them."""
    rows = []
    for width, weight in NARROW:
        jobs = {
            number: (
                f"mlrl yeast narrow {width:g} lambda {weight:g} fold {number}",
                partial(on_yeast, SCALINGS[0], width, weight, number),
            )
            for number in range(FOLDS)
        }
        runs = [scores for scores, _ in all_of(jobs).values()]
        if runs:
            rows.append(
                Row("yeast", "MLRL", published, runs, f"width {width:g}, lambda n {weight:g}")
            )
    print_comparison("Zhang & Yeung 2013, MLRL on yeast, ten folds", COLUMNS, rows)


def in_steps_of_4(number: int) -> list[float]:
    """Measure MLRL on a fold of scene, lambda n from 0.005 to 1.28 in steps of 4."""
    X, X_test, Y, Y_test = fold("scene", number)
    grid = {"lam": [weight / len(Y) for weight in STEPS_OF_4]}
    scoring = get_scorer("neg_ranking_loss")
    search = GridSearchCV(MLRL(gamma="mean_distance"), grid, scoring=scoring, cv=folds(3))
    return values(COLUMNS, search.fit(X, Y).best_estimator_, X_test, Y_test)


def other_scene() -> None:
    """Print MLRL on scene with lambda in steps of 4."""
    if not chosen(("scene",)):
        return
    jobs = {
        number: (f"mlrl scene steps of 4 fold {number}", partial(in_steps_of_4, number))
        for number in range(FOLDS)
    }
    runs = list(all_of(jobs).values())
    theirs = printed("mlrl")
    published = [float(theirs[column.key].loc["scene", "MLRL"]) for column in COLUMNS]
    rows = [Row("scene", "MLRL", published, runs, "lambda in steps of 4")] if runs else []
    print_comparison("Zhang & Yeung 2013, MLRL on scene, ten folds", COLUMNS, rows)


PARTS = {"rcv1": other_rcv1, "yeast": other_yeast, "scene": other_scene}
