"""Thousands of labels: which packages each of 44,732 Debian packages depends on, by its text.

    python benchmarks/many_labels.py [--labels 500 ...] [--peers PYTHON] [--methods NAME ...]

Each method runs by itself, on one thread; its line has processor seconds, peak memory with what the
data take, and precision at 1, 3 and 5 on the rows of a fifth of the sources. `--peers` names an
interpreter with LibMultiLabel and omikuji. One-vs-rest of all labels is extrapolated from 40 drawn
at random.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from common import DATA, print_table
from peers import store

SCRIPT = Path(__file__).parent / "isolated" / "many_labels.py"
HEADER = ("labels", "method", "fit s", "predict s", "peak MB", "P@1", "P@3", "P@5", "certificate")
ALL = ["RankSVM C=100", "LinearSVC C=1, 40 labels", "LinearSVC C=1", "LinearSVC C=1 balanced"]
PEERS = ["LibMultiLabel tree", "omikuji", "LibMultiLabel 1vsrest"]
FEWEST_ROWS = 5


def dependencies(labels: int | None) -> dict[str, Any]:
    """Return training and test rows with the most frequent labels."""
    file = DATA / "debian-depends" / "debian-depends.jsonl.gz"
    if not file.exists():
        sys.exit(f"{file} not found: set MULTIMARGIN_DATA to a folder that has it.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        packages = [json.loads(line) for line in lines]
    counts = Counter(name for package in packages for name in set(package["depends"]))
    frequent = sorted(
        (name for name, count in counts.items() if count >= FEWEST_ROWS),
        key=lambda name: (-counts[name], name),
    )
    places = {name: place for place, name in enumerate(frequent[:labels])}
    rows, columns = [], []
    for row, package in enumerate(packages):
        found = [places[name] for name in set(package["depends"]) if name in places]
        rows += [row] * len(found)
        columns += found
    ones = np.ones(len(rows), dtype=np.uint8)
    Y = sparse.csr_matrix((ones, (rows, columns)), shape=(len(packages), len(places)))
    texts = [
        " ".join(package[part] or "" for part in ("package", "section", "text"))
        for package in packages
    ]
    words = r"[A-Za-z_][A-Za-z0-9_+]+"
    X = TfidfVectorizer(token_pattern=words, min_df=3, max_df=0.3).fit_transform(texts)
    sources = np.array([package["source"] for package in packages])
    drawn = np.unique(sources)
    np.random.RandomState(0).shuffle(drawn)
    test = np.isin(sources, drawn[: len(drawn) // 5])
    return {"X": X[~test], "Y": Y[~test], "X_test": X[test], "Y_test": Y[test]}


def run(method: str, path: Path, python: str) -> dict[str, Any]:
    """Run one method on one thread."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    command = [python, str(SCRIPT), method, str(path)]
    done = subprocess.run(
        command, env=os.environ | threads, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def line(labels: int, method: str, result: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of the table."""
    if "fit" not in result:
        return (str(labels), method, *[""] * 6, result["status"])
    fit = result["fit"]
    if "labels" in result and result["labels"] < labels:
        fit *= labels / result["labels"]
        method += ", extrapolated"
    precisions = [f"{result[f'P@{k}']:.3f}" if f"P@{k}" in result else "" for k in (1, 3, 5)]
    certificate = f"{result['gap']:.1e}, {result['epochs']} epochs" if "gap" in result else "none"
    seconds = f"{fit:.0f}", f"{result['predict']:.1f}", f"{result['peak']:.0f}"
    return (str(labels), method, *seconds, *precisions, certificate)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[500, 0], help="0 is all")
    parser.add_argument("--methods", nargs="+", default=ALL)
    parser.add_argument("--peers", help="interpreter of an environment with the other packages")
    options = parser.parse_args()
    runs = [(method, sys.executable) for method in options.methods]
    runs += [(method, options.peers) for method in PEERS if options.peers]
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for count in options.labels:
            data = dependencies(count or None)
            path, labels = Path(folder) / "data.npz", data["Y"].shape[1]
            store(path, **data)
            print(f"{data['X'].shape[0]} x {data['X'].shape[1]}, {labels} labels", flush=True)
            for method, python in runs:
                rows.append(line(labels, method, run(method, path, python)))
                print(*rows[-1], sep="  ", flush=True)
    print_table("Dependencies of Debian packages", HEADER, rows)


if __name__ == "__main__":
    main()
