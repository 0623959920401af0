"""What one call costs: `LabelRankerCV` at its defaults beside one-vs-rest peers, at many sizes.

    python benchmarks/one_call.py [CASE ...] [--peers "logistic regression" ...] [--limit 1800]

Each fit has a process of its own and one thread; seconds are those of its processor, with the
search and all that is calibrated; memory is the largest that the process held. Of peers the better
of two settings counts, for each measure on the test rows, and the larger of both seconds. Texts and
their labels are the descriptions and dependencies of Debian packages, or their tags, from
../shared/data (vectors by `StaticEmbedding`); larger cases are made up, and of these with many
labels a peer has one setting and none is calibrated. Of thousands of labels the five best are
measured, on rows with a label, beside `RankSVM` alone. A peer has --limit processor seconds for
each setting, with the data; then it is ended and its line says so. Each line goes to standard error
as soon as it is known, the tables to standard output.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import made_up
from common import in_short_indices, packages, print_table, programs, sized
from many_labels import dependencies
from multimargin import CalibratedClassifier, LabelRankerCV, RankSVM, predict_top
from multimargin.measures import (
    auc_macro,
    macro_average_precision,
    macro_f1,
    micro_f1,
    precision_at_k,
    ranking_average_precision,
)

Data = tuple[Any, Any, Any, Any]


def _drawn(rows: list[dict[str, Any]], of: str, names: list[str], n: int) -> Any:
    """Return n rows in a random order, and the indicator of their labels."""
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    chosen = [rows[k] for k in order]
    y = np.zeros((len(chosen), len(names)), dtype=int)
    places = {name: place for place, name in enumerate(names)}
    for row, one in enumerate(chosen):
        y[row, [places[label] for label in one[of] if label in places]] = 1
    return [one["text"] for one in chosen], y


def _words(texts: list[str], min_df: int) -> Any:
    words = TfidfVectorizer(sublinear_tf=True, min_df=min_df)
    return in_short_indices(words.fit_transform(texts))


def _parts(X: Any, y: Any, n: int) -> Data:
    n = sized(n, 3 * y.shape[0] // 4)
    return X[:n], X[n:], y[:n], y[n:]


def text() -> Data:
    """20,000 descriptions, the 300 most frequent dependencies."""
    rows = packages("debian-depends")
    counts = Counter(label for row in rows for label in row["depends"])
    names = [label for label, _ in counts.most_common(300)]
    known = set(names)
    rows = [row for row in rows if known & set(row["depends"])]
    texts, y = _drawn(rows, "depends", names, 24_000)
    return _parts(_words(texts, 5), y, 20_000)


def _tagged() -> tuple[list[str], Any]:
    rows = programs()
    counts = Counter(tag for row in rows for tag in row["tags"])
    names = [tag for tag, _ in counts.most_common(41) if tag != "role::program"]
    return _drawn(rows, "tags", names, 3_100)


def vectors() -> Data:
    """2,200 descriptions as vectors, 40 tags."""
    from multimargin.embeddings import StaticEmbedding

    texts, y = _tagged()
    return _parts(StaticEmbedding().fit_transform(texts).astype(float), y, 2_200)


def hashed() -> Data:
    """2,200 descriptions as words that are hashed to 2^20 columns, 40 tags."""
    texts, y = _tagged()
    return _parts(HashingVectorizer(alternate_sign=False).fit_transform(texts), y, 2_200)


def rare() -> Data:
    """8,000 descriptions, six dependencies of 2 %: nine rows in ten have none."""
    rows = packages("debian-depends")
    counts = Counter(label for row in rows for label in row["depends"])
    low, high = 0.015 * len(rows), 0.025 * len(rows)
    names = [label for label, count in counts.items() if low < count < high][:6]
    texts, y = _drawn(rows, "depends", names, 12_000)
    return _parts(_words(texts, 2), y, 8_000)


def many_rare() -> Data:
    """160,000 made-up texts, six labels of 2 %."""
    X, y = made_up.moderation(170_000)
    return _parts(X, y, 160_000)


def many_texts() -> Data:
    """200,000 made-up texts, 100 labels of 3 %."""
    X, y = made_up.moderation(210_000, labels=100, share=0.03, noise=0.5)
    return _parts(X, y, 200_000)


def many_columns() -> Data:
    """100,000 rows of 60 made-up columns, 50 labels."""
    X, y = made_up.columns(110_000, 60, 50)
    return _parts(X, y, 100_000)


def register() -> Data:
    """150,000 rows of 20 made-up columns, 8 labels that no plane divides."""
    X, y = made_up.corners(160_000, 20, 8)
    return _parts(X, y, 150_000)


def table() -> Data:
    """20,000 rows of eight made-up numbers and four names, of 2,500 towns and others, 10 labels."""
    X, y = made_up.sales(24_000)
    return _parts(X, y, 20_000)


def thousands() -> Data:
    """36,371 descriptions, 5,692 dependencies."""
    parts, _ = dependencies(None)
    return parts["X"], parts["X_test"], parts["Y"], parts["Y_test"]


CASES: dict[str, Callable[[], Data]] = {
    one.__name__: one
    for one in (
        text,
        vectors,
        hashed,
        rare,
        many_rare,
        many_texts,
        many_columns,
        register,
        table,
        thousands,
    )
}


def logistic(C: float) -> Any:
    """One-vs-rest logistic regression."""
    return OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))


def of_table(names: Any, classifier: Any) -> Any:
    """Return a classifier of a table whose names are encoded, and whose numbers have gaps."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    columns = make_column_transformer(
        (names, make_column_selector(dtype_include=object)),
        (numbers, make_column_selector(dtype_include=float)),
    )
    return make_pipeline(columns, classifier)


ONE_HOT = OneHotEncoder(handle_unknown="ignore")

PEERS: dict[str, list[Any]] = {
    "logistic regression": [logistic(1.0), logistic(10.0)],
    "logistic regression, calibrated": [
        CalibratedClassifier(logistic(1.0)),
        CalibratedClassifier(logistic(10.0)),
    ],
    "LinearSVC": [OneVsRestClassifier(LinearSVC(C=C)) for C in (0.1, 1.0)],
    "SGD, logistic loss": [
        OneVsRestClassifier(SGDClassifier(loss="log_loss", alpha=alpha, random_state=0))
        for alpha in (1e-5, 1e-4)
    ],
}
PEERS_OF_MANY: dict[str, list[Any]] = {
    "logistic regression": [logistic(10.0)],
    "LinearSVC": [OneVsRestClassifier(LinearSVC(C=0.1))],
    "SGD, logistic loss": [
        OneVsRestClassifier(SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0))
    ],
}
PEERS_OF_REGISTER: dict[str, list[Any]] = {
    "logistic regression": [logistic(1.0)],
    "boosting": [
        OneVsRestClassifier(HistGradientBoostingClassifier(learning_rate=rate, random_state=0))
        for rate in (0.1, 0.2)
    ],
    "boosting, calibrated": [
        CalibratedClassifier(OneVsRestClassifier(HistGradientBoostingClassifier(random_state=0)))
    ],
    "random forest, calibrated": [
        CalibratedClassifier(
            RandomForestClassifier(100, min_samples_leaf=2, max_samples=0.2, random_state=0)
        )
    ],
}
PEERS_OF_TABLE: dict[str, list[Any]] = {
    "logistic regression, one-hot": [
        OneVsRestClassifier(of_table(ONE_HOT, LogisticRegression(C=C, max_iter=1000)))
        for C in (0.3, 1.0)
    ],
    "boosting, target encoding": [
        OneVsRestClassifier(
            of_table(
                TargetEncoder(target_type="binary", random_state=0),
                HistGradientBoostingClassifier(learning_rate=rate, random_state=0),
            )
        )
        for rate in (0.05, 0.1)
    ],
    "boosting, target encoding, calibrated": [
        CalibratedClassifier(
            OneVsRestClassifier(
                of_table(
                    TargetEncoder(target_type="binary", random_state=0),
                    HistGradientBoostingClassifier(random_state=0),
                )
            )
        )
    ],
}
PEERS_OF_THOUSANDS: dict[str, list[Any]] = {
    "RankSVM(top_k=20)": [
        RankSVM(C=10.0, kernel="linear", bias="penalized", top_k=20, threshold=0.0, random_state=0)
    ]
}
OURS = "LabelRankerCV"
# Of other cases `PEERS`
PEERS_OF_CASES = {
    "many_texts": PEERS_OF_MANY,
    "many_columns": PEERS_OF_MANY,
    "register": PEERS_OF_REGISTER,
    "table": PEERS_OF_TABLE,
    "thousands": PEERS_OF_THOUSANDS,
}
NAMES = PEERS | PEERS_OF_REGISTER | PEERS_OF_TABLE
HEADS = ("P@1", "P@3", "P@5")
MEASURES = ("P@1", "average precision", "macro AP", "AUC", "micro-F1", "macro-F1")


def fit(case: str, method: str, place: int) -> dict[str, Any]:
    """Fit and return measures of the test rows, processor seconds and megabytes."""
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = CASES[case]()
    peers = PEERS_OF_CASES.get(case, PEERS)
    model: Any = LabelRankerCV(random_state=0)
    if method != OURS:
        model = peers[method][place]
    elif case == table.__name__:
        model = of_table(ONE_HOT, model)
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        if sparse.issparse(y):
            values = of_heads(model, X_test, y_test)
        else:
            values = of_all(model, X_test, y_test)
    return {
        "values": values,
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def of_all(model: Any, X: Any, y: Any) -> list[float]:
    """Return the measures of test rows."""
    scores, predicted = model.decision_function(X), model.predict(X)
    told = y.any(axis=1)
    return [
        precision_at_k(y[told], scores[told], k=1),
        ranking_average_precision(y[told], scores[told]),
        macro_average_precision(y, scores),
        auc_macro(y, scores),
        micro_f1(y, predicted),
        macro_f1(y, predicted),
    ]


def of_heads(model: Any, X: Any, y: Any) -> list[float]:
    """Return precisions at 1, 3 and 5 on test rows with a label."""
    told = np.flatnonzero(np.diff(y.indptr))
    best, _ = predict_top(model, X[told], 5)
    hits = y[told[:, None], best].toarray()
    return [float(hits[:, :k].mean()) for k in (1, 3, 5)]


def apart(case: str, method: str, place: int, limit: int) -> dict[str, Any]:
    """Return what `fit` does, in a process of its own."""
    command = [sys.executable, __file__, case, "--fit", method, str(place), "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measures_of(case: str) -> tuple[str, ...]:
    """Return the names of the measures of a case."""
    return HEADS if case == thousands.__name__ else MEASURES


def line_of(case: str, method: str, n_settings: int, limit: int) -> list[str]:
    """Return the best measures over the settings of a method, most seconds and megabytes."""
    try:
        found = [apart(case, method, place, limit) for place in range(n_settings)]
    except subprocess.CalledProcessError as error:
        if error.returncode != -signal.SIGXCPU:
            raise
        return [*["-"] * len(measures_of(case)), f"> {limit}", "-"]
    best = np.max([one["values"] for one in found], axis=0)
    seconds, megabytes = (max(one[k] for one in found) for k in ("seconds", "megabytes"))
    return [*(f"{value:.4f}" for value in best), f"{seconds:.1f}", f"{megabytes:.0f}"]


def main() -> None:
    """Print a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--peers", nargs="*", choices=NAMES, default=list(NAMES))
    parser.add_argument("--limit", type=int, default=1800)
    chosen = parser.parse_args()
    if chosen.fit:
        if chosen.fit[0] != OURS:
            _, most = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (chosen.limit, most))
        print(json.dumps(fit(chosen.cases[0], chosen.fit[0], int(chosen.fit[1]))))
        return
    if unknown := set(chosen.cases) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}; expected some of {', '.join(CASES)}")
    for case in chosen.cases:
        rows = []
        peers = PEERS_OF_CASES.get(case, PEERS)
        if peers is not PEERS_OF_THOUSANDS:
            peers = {name: peers[name] for name in chosen.peers if name in peers}
        for method, settings in {OURS: [None], **peers}.items():
            rows.append([method, *line_of(case, method, len(settings), chosen.limit)])
            print(f"{case}: {'  '.join(rows[-1])}", file=sys.stderr, flush=True)
        title = CASES[case].__doc__.splitlines()[0]
        print_table(title, ["", *measures_of(case), "s", "MB"], rows)


if __name__ == "__main__":
    main()
