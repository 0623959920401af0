"""What the free bias costs beside the penalized one.

    python benchmarks/free_bias.py [programs enron ...] [--C 0.1 1 10 100] [--tol 1e-3 1e-5]

RankSVM, rows of unit norm, one thread, whole `fit` calls in turn, processor seconds. `tags-rbf` and
`programs-rbf` have the kernel rbf with gamma 1, the others are linear. The last lines give the
geometric mean and the worst cell of the ratios.
"""

import argparse
import gzip
import itertools
import json
import statistics
import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from common import DATA, in_turn, load_official, print_table
from multimargin import RankSVM
from multimargin.datasets import load_debian_tags

HEADER = ("data", "C", "tol", "free s", "epochs", "gap", "penalized s", "epochs", "ratio")


def packages(rows: int, rarest: int, programs: bool) -> tuple[Any, Any]:
    """Descriptions of packages and their tags: all, or one program a source."""
    chosen, sources = [], set()
    with gzip.open(DATA / "debian-tags" / "debian-tags.jsonl.gz", "rt", encoding="utf-8") as lines:
        for package in map(json.loads, lines):
            if programs and (
                "role::program" not in package["tags"] or package["source"] in sources
            ):
                continue
            sources.add(package["source"])
            chosen.append(package)
    chosen = chosen[:rows]
    X = TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform([p["text"] for p in chosen])
    names = sorted({tag for p in chosen for tag in p["tags"]})
    Y = np.array([[name in set(p["tags"]) for name in names] for p in chosen], dtype=np.int64)
    return X, Y[:, Y.sum(axis=0) >= rarest]


def official(name: str) -> tuple[Any, Any]:
    """Load the training part of a MULAN data set."""
    X, _, Y, _ = load_official(name).train_test()
    return normalize(X), np.asarray(Y, dtype=np.int64)


def tags() -> tuple[Any, Any]:
    """Load programs and their facets, the small set that the package ships."""
    data = load_debian_tags()
    return normalize(data.X), np.asarray(data.Y, dtype=np.int64)


SETS = {
    "programs": partial(packages, 4500, 5, True),
    "packages": partial(packages, 11_000, 20, False),
    "enron": partial(official, "enron"),
    "bibtex": partial(official, "bibtex"),
    "delicious": partial(official, "delicious"),
    "yeast-rbf": partial(official, "yeast"),
    "tags-rbf": tags,
    "programs-rbf": partial(packages, 3000, 20, True),
}


def cell(name: str, data: tuple[Any, Any], C: float, tol: float) -> tuple[str, ...]:
    """Return one row of the table."""
    kernel = "rbf" if name.endswith("-rbf") else "linear"
    settings = {"C": C, "tol": tol, "kernel": kernel, "gamma": 1.0, "max_iter": 20_000}
    models = [RankSVM(bias=bias, random_state=0, **settings) for bias in ("free", "penalized")]
    jobs = [partial(model.fit, *data) for model in models]
    (free_s, free), (penalized_s, penalized) = in_turn(*jobs, repeats=1, clock=time.process_time)
    if free_s + penalized_s < 0.5:
        runs = in_turn(*jobs, repeats=3, clock=time.process_time)
        (free_s, free), (penalized_s, penalized) = runs
    return (
        name,
        f"{C:g}",
        f"{tol:g}",
        f"{free_s:.3f}",
        str(free.n_iter_),
        f"{free.dual_gap_:.1e}",
        f"{penalized_s:.3f}",
        str(penalized.n_iter_),
        f"{free_s / penalized_s:.2f}",
    )


def main() -> None:
    """Print the table and the summary of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--C", nargs="*", type=float, default=(0.1, 1.0, 10.0, 100.0))
    parser.add_argument("--tol", nargs="*", type=float, default=(1e-3, 1e-5))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in chosen.names:
        data = SETS[name]()
        for C, tol in itertools.product(chosen.C, chosen.tol):
            rows.append(cell(name, data, C, tol))
            print("  " + "  ".join(rows[-1]), flush=True)
    print_table("RankSVM, one thread, whole fit, free against penalized bias", HEADER, rows)
    ratios = [float(row[-1]) for row in rows]
    print(f"  geometric mean {statistics.geometric_mean(ratios):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()
