"""Tan et al. 2019 (mlODM): table 2; emotions, yeast, birds, enron.

Protocol: official splits, features scaled to [0, 1], rbf kernel, threshold by least squares on the
scores. gamma from 2^-10 to 2^2, C from 2^-2 to 2^10, for mlODM also theta and mu from 0.1 to 0.9,
by five folds of the training part. The paper prints neither what it tuned by nor what it chose.
Here: by (ranking loss + Hamming loss) / 2 as its predecessors, in five shuffled folds, over a part
of these grids. Enron is large and its labels are rare: the lazy search in two rounds, in five
stratified folds. Of birds the paper uses the rows with labels alone (its table 1).
"""

from math import log2
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from multimargin import MLODM, RankCVM, RankLSVM, RankSVM, RankSVMz
from multimargin.measures import get_scorer
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold
from published.comparison import (
    AVERAGE_PRECISION,
    HAMMING_LOSS,
    ONE_ERROR,
    RANKING_LOSS,
    Row,
    official,
    print_comparison,
    values,
)

COLUMNS = (RANKING_LOSS, HAMMING_LOSS, ONE_ERROR, AVERAGE_PRECISION)

METHODS = {
    "Rank-SVM": RankSVM,
    "Rank-CVM": RankCVM,
    "Rank-SVMz": RankSVMz,
    "Rank-LSVM": RankLSVM,
    "mlODM": MLODM,
}

# Table 2, in percent there.
PUBLISHED = {
    "emotions": {
        "Rank-SVM": (0.1579, 0.2005, 0.2871, 0.7996),
        "Rank-CVM": (0.1508, 0.1988, 0.2673, 0.8101),
        "Rank-SVMz": (0.1464, 0.2071, 0.2624, 0.8170),
        "Rank-LSVM": (0.1578, 0.2071, 0.2871, 0.8009),
        "mlODM": (0.1531, 0.1950, 0.2574, 0.8156),
    },
    "yeast": {
        "Rank-SVM": (0.1582, 0.1908, 0.2312, 0.7698),
        "Rank-CVM": (0.1597, 0.1962, 0.2279, 0.7700),
        "Rank-SVMz": (0.1660, 0.1929, 0.2334, 0.7676),
        "Rank-LSVM": (0.1597, 0.1927, 0.2388, 0.7663),
        "mlODM": (0.1583, 0.1908, 0.2254, 0.7707),
    },
    "birds": {
        "Rank-SVM": (0.1644, 0.0838, 0.4302, 0.6156),
        "Rank-CVM": (0.1603, 0.0804, 0.4360, 0.6100),
        "Rank-SVMz": (0.1677, 0.0900, 0.4477, 0.6127),
        "Rank-LSVM": (0.1626, 0.0799, 0.4244, 0.6163),
        "mlODM": (0.1542, 0.0780, 0.4244, 0.6204),
    },
    "enron": {
        "Rank-SVM": (0.0737, 0.0463, 0.2211, 0.7064),
        "Rank-CVM": (0.0801, 0.0485, 0.2470, 0.6770),
        "Rank-SVMz": (0.0910, 0.0605, 0.3299, 0.6610),
        "Rank-LSVM": (0.0710, 0.0461, 0.2159, 0.7117),
        "mlODM": (0.0762, 0.0485, 0.2642, 0.6917),
    },
}

# Found with the test part at hand: shows that the model reaches the published values inside the
# paper's grid, not what tuning would give.
REACHING = {"emotions": {"gamma": 0.5, "C": 8.0, "theta": 0.2, "mu": 0.4}}

GRID = {"gamma": [2.0**k for k in range(-6, 3)], "C": [2.0**k for k in range(-2, 9, 2)]}
MLODM_GRID = {
    "gamma": [2.0**k for k in range(-4, 2)],
    "C": [1.0, 4.0, 16.0, 64.0],
    "theta": [0.1, 0.4, 0.7, 0.9],
    "mu": [0.1, 0.4, 0.7, 0.9],
}
TENTHS = [tenths / 10 for tenths in range(1, 10)]
LAZY_GRID = {"gamma": [2.0**k for k in range(-10, 3)], "C": [2.0**k for k in range(-2, 11)]}


def labelled(name: str) -> tuple[Any, Any, Any, Any]:
    """Return the official split without the rows that have no label."""
    X, X_test, Y, Y_test = official(name)
    kept, kept_test = (np.flatnonzero(part.any(axis=1)) for part in (Y, Y_test))
    return X[kept], X_test[kept_test], Y[kept], Y_test[kept_test]


def tuned(method: str, X: Any, Y: Any, *, lazy: bool) -> Any:
    """Search on the training part; return the method fitted with what was found."""
    scoring = get_scorer("neg_ranking_hamming")
    if lazy:
        extra = {"theta": TENTHS, "mu": TENTHS} if method == "mlODM" else {}
        search = LazySearchCV(
            METHODS[method](random_state=0),
            LAZY_GRID | extra,
            start={"C": 1.0},
            n_rounds=2,
            scoring=scoring,
            cv=MultilabelStratifiedKFold(5),
        )
        return search.fit(X, Y).best_estimator_
    search = GridSearchCV(
        METHODS[method](tol=1e-2, random_state=0),
        MLODM_GRID if method == "mlODM" else GRID,
        scoring=scoring,
        cv=KFold(5, shuffle=True, random_state=0),
        refit=False,
    ).fit(X, Y)
    return METHODS[method](**search.best_params_, random_state=0).fit(X, Y)


def noted(best: Any) -> str:
    """Return the parameters of a fitted method."""
    note = f"gamma 2^{log2(best.gamma):g}, C 2^{log2(best.C):g}"
    return note + f", theta {best.theta:g}, mu {best.mu:g}" if isinstance(best, MLODM) else note


def tables() -> None:
    """Print the table, one part a data set."""
    rows = []
    for name, parameters in REACHING.items():
        X, X_test, Y, Y_test = labelled(name)
        model = MLODM(**parameters, random_state=0).fit(X, Y)
        found = [values(COLUMNS, model, X_test, Y_test)]
        rows.append(Row(name, "mlODM", PUBLISHED[name]["mlODM"], found, noted(model)))
    title = "Tan et al. 2019, table 2: mlODM, parameters chosen on the test part"
    print_comparison(title, COLUMNS, rows)
    for name, published in PUBLISHED.items():
        X, X_test, Y, Y_test = labelled(name)
        rows = []
        for method, row in published.items():
            best = tuned(method, X, Y, lazy=name == "enron")
            rows.append(
                Row(name, method, row, [values(COLUMNS, best, X_test, Y_test)], noted(best))
            )
        print_comparison(
            f"Tan et al. 2019, table 2: {name}, tuned on the training part", COLUMNS, rows
        )
