"""Words, what texts mean, and both: `LabelRankerCV` with views against peers that see the same.

    python benchmarks/meaning.py [tags depends medical enron bibtex] [--rows 1500] [--seeds 3]
        [--boosting]

Descriptions of Debian packages from ../shared/data: their tags (one package of each source that is
a program) and the packages that they depend on. Of medical, enron and bibtex the words of each row
are known, without their order, and stand for its text. Words are tf-idf of those in two texts or
more, meaning is `multimargin.embeddings.StaticEmbedding`. Peers: one-vs-rest logistic regression
and linear SVMs on words, on vectors and on both side by side, vectors times 1 or 3, and with
--boosting gradient boosting on vectors, which takes long; each is calibrated by
`CalibratedClassifier` and tuned on three folds by average precision. Processor seconds of this
process, tuning included.
"""

import argparse
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from common import load_official, one_of_each_source, packages, print_table, programs
from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.embeddings import StaticEmbedding
from multimargin.measures import (
    macro_f1,
    micro_f1,
    one_error,
    ranking_average_precision,
    ranking_loss,
)
from multimargin.tuning import MultilabelStratifiedKFold

SETS = ("tags", "depends", "medical", "enron", "bibtex")
# Of smaller sets three eighths of the rows.
TEST_ROWS = 900
# Of the rows that take part, in which a label is relevant.
RAREST = 0.01


def texts_and_labels(name: str, n: int, seed: int) -> tuple[list[str], Any]:
    """Return drawn texts, and the indicator of the labels that are not too rare."""
    if name == "tags":
        kept = [(row["text"], set(row["tags"])) for row in programs()]
    elif name == "depends":
        rows = one_of_each_source(packages("debian-depends"))
        kept = [(row["text"], set(row["depends"])) for row in rows]
    else:
        kept = words_and_labels(name)
    order = np.random.default_rng(seed).permutation(len(kept))[:n]
    texts, named = zip(*(kept[k] for k in order), strict=True)
    n = len(texts)
    counts = Counter(label for row in named for label in row)
    labels = sorted(k for k, count in counts.items() if RAREST * n <= count < 0.9 * n)
    return list(texts), np.array([[label in row for label in labels] for row in named], dtype=int)


def words_and_labels(name: str) -> list[tuple[str, set[str]]]:
    """Return the words of each row of a MULAN data set, side by side, and its labels."""
    data = load_official(name)
    words, labels = np.array(data.feature_names), np.array(data.label_names)
    X, Y = sparse.csr_array(data.X), sparse.csr_array(data.Y)
    return [
        (" ".join(words[X[[k]].indices]), set(labels[Y[[k]].indices])) for k in range(X.shape[0])
    ]


def measures(y: Any, model: Any, X: Any) -> list[float]:
    """Return what is printed of a fitted model."""
    scores, predicted = model.decision_function(X), model.predict(X)
    ranked = [ranking_loss(y, scores), ranking_average_precision(y, scores), one_error(y, scores)]
    return [*ranked, micro_f1(y, predicted), macro_f1(y, predicted)]


def peers(words: Any, vectors: Any, with_boosting: bool) -> dict[str, tuple[list[Any], Any]]:
    """Return the settings of each peer and the features that it sees."""
    both = [sparse.csr_matrix(sparse.hstack([words, k * vectors])) for k in (1.0, 3.0)]
    linear = [LogisticRegression(C=C, solver="liblinear") for C in (1.0, 3.0, 10.0)]
    svms = [LinearSVC(C=C) for C in (0.1, 0.3, 1.0)]
    found: dict[str, tuple[list[Any], Any]] = {}
    for name, X in {"words": [words], "meaning": [vectors], "both": both}.items():
        found[f"logistic regression, {name}"] = linear, X
        found[f"linear SVM, {name}"] = svms, X
    if with_boosting:
        boosting = HistGradientBoostingClassifier(max_iter=60, random_state=0)
        found["boosting, meaning"] = [boosting], [vectors]
    return found


def tuned(settings: list[Any], matrices: list[Any], y: Any, train: Any) -> tuple[Any, Any]:
    """Return the calibrated setting and the matrix that are best on folds."""
    folds = list(MultilabelStratifiedKFold(3, random_state=0).split(train, y[train]))
    pairs = [
        (CalibratedClassifier(OneVsRestClassifier(one)), X) for one in settings for X in matrices
    ]
    if len(pairs) == 1:
        return pairs[0]

    def value(pair: Any) -> float:
        model, X = pair
        own = X[train]
        return float(
            np.mean(
                [
                    ranking_average_precision(
                        y[train][b], model.fit(own[a], y[train][a]).decision_function(own[b])
                    )
                    for a, b in folds
                ]
            )
        )

    return max(pairs, key=value)


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", default=["tags", "depends", "medical", "enron", "bibtex"]
    )
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--boosting", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.sets:
        found: dict[str, list[list[float]]] = {}
        for seed in range(arguments.seeds):
            texts, y = texts_and_labels(name, arguments.rows + TEST_ROWS, seed)
            m = min(arguments.rows, len(texts) * 5 // 8)
            train, test = np.arange(m), np.arange(m, min(m + TEST_ROWS, len(texts)))
            table = pd.DataFrame({"text": texts})
            tf_idf = TfidfVectorizer(sublinear_tf=True, min_df=2)
            words = sparse.csr_matrix(tf_idf.fit(table.text[train]).transform(table.text))
            vectors = StaticEmbedding().fit_transform(table.text).astype(float)
            views = {
                "words": ("words", tf_idf, "text"),
                "meaning": ("meaning", StaticEmbedding(), "text"),
            }
            for label, chosen in {
                "words": ["words"],
                "meaning": ["meaning"],
                "both": [*views],
            }.items():
                start = time.process_time()
                model = LabelRankerCV(views=[views[one] for one in chosen], random_state=0)
                model.fit(table.iloc[train], y[train])
                seconds = time.process_time() - start
                row = [*measures(y[test], model, table.iloc[test]), seconds]
                found.setdefault(f"LabelRankerCV, {label}", []).append(row)
            for label, (settings, matrices) in peers(words, vectors, arguments.boosting).items():
                start = time.process_time()
                model, X = tuned(settings, matrices, y, train)
                model.fit(X[train], y[train])
                seconds = time.process_time() - start
                row = [*measures(y[test], model, X[test]), seconds]
                found.setdefault(label, []).append(row)
        head = ["", "ranking loss", "average precision", "one-error", "micro-F1", "macro-F1", "s"]
        rows = [
            [
                label,
                *(f"{v:.4f}" for v in np.mean(values, axis=0)[:-1]),
                f"{np.mean(values, axis=0)[-1]:.0f}",
            ]
            for label, values in found.items()
        ]
        print_table(f"{name}: {m} rows, {y.shape[1]} labels", head, rows)


if __name__ == "__main__":
    main()
