"""Rounds of one fit over many parts of the rows, beside the epochs of one machine.

The rounds do not depend on where the parts are, so they run in this process, one after the other.
Ask for single tables by name: ``python benchmarks/many_machines.py bibtex biases thousands``.
"""

import gzip
import json
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import normalize

from common import DATA, load_official, print_table
from local_parts import LocalParts
from many_labels import dependencies
from multimargin import RankLSVM, RankSVM
from multimargin.dask.parts import Pairs, make_part
from multimargin.dask.rounds import Settings
from multimargin.dask.solving import solve
from multimargin.datasets import load_debian_tags, load_npz
from multimargin.estimators.shared.pairwise import PairwiseClassifier

PARTS = (4, 16)
TOL = 1e-3


def debian_tags() -> tuple[Any, Any]:
    """Descriptions of packages and their tags: words in 5 descriptions, tags of 20 packages."""
    with gzip.open(DATA / "debian-tags" / "debian-tags.jsonl.gz", "rt", encoding="utf-8") as lines:
        packages = [json.loads(line) for line in lines]
    X = TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform([p["text"] for p in packages])
    names = sorted({tag for p in packages for tag in p["tags"]})
    number = {name: k for k, name in enumerate(names)}
    Y = np.zeros((len(packages), len(names)), dtype=np.uint8)
    for row, p in zip(Y, packages, strict=True):
        row[[number[tag] for tag in p["tags"]]] = 1
    return X, Y[:, Y.sum(axis=0) >= 20]


def bibtex() -> tuple[Any, Any]:
    """Bookmarks and their tags, rows of norm 1."""
    X, Y = load_official("bibtex").split("train")
    return normalize(X), Y


def rcv1subset1() -> tuple[Any, Any]:
    """News stories and their topics."""
    X, Y = load_npz(DATA / "rcv1subset1" / "rcv1subset1.npz").split("train")
    return X, Y


SETS = {"bibtex": bibtex, "rcv1subset1": rcv1subset1, "debian-tags": debian_tags}


def over_parts(estimator: PairwiseClassifier, X: Any, Y: Any, count: int) -> tuple[int, float]:
    """Return rounds and gap of a fit over parts of neighbouring rows in a random order."""
    order = np.random.default_rng(0).permutation(X.shape[0])
    parts = [
        make_part(k, X[rows], Y[rows], None, Pairs(estimator.C))
        for k, rows in enumerate(np.array_split(order, count))
    ]
    if top := getattr(estimator, "top_k", None):
        parts = [part.counting(None, top, True) for part in parts]
    settings = Settings(TOL, 300, 0, 1, None, estimator._gap)
    solution = solve(LocalParts(parts), (X.shape[1], Y.shape[1]), estimator._model(), settings)
    return solution.rounds, solution.gap


def biases() -> None:
    """Print the rounds of each kind of bias, on the counts of words that the package brings."""
    X, Y = load_debian_tags().split("train")
    X = TfidfTransformer(sublinear_tf=True).fit_transform(X).tocsr()
    rows = []
    for C in (0.3, 3.0, 10.0, 30.0):
        cells = [f"{C:g}"]
        for bias in ("none", "penalized", "free"):
            estimator = RankSVM(kernel="linear", C=C, bias=bias, tol=TOL, threshold=0.0)
            rounds, gap = over_parts(estimator, X, Y, PARTS[0])
            cells.append(str(rounds) if gap <= TOL else f"{rounds} gap {gap:.1e}")
        rows.append(cells)
    title = f"load_debian_tags in {PARTS[0]} parts, gap {TOL:g}: rounds"
    print_table(title, ("C", "no bias", "penalized", "free"), rows)


def thousands() -> None:
    """Print rounds and processor seconds with 5,692 labels, alone and in parts."""
    data, _ = dependencies(None)
    X, Y = sparse.csr_matrix(data["X"]), data["Y"]
    rows = []
    for top_k in (None, 20):
        estimator = RankSVM(
            kernel="linear", C=10.0, bias="penalized", tol=TOL, threshold=0.0, top_k=top_k
        )
        start = time.process_time()
        alone = estimator.fit(X, Y).n_iter_
        half = time.process_time()
        rounds, gap = over_parts(estimator, X, Y, PARTS[0])
        seconds = (half - start, time.process_time() - half)
        cells = (str(alone), f"{seconds[0]:.0f}", str(rounds), f"{gap:.1e}", f"{seconds[1]:.0f}")
        rows.append(("all" if top_k is None else f"top_k={top_k}", *cells))
        print(" ", *rows[-1], flush=True)
    header = ("pairs", "epochs alone", "seconds", f"rounds, {PARTS[0]} parts", "gap", "seconds")
    megabytes = 4 * X.shape[1] * Y.shape[1] / 1e6
    print_table(f"{Y.shape[1]} labels, C = 10: {megabytes:.0f} MB each way", header, rows)


TABLES = {"biases": biases, "thousands": thousands}


def main(names: list[str]) -> None:
    """Print one table a data set, and others by their names."""
    for name in names or (*SETS, *TABLES):
        if name in TABLES:
            TABLES[name]()
            continue
        X, Y = SETS[name]()
        X = sparse.csr_matrix(X)
        n, d = X.shape
        rows = []
        for loss, make in (("hinge", RankSVM), ("squared hinge", RankLSVM)):
            for C in (1.0, 10.0):
                options = {"bias": "none"} if make is RankSVM else {}
                estimator = make(kernel="linear", C=C, tol=TOL, threshold=0.0, **options)
                start = time.perf_counter()
                alone = estimator.fit(X, Y)
                cells = [loss, f"{C:g}", str(alone.n_iter_)]
                for count in PARTS:
                    rounds, gap = over_parts(estimator, X, Y, count)
                    cells.append(f"{rounds} ({rounds / alone.n_iter_:.1f} times)")
                    if gap > TOL:
                        cells[-1] += f" gap {gap:.1e}"
                rows.append([*cells, f"{time.perf_counter() - start:.0f}"])
                print(" ", *rows[-1], flush=True)
        header = ("loss", "C", "epochs alone", *(f"rounds, {p} parts" for p in PARTS), "seconds")
        title = f"{name}: {n} rows, {d} features, {Y.shape[1]} labels, gap {TOL:g}"
        print_table(title, header, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
