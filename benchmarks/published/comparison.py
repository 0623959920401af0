"""A table of published values, ours, and the differences."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from common import load_official, print_table
from multimargin import measures


@dataclass(frozen=True)
class Measure:
    """A column: a key of `all_measures`, the paper's name, and which values are better."""

    key: str
    title: str
    larger_is_better: bool


COVERAGE = Measure("coverage", "coverage", False)
ONE_ERROR = Measure("one_error", "one-error", False)
AVERAGE_PRECISION = Measure("ranking_average_precision", "avg. precision", True)
RANKING_LOSS = Measure("ranking_loss", "ranking loss", False)
HAMMING_LOSS = Measure("hamming_loss", "Hamming loss", False)
JACCARD = Measure("jaccard", "accuracy", True)
EXACT_MATCH = Measure("exact_match", "exact match", True)
EXAMPLE_F1 = Measure("example_f1", "F1", True)
MACRO_F1 = Measure("macro_f1", "macro-F1", True)
MICRO_F1 = Measure("micro_f1", "micro-F1", True)
# The last features of genbase; before them stands the name of the protein, one-hot.
MOTIFS = 1185


@dataclass(frozen=True)
class Row:
    """What a paper prints for a method on data, and what each of our runs measured."""

    data: str
    method: str
    published: Sequence[float | None]
    runs: Sequence[Sequence[float]]
    note: str = ""


def chosen(names: Iterable[str], elsewhere: Iterable[str] = ()) -> list[str]:
    """Return the data sets that were asked for (``papers.py --only``), all by default.

    Those that are `elsewhere` have to be asked for.
    """
    only = os.environ.get("MULTIMARGIN_ONLY", "").split()
    return [name for name in (*names, *elsewhere) if name in only] if only else list(names)


def as_is(name: str) -> tuple[Any, Any, Any, Any]:
    """Return the official split with the features as they are, those of genbase as 1 for YES.

    The file of genbase has its 1185 motifs as {YES, NO}, which is read as 0 and 1. Distances do not
    depend on it; the norm of a row does, and so does a network.
    """
    X, X_test, Y, Y_test = load_official(name).train_test()
    if name == "genbase":
        for part in (X, X_test):
            part[:, -MOTIFS:] = 1.0 - part[:, -MOTIFS:]
    return X, X_test, Y, Y_test


def folds(number: int) -> KFold:
    """Return shuffled folds: the rows of scene stand in the order of their labels."""
    return KFold(number, shuffle=True, random_state=0)


def dense(X: Any) -> Any:
    """Return features as an array."""
    return X.toarray() if sparse.issparse(X) else X


def compact(X: Any) -> Any:
    """Return features as a CSR matrix if most of them are 0."""
    few = not sparse.issparse(X) and np.count_nonzero(X) < 0.1 * X.size
    return sparse.csr_matrix(X) if few else X


def official(name: str) -> tuple[Any, Any, Any, Any]:
    """Return the official split with features scaled to [0, 1] on its training part."""
    X, X_test, Y, Y_test = as_is(name)
    scaler = (MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler()).fit(X)
    return scaler.transform(X), scaler.transform(X_test), Y, Y_test


def whole(name: str) -> tuple[Any, Any]:
    """Return both parts of the official split together, as they are."""
    X, X_test, Y, Y_test = as_is(name)
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    X = sparse.csr_matrix(stack([X, X_test])) if sparse.issparse(X) else stack([X, X_test])
    return X, np.vstack([Y, Y_test])


def values(columns: Iterable[Measure], model: Any, X: Any, Y: Any, **options: Any) -> list[float]:
    """Return the measures of a fitted model."""
    scores = model.label_scores(X) if hasattr(model, "label_scores") else model.decision_function(X)
    found = measures.all_measures(Y, model.predict(X), scores, **options)
    return [found[column.key] for column in columns]


def digits_of(published: Sequence[float | None]) -> int:
    """Return the number of decimals that a paper prints."""
    decimals = [len(f"{v:.6g}".partition(".")[2]) for v in published if v is not None]
    return max(decimals, default=3)


def as_good(columns: Sequence[Measure], row: Row) -> tuple[int, int]:
    """Count the measures in which our mean, rounded as the paper's, is as good or better."""
    digits = digits_of(row.published)
    means = np.mean(row.runs, axis=0).round(digits)
    counted = [
        (ours >= theirs if column.larger_is_better else ours <= theirs)
        for column, ours, theirs in zip(columns, means, row.published, strict=True)
        if theirs is not None
    ]
    return sum(map(bool, counted)), len(counted)


def print_comparison(title: str, columns: Sequence[Measure], rows: Iterable[Row]) -> None:
    """Print three lines a row: published, ours (mean and standard deviation), the difference."""
    lines = []
    for row in rows:
        digits = digits_of(row.published)
        mean, std = np.mean(row.runs, axis=0), np.std(row.runs, axis=0)
        good, counted = as_good(columns, row)
        spread = [f" ± {s:.{digits}f}" if len(row.runs) > 1 else "" for s in std]
        shown = [f"{v:.{digits}f}" if v is not None else "" for v in row.published]
        differences = [
            "" if v is None else f"{m - v:+.{digits}f}"
            for m, v in zip(mean, row.published, strict=True)
        ]
        ours = [f"{m:.{digits}f}{s}" for m, s in zip(mean, spread, strict=True)]
        if counted == 0:
            lines.append((row.data, row.method, "ours", *ours, row.note))
            continue
        lines.append((row.data, row.method, "published", *shown, ""))
        lines.append(("", "", "ours", *ours, row.note))
        lines.append(("", "", "difference", *differences, f"{good} of {counted} as good"))
    print_table(title, ("data", "method", "", *(c.title for c in columns), ""), lines)
