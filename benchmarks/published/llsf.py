"""Huang et al. 2015 (LLSF): tables I to IX, genbase, medical, bibtex and rcv1(subset1).

rcv1(subset1) is the file with 944 features that circulates with the paper's program, as the paper
used it: the label columns of its second half sit one column too early. The repaired data stand
beside it, and are compared with nothing that is printed.

Protocol of the paper: five random parts, 80 % for training; rows of unit norm, of which the paper
says nothing but its program (run.m of JunHuangUCAS/LLSF) does; alpha, beta, gamma = 0.1, 0.1, 0.01
for LLSF alone and 0.5, 0.1, 0.01 as a selector; binary classifiers are libsvm with a linear kernel
and C = 1. On bibtex and rcv1 they are liblinear with the hinge loss and C = 1, the same
problem but for a penalty on the bias: libsvm takes minutes a part and method there.

"LLSF" is the published loop (100 iterations), as in the paper; "convex" is the optimum of the
convex form. Features are selected by both. BKNN is `published.rivals.BRkNN` (five neighbours,
alpha 0.5), without the discriminant analysis, which is not public; LIFT has r = 0.1, and it gets
the rows as they are: so it is near its printed rows, and on rows of unit norm far from them.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from common import DATA, print_note, print_table
from multimargin import LLSF, LabelSpecificBinaryRelevance, LabelSpecificClassifierChain
from multimargin.compare.statistics.ranks import average_ranks
from published.comparison import (
    AVERAGE_PRECISION,
    EXACT_MATCH,
    EXAMPLE_F1,
    HAMMING_LOSS,
    JACCARD,
    MACRO_F1,
    MICRO_F1,
    MOTIFS,
    Measure,
    chosen,
    values,
    whole,
)
from published.layout import means, print_data, print_measures
from published.printed import printed
from published.rivals import LIFT, BRkNN
from published.runs import all_of
from published.statistics import pairwise_counts, total_order

COLUMNS = (
    HAMMING_LOSS,
    JACCARD,
    EXACT_MATCH,
    EXAMPLE_F1,
    MACRO_F1,
    MICRO_F1,
    AVERAGE_PRECISION,
)
SPLITS = 5
REPAIRED = "rcv1(subset1)-repaired"
DATA_SETS = ("genbase", "medical", "bibtex", "rcv1(subset1)", REPAIRED)
LARGE = ("bibtex", "rcv1(subset1)", REPAIRED)
FORMS = {"": False, ", convex": True}
# Beside each of our columns, the printed one.
PRINTS = {
    "BKNN": "BKNN",
    "LIFT": "LIFT",
    "LLSF": "LLSF",
    "LLSF, convex": "LLSF",
    "BSVM": "BSVM",
    "LLSF-BSVM": "LLSF-BSVM",
    "LLSF-BSVM, convex": "LLSF-BSVM",
    "CC": "CC",
    "LLSF-CC": "LLSF-CC",
    "LLSF-CC, convex": "LLSF-CC",
}
RIVALS = ("BKNN", "LIFT", "BSVM", "CC")
AS_THEY_ARE = ("LIFT",)
# Table I: rows, features, labels, labels a row.
TABLE_I = {
    "genbase": (645, 1186, 27, 1.252),
    "medical": (978, 1449, 45, 1.245),
    "bibtex": (7395, 1836, 159, 2.402),
    "rcv1(subset1)": (6000, 944, 101, 2.88),
}
# Table IX: better, tied, worse, of the seven measures.
TABLE_IX = {
    "LLSF": ("6/0/1", "6/0/1", "1/2/4", "2/0/5"),
    "LLSF-BSVM": ("7/0/0", "7/0/0", "7/0/0", "6/0/1"),
    "LLSF-CC": ("6/0/1", "5/0/2", "5/0/2", "7/0/0"),
}


class Chosen(BaseEstimator):  # type: ignore[misc]
    """Hands out supports that were selected before, so that both strategies share one selection."""

    def __init__(self, supports: Any = None) -> None:
        self.supports = supports

    def fit(self, X: Any, y: Any) -> "Chosen":
        """Take the supports over."""
        self.label_specific_features_ = self.supports
        return self


def classifier(name: str) -> Any:
    """Return the binary classifier."""
    if name in LARGE:
        return LinearSVC(loss="hinge", C=1.0, max_iter=20_000, random_state=0)
    return SVC(kernel="linear", C=1.0, max_iter=1_000_000)


def load(name: str, *, unit: bool = True) -> tuple[Any, Any]:
    """Return all rows, of unit norm or as they are."""
    own = {"rcv1(subset1)": rcv1, REPAIRED: repaired_rcv1, "genbase": genbase}
    X, Y = own[name]() if name in own else whole(name)
    return sparse.csr_matrix(normalize(X) if unit else X), Y


def genbase() -> tuple[Any, Any]:
    """Return genbase without the name of the protein, of which each is there once."""
    X, Y = whole("genbase")
    return X[:, -MOTIFS:], Y


def rcv1() -> tuple[Any, Any]:
    """Return rcv1(subset1) as it circulates, and as the paper's table I counts it."""
    file = loadmat(DATA / "rcv1subset1" / "rcv1subset1_top944_damaged.mat")
    return sparse.csr_matrix(file["data"].astype(float)), file["target"].T.astype(int)


def repaired_rcv1() -> tuple[Any, Any]:
    """Return rcv1(subset1), repaired, with the 944 features of the highest document frequency."""
    parts = np.load(DATA / "rcv1subset1" / "rcv1subset1.npz")
    X = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), parts["shape"])
    frequency = np.diff(X.tocsc().indptr)
    return X[:, np.sort(np.argsort(-frequency, kind="stable")[:944])], parts["Y"].astype(int)


def part(name: str, split: int, *, unit: bool = True) -> tuple[Any, Any, Any, Any]:
    """Return a random part."""
    X, Y = load(name, unit=unit)
    return tuple(train_test_split(X, Y, test_size=0.2, random_state=split))


@cache
def supports_of(name: str, split: int, form: str) -> NDArray[np.bool_]:
    """Select features for each label by LLSF; return them as an indicator of shape (q, d)."""
    A, _, Ya, _ = part(name, split)
    model = LLSF(0.5, 0.1, convexify=FORMS[form], threshold=0.5, tol=1e-2).fit(A, Ya)
    return np.asarray(model.label_specific_features_)


def counts(name: str, split: int, form: str) -> list[int]:
    """Return how many features each label keeps."""
    return [int(count) for count in supports_of(name, split, form).sum(axis=1)]


def selection(name: str, split: int, form: str) -> tuple[str, Callable[[], list[int]]]:
    """Return the run that selects features: its name and what it does."""
    return f"llsf {name} features kept{form} split {split}", partial(counts, name, split, form)


def measured(name: str, method: str, split: int) -> list[float]:
    """Fit a method on a random part; a label without any prediction counts 0, as in run.m."""
    A, B, Ya, Yb = part(name, split, unit=method not in AS_THEY_ARE)
    q, d = Ya.shape[1], A.shape[1]
    plain, _, convex = method.partition(", ")
    form = f", {convex}" if convex else ""
    svm = classifier(name)
    if method == "BKNN":
        model = BRkNN(5, alpha=0.5)
    elif method == "LIFT":
        model = LIFT(0.1, svm, random_state=0)
    elif plain == "LLSF":
        model = LLSF(0.1, 0.1, convexify=FORMS[form], threshold=0.5, tol=1e-2)
    else:
        chosen_before = plain.startswith("LLSF")
        everything = np.ones((q, d), dtype=bool)
        only = Chosen(supports_of(name, split, form) if chosen_before else everything)
        if plain.endswith("CC"):
            order = np.random.default_rng(split).permutation(q)
            model = LabelSpecificClassifierChain(svm, only, order=order)
        else:
            model = LabelSpecificBinaryRelevance(svm, only)
    return values(COLUMNS, model.fit(A, Ya), B, Yb, zero_division=0.0)


def found_on(names: list[str]) -> tuple[dict[tuple[str, str], list[list[float]]], dict[Any, Any]]:
    """Return the runs that are there, and how many features are kept."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    kept: dict[tuple[str, str], list[float]] = {}
    for name, split in product(names, range(SPLITS)):
        for form in FORMS:
            for own in all_of({form: selection(name, split, form)}).values():
                kept.setdefault((name, f"LLSF{form}"), []).append(float(np.mean(own)))
        jobs = {
            method: (f"llsf {name} {title} split {split}", partial(measured, name, method, split))
            for method in PRINTS
            for title in (f"{method}, rows as they are" if method in AS_THEY_ARE else method,)
        }
        for method, row in all_of(jobs).items():
            found.setdefault((name, method), []).append(row)
    return found, kept


def below(table: pd.DataFrame, measure: Measure) -> list[tuple[str, dict[str, str]]]:
    """Return the average ranks of the paper's columns."""
    table = table.loc[table.index != REPAIRED, table.columns.isin(PRINTS.values())]
    table = table.dropna(axis="columns")
    if table.shape[1] < 2:
        return []
    ranks = average_ranks(table, larger_is_better=measure.larger_is_better).average
    return [("average rank", {method: f"{rank:.3f}" for method, rank in ranks.items()})]


def compare_methods() -> None:
    """Print tables II to IX."""
    names = chosen(DATA_SETS)
    found, kept = found_on(names)
    theirs = printed("llsf")
    print_measures(
        "Huang et al. 2015, tables II to VIII",
        COLUMNS,
        list(PRINTS),
        found,
        theirs,
        digits=3,
        footer=below,
        prints=PRINTS,
    )
    if not found:
        return
    compared = {
        (name, method): runs
        for (name, method), runs in found.items()
        if name in TABLE_I and method in PRINTS.values()
    }
    ours = means(compared, COLUMNS)
    print_orders(theirs, ours)
    print_counts(ours)
    print_selection(found, kept)


def print_orders(theirs: Mapping[str, pd.DataFrame], ours: Mapping[str, pd.DataFrame]) -> None:
    """Print the last rows of tables II to VIII, the methods by average rank."""
    lines = []
    for column in COLUMNS:
        for source, tables in (("published", theirs), ("ours", ours)):
            table = tables[column.key].dropna(axis="columns")
            order = total_order(table, larger_is_better=column.larger_is_better)
            lines.append((column.title if source == "published" else "", source, order))
    print_table("Huang et al. 2015: total orders", ("measure", "", "order"), lines)


def print_counts(ours: Mapping[str, pd.DataFrame]) -> None:
    """Print table IX."""
    larger = {column.key: column.larger_is_better for column in COLUMNS}
    run = set(ours["jaccard"].dropna(axis="columns"))
    lines = []
    for method, printed_row in TABLE_IX.items():
        cells = [
            "{}/{}/{}".format(*pairwise_counts(ours, method, other, larger))
            if {method, other} <= run
            else "not run"
            for other in RIVALS
        ]
        lines += [(method, "published", *printed_row), ("", "ours", *cells)]
    title = "Huang et al. 2015, table IX: better/tied/worse, by average rank"
    print_table(title, ("method", "", *RIVALS), lines)


def print_selection(found: dict[tuple[str, str], list[list[float]]], kept: dict[Any, Any]) -> None:
    """Print how many features a label keeps, and in how many measures selection is better."""
    sign = np.array([1 if column.larger_is_better else -1 for column in COLUMNS])
    lines = []
    for (name, form), numbers in kept.items():
        suffix = form.removeprefix("LLSF")
        cells = []
        for base in ("BSVM", "CC"):
            if (name, f"LLSF-{base}{suffix}") not in found or (name, base) not in found:
                cells += ["not run", ""]
                continue
            difference = np.mean(found[name, f"LLSF-{base}{suffix}"], axis=0) - np.mean(
                found[name, base], axis=0
            )
            better = int((sign * difference > 1e-12).sum())
            cells += [f"{better} of {len(COLUMNS)}", f"{np.abs(difference).max():.3f}"]
        lines.append((name, form, f"{np.mean(numbers):.0f}", *cells))
    header = ("data", "selector", "features a label")
    end = ("LLSF-BSVM better", "largest difference", "LLSF-CC better", "largest difference")
    print_table("Huang et al. 2015: what selection changes", (*header, *end), lines)


def statistics_of_data() -> None:
    """Print table I."""
    ours = {}
    for name in chosen(tuple(TABLE_I)):
        X, Y = load(name)
        ours[name] = (len(Y), X.shape[1], Y.shape[1], float(Y.sum()) / len(Y))
    columns = ("rows", "features", "labels", "labels a row")
    print_data("Huang et al. 2015, table I", columns, TABLE_I, ours, digits=3)
    if chosen((REPAIRED,)):
        Y, repaired = rcv1()[1], repaired_rcv1()[1]
        wrong = float(((Y == 1) & (repaired == 0)).sum() / Y.sum())
        print_note(f"rcv1(subset1): {wrong:.3f} of the positive entries are wrong")


PARTS = {"table-I": statistics_of_data, "tables-II-IX": compare_methods}
