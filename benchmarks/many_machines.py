"""Rounds of one fit over many parts of the rows, of both methods and by the rule between them.

The rounds do not depend on where the parts are, so they run in this process, one after the other.
Ask for single tables by name: ``python benchmarks/many_machines.py bibtex biases thousands``.
"""

import gzip
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from common import DATA, load_official, print_table, sized
from many_labels import dependencies
from multimargin import RankLSVM, RankSVM
from multimargin.dask import rounds as loop
from multimargin.dask import solving
from multimargin.dask.parts import Pairs, make_part
from multimargin.dask.rounds import Settings
from multimargin.datasets import load_debian_tags, load_npz
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from tests.support.local_parts import LocalParts

PARTS = (4, 16)
TOL = 1e-3
MOST_ROUNDS = sized(400, 2)

# The rounds of the splitting do not depend on the parts.
WHICH = (("CoCoA+", 4), ("CoCoA+", 16), ("splitting", 4), ("rule", 4), ("rule", 16))


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


def rcv1subset1() -> tuple[Any, Any]:
    """News stories and their topics."""
    X, Y = load_npz(DATA / "rcv1subset1" / "rcv1subset1.npz").split("train")
    return X, Y


def unit_rows(name: str) -> tuple[Any, Any]:
    """Text, rows of norm 1."""
    X, Y = load_official(name).split("train")
    return normalize(sparse.csr_matrix(X)), Y


def standardised(name: str) -> tuple[Any, Any]:
    """Dense features of mean 0 and variance 1."""
    X, Y = load_official(name).split("train")
    return StandardScaler().fit_transform(sparse.csr_matrix(X).toarray()), Y


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{k: partial(standardised, k) for k in ("emotions", "yeast", "scene", "birds")},
    **{k: partial(unit_rows, k) for k in ("medical", "enron", "bibtex")},
    "rcv1subset1": rcv1subset1,
    "debian-tags": debian_tags,
}

# What holds for the module of the rounds, so that one method does all or nearly all of them.
METHODS: dict[str, dict[str, Any]] = {
    "CoCoA+": {"_PATIENCE": np.inf},
    "splitting": {"_PACE": 2, "_PATIENCE": 0},
    "rule": {"_PATIENCE": loop._PATIENCE},
}


def over_parts(
    estimator: PairwiseClassifier, X: Any, Y: Any, count: int, method: str = "rule"
) -> tuple[int, float]:
    """Return rounds and gap of a fit over parts of neighbouring rows in a random order."""
    order = np.random.default_rng(0).permutation(X.shape[0])
    parts = [
        make_part(k, X[rows], Y[rows], None, Pairs(estimator.C))
        for k, rows in enumerate(np.array_split(order, count))
    ]
    if top := getattr(estimator, "top_k", None):
        parts = [part.counting(None, top, True) for part in parts]
    settings = Settings(TOL, MOST_ROUNDS, 0, 1, None, estimator._gap)
    shape = X.shape[1], Y.shape[1]
    most = 0 if method == "CoCoA+" else solving.MOST_FEATURES
    with patch.multiple(loop, **METHODS[method]), patch.object(solving, "MOST_FEATURES", most):
        solution = solving.solve_over_parts(LocalParts(parts), shape, estimator._model(), settings)
    return solution.rounds, solution.gap


def of_rounds(number: int, gap: float) -> str:
    return f"{number}" if gap <= TOL else f"{number} gap {gap:.1e}"


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
    """Print one table per data set, and others by their names."""
    for name in names or (*SETS, *TABLES):
        if name in TABLES:
            TABLES[name]()
            continue
        of_a_set(name)


def of_a_set(name: str) -> None:
    """Print the rounds for losses, C and pairs."""
    X, Y = SETS[name]()
    rows = []
    for estimator in (
        *(RankSVM(C=C, bias="none") for C in (1.0, 10.0, 100.0)),
        *(RankSVM(C=C, bias="penalized") for C in (1.0, 10.0, 100.0)),
        *(RankSVM(C=C, bias="free") for C in (1.0, 10.0, 100.0)),
        *(RankSVM(C=C, bias="none", top_k=k) for C in (1.0, 10.0) for k in (1, 5)),
        *(RankLSVM(C=C) for C in (1.0, 10.0)),
    ):
        estimator.set_params(kernel="linear", tol=TOL, threshold=0.0)
        start = time.perf_counter()
        cells = [of_rounds(*over_parts(estimator, X, Y, count, method)) for method, count in WHICH]
        loss = "squared hinge" if isinstance(estimator, RankLSVM) else "hinge"
        bias = getattr(estimator, "bias", "penalized")
        top = "all" if estimator.top_k is None else f"top {estimator.top_k}"
        seconds = f"{time.perf_counter() - start:.0f}"
        rows.append([loss, bias, top, f"{estimator.C:g}", *cells, seconds])
        print(" ", *rows[-1], flush=True)
    blocks, rule = ([f"{m}, {p} parts" for p in PARTS] for m in ("CoCoA+", "rule"))
    header = ("loss", "bias", "pairs", "C", *blocks, "splitting", *rule, "seconds")
    title = f"{name}: {X.shape[0]} rows, {X.shape[1]} features, {Y.shape[1]} labels, gap {TOL:g}"
    print_table(title, header, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
