"""Thousands of labels: which packages each of 44,732 Debian packages depends on, by its text.

    python benchmarks/many_labels.py [--labels 500 0] [--peers PYTHON] [--methods NAME ...] [--C C]
                                     [--folds 5]
    python benchmarks/many_labels.py --made-up [--methods NAME ...] [--C C]

Each method runs by itself, on one thread; its line has processor seconds, peak memory with what the
data take, and precision at 1, 3 and 5 on the rows of a fifth of the sources; with `--folds` the
mean over so many fifths, in turn, with seconds and memory of the first. `--peers` names an
interpreter with LibMultiLabel and omikuji. C is chosen for each method by precision at 1 on the
rows of a fifth of the training sources, with the first of `--labels`, and kept for the others.
`--made-up` takes random data of the sizes that are published for EUR-Lex-4k instead.
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
from sklearn.preprocessing import normalize

from common import DATA, print_table, sized
from peers import store

SCRIPT = Path(__file__).parent / "isolated" / "many_labels.py"
PRECISIONS = ("P@1", "P@3", "P@5")
HEADER = ("labels", "method", "C", "fit s", "predict s", "peak MB", *PRECISIONS, "certificate")
# The C that a search starts at.
OURS = {
    "RankSVM": 100.0,
    "RankSVM top_k=20": 3.0,
    "RankSVM top_k=5": 1.0,
    "LinearSVC": 1.0,
}
PEERS = {"LibMultiLabel tree": 1.0, "omikuji": 1.0, "LibMultiLabel 1vsrest": 1.0}
# What a search over C multiplies with.
STEP = 3.0
FEWEST_ROWS = 5


def dependencies(labels: int | None, fold: int = 0) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Return training and test rows with the most frequent labels, and the former's sources."""
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
    test = fifth(sources, fold)
    parts = {"X": X[~test], "Y": Y[~test], "X_test": X[test], "Y_test": Y[test]}
    return parts, sources[~test]


def made_up() -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Return random rows of about EUR-Lex-4k's sizes, and a number for each training row."""
    n, n_test, d, q = sized(15_539), sized(3_809, 50), sized(186_104), sized(3_993, 30)
    random = np.random.default_rng(0)

    def zipf(count: int, *shape: int) -> np.ndarray[Any, Any]:
        shares = 1 / np.arange(1, count + 1) ** 0.9
        return random.choice(count, size=shape, p=shares / shares.sum())

    def indicator(columns: np.ndarray[Any, Any], count: int) -> Any:
        rows = np.repeat(np.arange(n + n_test), columns.shape[1])
        found = sparse.csr_array(
            (np.ones(columns.size), (rows, columns.ravel())), shape=(n + n_test, count)
        )
        found.data[:] = 1.0
        return found

    # Words of its own for each label, twelve of them in a row that has it; both by Zipf's law.
    own, labels = zipf(d, q, 200), zipf(q, n + n_test, 6)
    places = random.integers(200, size=(n + n_test, 6, 12))
    of_labels = own[labels[:, :, None], places].reshape(n + n_test, -1)
    X = normalize(indicator(np.hstack([zipf(d, n + n_test, 215), of_labels]), d))
    Y = indicator(labels, q).astype(np.uint8)
    parts = {"X": X[:n], "Y": Y[:n], "X_test": X[n:], "Y_test": Y[n:]}
    return parts, np.arange(n)


def fifth(sources: np.ndarray[Any, Any], fold: int = 0) -> np.ndarray[Any, Any]:
    """Return which rows are those of one fifth of the sources, in a random order."""
    drawn = np.unique(sources)
    np.random.RandomState(0).shuffle(drawn)
    size = len(drawn) // 5
    return np.isin(sources, drawn[fold * size : (fold + 1) * size])


def run(method: str, C: float, path: Path, python: str) -> dict[str, Any]:
    """Run one method on one thread."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    command = [python, str(SCRIPT), method, str(C), str(path)]
    done = subprocess.run(
        command, env=os.environ | threads, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def tuned(method: str, C: float, path: Path, python: str) -> float:
    """Return the C of the largest precision at 1 on held-out rows, of steps until it falls."""
    found: dict[float, float] = {}

    def precision(C: float) -> float:
        if C not in found:
            result = run(method, C, path, python)
            # None where a method failed.
            found[C] = result.get("P@1", -1.0)
            print(f"held out: {method} C={C:.3g} {result}", flush=True)
        return found[C]

    if precision(C) < 0.0:
        return C
    for step in (STEP, 1 / STEP):
        while precision(C * step) > precision(C):
            C *= step
    return C


def averaged(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the first result, with the precisions of all."""
    shared = [P for P in PRECISIONS if all(P in result for result in results)]
    return results[0] | {P: np.mean([result[P] for result in results]) for P in shared}


def line(labels: int, method: str, C: float, result: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of the table."""
    if "fit" not in result:
        return (str(labels), method, f"{C:.3g}", *[""] * 6, result["status"])
    precisions = [f"{result[P]:.3f}" if P in result else "" for P in PRECISIONS]
    certificate = f"{result['gap']:.1e}, {result['epochs']} epochs" if "gap" in result else "none"
    seconds = f"{result['fit']:.0f}", f"{result['predict']:.1f}", f"{result['peak']:.0f}"
    return (str(labels), method, f"{C:.3g}", *seconds, *precisions, certificate)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[500, 0], help="0 is all")
    parser.add_argument("--methods", nargs="+", choices=[*OURS, *PEERS], default=[*OURS, *PEERS])
    parser.add_argument("--peers", help="interpreter of an environment with the other packages")
    parser.add_argument("--made-up", action="store_true", help="random data of EUR-Lex-4k's sizes")
    parser.add_argument("--C", type=float, help="of all methods, without a search")
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), metavar="1 to 5")
    options = parser.parse_args()
    pythons = dict.fromkeys(OURS, sys.executable) | dict.fromkeys(PEERS, options.peers)
    methods = [method for method in options.methods if pythons[method]]
    chosen = dict.fromkeys(methods, options.C) if options.C else {}
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for count in [0] if options.made_up else options.labels:
            data, sources = made_up() if options.made_up else dependencies(count or None)
            path, labels = Path(folder) / "data.npz", data["Y"].shape[1]
            out = fifth(sources)
            parts = {"X": ~out, "Y": ~out, "X_test": out, "Y_test": out}
            held = Path(folder) / "held.npz"
            store(path, **data)
            store(held, **{name: data[name[:1]][of] for name, of in parts.items()})
            paths = [path]
            for fold in range(1, 1 if options.made_up else options.folds):
                paths.append(Path(folder) / f"{fold}.npz")
                store(paths[-1], **dependencies(count or None, fold)[0])
            print(f"{data['X'].shape[0]} x {data['X'].shape[1]}, {labels} labels", flush=True)
            for method in methods:
                if method not in chosen:
                    start = (OURS | PEERS)[method]
                    chosen[method] = tuned(method, start, held, pythons[method])
                C = chosen[method]
                results = [run(method, C, fold, pythons[method]) for fold in paths]
                rows.append(line(labels, method, C, averaged(results)))
                print(*rows[-1], sep="  ", flush=True)
    print_table("Made up" if options.made_up else "Dependencies of Debian packages", HEADER, rows)


if __name__ == "__main__":
    main()
