"""What the benchmarks share: one thread, real data, medians, ratios in one run."""

import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from multimargin.datasets import MultilabelData, load_arff

DATA = Path(os.environ.get("MULTIMARGIN_DATA", Path(__file__).parents[2] / "shared" / "data"))

# What benchmarks share with the tests.
sys.path.insert(1, str(Path(__file__).parents[1]))

# The tests run each benchmark once, on little data.
_IS_SMOKE = "MULTIMARGIN_SMOKE" in os.environ


def sized(usual: int, small: int = 200) -> int:
    """Return a number of rows, labels or runs: the usual one, or where tests ask, a small one."""
    return small if _IS_SMOKE else usual


def load_official(name: str) -> MultilabelData:
    """Load a MULAN data set with its official splits, or end the script with a word about why."""
    folder = DATA / name
    if not folder.is_dir():
        sys.exit(f"{folder} not found: set MULTIMARGIN_DATA to a folder of MULAN data sets.")
    train, test, labels = (folder / f"{name}{end}" for end in ("-train.arff", "-test.arff", ".xml"))
    return load_arff(train, labels=labels, test=test)


def packages(name: str) -> list[dict[str, Any]]:
    """Return the packages of debian-tags or debian-depends: texts and what they are labelled by."""
    with gzip.open(DATA / name / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def one_of_each_source(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first package of each source: others of it have nearly the same text."""
    sources: dict[str, dict[str, Any]] = {}
    for row in rows:
        sources.setdefault(row["source"], row)
    return list(sources.values())


def programs() -> list[dict[str, Any]]:
    """Return packages that are programs, with their tags, one of each source."""
    rows = packages("debian-tags")
    return one_of_each_source([row for row in rows if "role::program" in row["tags"]])


def in_short_indices(X: Any) -> Any:
    """Return a CSR matrix with the 32-bit indices that liblinear takes alone."""
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return type(X)(parts, shape=X.shape)


def in_turn(
    *jobs: Callable[[], Any], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> list[tuple[float, Any]]:
    """Run the jobs in turn, A B A B ..., and return each one's median seconds and last result.

    NumPy's libraries get one thread; ours has one unless told otherwise.
    """
    seconds: list[list[float]] = [[] for _ in jobs]
    results: list[Any] = [None] * len(jobs)
    with threadpool_limits(1):
        for _ in range(sized(repeats, 1)):
            for k, job in enumerate(jobs):
                start = clock()
                results[k] = job()
                seconds[k].append(clock() - start)
    return [(statistics.median(s), result) for s, result in zip(seconds, results, strict=True)]


def fit_to_one_matrix(X: Any, Y: Any, C: float, gamma: float = 1.0) -> OneVsRestClassifier:
    """Fit one-vs-rest SVC to an rbf kernel matrix that all labels share, several times as quick.

    `OneVsRestClassifier(SVC(C=C, gamma=gamma))` computes its rows again for each label.
    """
    K = rbf_kernel(X, gamma=gamma)
    return OneVsRestClassifier(SVC(C=C, kernel="precomputed")).fit(K, Y)


def print_table(title: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with aligned columns, or, with MULTIMARGIN_MARKDOWN, as the guide has them."""
    lines = [list(header), *(list(row) for row in rows)]
    if _markdown():
        first, *others = (f"| {' | '.join(line)} |" for line in lines)
        print(f"\n{title}\n")
        print("\n".join([first, "|" + "---|" * len(lines[0]), *others]), flush=True)
        return
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    print(f"\n{title}")
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    sys.stdout.flush()


def print_ratios(rows: Iterable[tuple[str, ...]]) -> None:
    """Print the geometric mean and the worst of each method's ratios.

    A row begins with data, C and method; its sixth cell is the ratio.
    """
    by_method: dict[str, list[tuple[float, str]]] = {}
    for data, C, method, _, _, ratio, *_ in rows:
        by_method.setdefault(method, []).append((float(ratio), f"{data}, C = {C}"))
    for method, ratios in by_method.items():
        mean = statistics.geometric_mean([ratio for ratio, _ in ratios])
        worst, where = max(ratios)
        print(
            f"  {method}: geometric mean {mean:.2f} of {len(ratios)} cells, worst {worst:.2f}"
            f" ({where})",
            flush=True,
        )


def print_note(text: str) -> None:
    """Print what is said below a table."""
    print(f"\n{text}" if _markdown() else f"  {text}", flush=True)


def _markdown() -> bool:
    return bool(os.environ.get("MULTIMARGIN_MARKDOWN"))
