"""Other packages beside ours: seconds of fit and predict, and the quality that they buy.

    python benchmarks/peers.py [--sets emotions enron ...] [--environments DIR] [--install]

Each package lives in an environment of its own, `DIR/PACKAGE`, with the versions that it asks for;
`--install` creates them from the package index. A package whose environment is not there is
skipped. Every method fits in a process of its own, on one core and one thread; what a
method that fails has raised stands above the table.

All are at their defaults (RankSVM and MLODM: C = 10; ML-kNN: ten neighbours), on the official
splits. Rows of text have unit length, other features are scaled to [0, 1]. Seconds are those of
the processor, of whole `fit` and `predict` calls; ours learn their threshold in `fit`. "times ours"
compares ML-kNN with ours and everything else with our RankSVM.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from common import print_table
from isolated.timed_fit import METHODS
from multimargin.measures import micro_f1, ranking_average_precision, ranking_loss
from race import LINEAR, load

DENSE = ("emotions", "yeast", "scene")
TEXT = ("enron", "bibtex")
# The rows in their order, and the method of ours that each is compared with.
ORDER = {
    "dense": (
        ("RankSVM rbf", "RankSVM rbf"),
        ("MLODM rbf", "RankSVM rbf"),
        ("BinaryRelevance(SVC)", "RankSVM rbf"),
        ("BoomerClassifier", "RankSVM rbf"),
        ("MLkNN", "MLkNN"),
        ("MLkNN of ng", "MLkNN"),
    ),
    "text": (
        ("RankSVM linear", "RankSVM linear"),
        ("MLODM linear", "RankSVM linear"),
        ("BinaryRelevance(LinearSVC)", "RankSVM linear"),
        ("train_1vsrest", "RankSVM linear"),
        ("BoomerClassifier", "RankSVM linear"),
        ("MLkNN", "MLkNN"),
        ("MLkNN of ng", "MLkNN"),
    ),
}
WORKER = Path(__file__).parent / "isolated" / "timed_fit.py"
HEADER = (
    "set",
    "package",
    "method",
    "fit s",
    "times ours",
    "predict s",
    "times ours",
    "ranking loss",
    "average precision",
    "micro-F1",
)


def store(file: Path, **matrices: Any) -> None:
    """Write what the processes read."""
    arrays = {}
    for name, matrix in matrices.items():
        if sparse.issparse(matrix):
            arrays |= {
                f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")
            }
            arrays[f"{name}_shape"] = np.array(matrix.shape)
        else:
            arrays[name] = matrix
    np.savez(file, **arrays)


def one_core() -> None:
    """Keep the process that calls it on one core, so that no package has two threads at work."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run(python: Path, method: str, data: Path, limit: int) -> dict[str, Any] | str:
    """Return what the process of a method measured, or why it did not."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.npz"
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        try:
            done = subprocess.run(
                [python, WORKER, method, data, result],
                env=os.environ | threads,
                preexec_fn=one_core,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no result after {limit} s"
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        with np.load(result) as found:
            return dict(found)


def python_of(package: str, environments: Path) -> Path | None:
    """Return the interpreter that has a package, or None."""
    if package == "multimargin":
        return Path(sys.executable)
    python = environments / package / "bin" / "python"
    return python if python.exists() else None


def install(environments: Path) -> None:
    """Create the environments that are not there, with the newest version that each takes."""
    for package in dict.fromkeys(package for package, _ in METHODS.values()):
        if python_of(package, environments) is None:
            folder = environments / package
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run(
                [folder / "bin" / "python", "-m", "pip", "install", "--quiet", package], check=False
            )


def versions(environments: Path) -> list[str]:
    """Return the installed version of each package."""
    ask = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    lines = []
    for package in dict.fromkeys(package for package, _ in METHODS.values()):
        python = python_of(package, environments)
        if python is None:
            lines.append(f"{package}: not there, skipped (see --install)")
        else:
            done = subprocess.run(
                [python, "-c", ask, package], capture_output=True, text=True, check=False
            )
            lines.append(f"{package} {done.stdout.strip() or 'is not installed'}")
    return lines


def rows_of(name: str, environments: Path, limit: int) -> list[list[str]]:
    """Return the lines of one data set."""
    X, X_test, Y, Y_test = load(name, None)
    lines = []
    base: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        store(data, X=X, Y=Y, X_test=X_test)
        for method, beside in ORDER["text" if name in LINEAR else "dense"]:
            package = METHODS[method][0]
            python = python_of(package, environments)
            if python is None:
                continue
            found = run(python, method, data, limit)
            if isinstance(found, str):
                lines.append([name, package, method, "failed", *[""] * 6])
                print(f"{name}, {method} of {package}: {found}", flush=True)
                continue
            base.setdefault(method, found)
            cells = []
            for what in ("fit", "predict"):
                ratio = f"{found[what] / base[beside][what]:.2g}" if beside in base else ""
                cells += [f"{found[what]:.3g}", ratio]
            measures = (
                ranking_loss(Y_test, found["scores"]),
                ranking_average_precision(Y_test, found["scores"]),
                micro_f1(Y_test, found["sets"]),
            )
            lines.append([name, package, method, *cells, *(f"{value:.3f}" for value in measures)])
            print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    return lines


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*DENSE, *TEXT], choices=[*DENSE, *TEXT])
    parser.add_argument(
        "--environments",
        type=Path,
        default=Path(tempfile.gettempdir()) / "multimargin-peers",
        help="folder of the environments",
    )
    parser.add_argument("--install", action="store_true", help="create the environments first")
    parser.add_argument("--limit", type=int, default=1800, help="seconds that a method may take")
    chosen = parser.parse_args()
    if chosen.install:
        install(chosen.environments)
    print("\n".join(versions(chosen.environments)))
    lines = [
        line for name in chosen.sets for line in rows_of(name, chosen.environments, chosen.limit)
    ]
    print_table("Processor seconds on one core, and quality on the test part", HEADER, lines)


if __name__ == "__main__":
    main()
