"""Xu 2013 (Rank-CVM): what was tried where the paper does not say what it did.

threshold-rules: how labels may be predicted from the scores of the published loop. Of the
thresholds of a training row with the fewest errors the lowest, the highest or the mean; a step
beyond the last score where one of them has no end; and whether a test row without a label gets that
of its largest score. medical: the coverage of ML-kNN on other splits and other features.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from common import print_table
from multimargin.baselines import MLkNN
from published.comparison import COVERAGE, HAMMING_LOSS, chosen, dense, values, whole
from published.own_threshold import CHOICES, values_by_it
from published.printed import printed
from published.rank_cvm import DATA_SETS, model_of, split_of
from published.runs import all_of

STEPS = (1e-9, 1e-3, 0.1, 1.0)
SPLITS = ("second part", "first 645 of both parts", "last 645, second part first")
FEATURES = ("unit norm", "tf-idf", "unit variance")


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
    """Print how many rules give the printed Hamming loss, and the rules that do so somewhere."""
    names = chosen(DATA_SETS)
    found = all_of(
        {name: (f"rank-cvm {name} threshold rules", partial(losses, name)) for name in names}
    )
    theirs = printed("rank_cvm")[HAMMING_LOSS.key]["Rank-CVM"]
    lines = []
    for k, (way, step, full) in enumerate(product(CHOICES, STEPS, (False, True))):
        ours = {name: round(own[k], 5) for name, own in found.items()}
        as_printed = [name for name, loss in ours.items() if loss == round(theirs[name], 5)]
        if as_printed:
            cells = (f"{loss:.5f}" for loss in ours.values())
            lines.append((way, f"{step:g}", "yes" if full else "no", *cells))
    header = ("threshold", "beyond the ends", "never empty", *found)
    rules = len(CHOICES) * len(STEPS) * 2
    title = f"Xu 2013, Rank-CVM: the rules, of {rules}, that give a printed Hamming loss"
    lines.append(("published", "", "", *(f"{theirs[name]:.5f}" for name in found)))
    print_table(title, header, lines)


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


PARTS = {"threshold-rules": threshold_rules, "medical": other_medical}
