"""This tree against another one, in turn: ratios of whole fits, peak memory and lines of Rust.

    python benchmarks/race_main.py [--base origin/main] [--repeats 3] [--only NAME ...] [--packaged]

The other tree is checked out and built in `.race/`. A process for each tree keeps the data; both do
the same fits one after the other, on one thread, in processor seconds, and the fastest run counts.
With three repeats it takes about three minutes; `--packaged` leaves out what needs data that do not
come with the package. A cell that disagrees by more than its tolerance, or is slower by a tenth and
5 ms, is marked, and the exit code is 1.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[1]
RACE = TREE / ".race"
BASE = RACE / "base"
EXTENSION = Path("pyref", "multimargin", "_rust.abi3.so")


def _packaged(loader: str) -> Any:
    import multimargin.datasets

    return getattr(multimargin.datasets, loader)()


def _made_up(name: str, *size: int) -> Any:
    import made_up

    return getattr(made_up, name)(*size)


PACKAGED = {
    "tags": partial(_packaged, "load_debian_tags"),
    "digits": partial(_packaged, "load_digit_attributes"),
}
MADE_UP = {
    "moderation": partial(_made_up, "moderation"),
    "columns-48": partial(_made_up, "columns", 1000, 40, 48),
    "columns-300": partial(_made_up, "columns", 1000, 40, 300),
}


@cache
def data(name: str) -> tuple[Any, Any]:
    """Load a data set: rows of unit norm but for LLSF (`counts`) and MLRL (`scaled`)."""
    import numpy as np
    from scipy import sparse
    from sklearn.preprocessing import MaxAbsScaler, normalize

    import free_bias
    from common import load_official

    if name in PACKAGED:
        own = PACKAGED[name]()
        return (normalize(own.X) if sparse.issparse(own.X) else own.X), own.Y
    if name in MADE_UP:
        return MADE_UP[name]()
    if name in free_bias.SETS and "rbf" not in name and name not in ("enron", "bibtex"):
        return free_bias.SETS[name]()
    name, _, form = name.partition(" ")
    X, _, Y, _ = load_official(name).train_test()
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=np.int64)
    if form == "scaled":
        return MaxAbsScaler().fit_transform(X), Y
    return (sparse.csr_matrix(X) if form == "counts" else normalize(X)), Y


def cells() -> dict[str, tuple[str, Any]]:
    """Return the fits by name: the data and the estimator."""
    from multimargin import LLSF, MLODM, MLRL, RankCVM, RankLSVM, RankSVM, RankSVMz

    found: dict[str, tuple[str, Any]] = {}
    for make, C in ((RankSVM, 10), (RankCVM, 10), (MLODM, 100)):
        for name, kernel in (("tags", "linear"), ("digits", "rbf")):
            model = make(C=C, kernel=kernel, random_state=0)
            found[f"{make.__name__} {kernel} {name} C={C:g}"] = (name, model)
    found["LLSF digits"] = ("digits", LLSF(0.1, 0.1))
    found["MLRL digits"] = ("digits", MLRL(0.01))
    for make, name, C in (
        (RankSVM, "moderation", 100),
        (RankLSVM, "moderation", 100),
        (RankSVMz, "moderation", 100),
        (RankSVM, "columns-48", 1),
        (RankLSVM, "columns-300", 1),
    ):
        model = make(C=C, kernel="linear", random_state=0)
        found[f"{make.__name__} linear {name} C={C:g}"] = (name, model)
    for name, make, C in (
        ("emotions", RankSVM, 1),
        ("yeast", RankSVM, 100),
        ("yeast", RankCVM, 1),
        ("yeast", MLODM, 10),
        ("scene", MLODM, 100),
        ("birds", RankCVM, 100),
        ("enron", MLODM, 10),
    ):
        model = make(C=C, kernel="rbf", gamma=1.0, random_state=0, max_iter=20_000)
        found[f"{make.__name__} rbf {name} C={C:g}"] = (name, model)
    for name, make, C in (
        ("enron", RankCVM, 1),
        ("enron", MLODM, 100),
        ("bibtex", RankCVM, 10),
        ("bibtex", MLODM, 1),
    ):
        model = make(C=C, kernel="linear", random_state=0)
        found[f"{make.__name__} linear {name} C={C:g}"] = (name, model)
    for name, bias, C, tol in (
        ("enron", "penalized", 10, 1e-3),
        ("bibtex", "penalized", 1, 1e-3),
        ("enron", "free", 0.1, 1e-3),
        ("enron", "free", 10, 1e-5),
        ("bibtex", "free", 1, 1e-3),
        ("bibtex", "free", 10, 1e-3),
        ("packages", "free", 0.1, 1e-3),
        ("programs", "free", 10, 1e-3),
    ):
        model = RankSVM(C=C, kernel="linear", bias=bias, tol=tol, random_state=0)
        found[f"RankSVM {bias} {name} C={C:g} tol={tol:g}"] = (name, model)
    for name, alpha, beta, tol in (
        ("enron", 0.1, 0.1, 1e-6),
        ("medical", 0.1, 2.0, 1e-3),
        ("enron", 0.1, 10.0, 1e-3),
        ("bibtex", 0.0, 0.1, 1e-3),
        ("bibtex", 0.1, 2.0, 1e-3),
    ):
        model = LLSF(alpha, beta, tol=tol)
        found[f"LLSF {name} {alpha:g} {beta:g} tol={tol:g}"] = (f"{name} counts", model)
    for name, kernel, lam in (
        ("emotions", "rbf", 0.01),
        ("yeast", "rbf", 0.01),
        ("enron", "linear", 0.001),
    ):
        found[f"MLRL {kernel} {name} lam={lam:g}"] = (
            f"{name} scaled",
            MLRL(lam, kernel=kernel, gamma=1.0),
        )
    found["MLRL alternating yeast"] = (
        "yeast scaled",
        MLRL(0.01, gamma=1.0, solver="alternating", max_iter=10),
    )
    return found


def worker() -> None:
    """Fit what the lines of standard input name; answer each with a line of JSON."""
    from sklearn.base import clone

    warnings.simplefilter("ignore")
    models = cells()
    print(json.dumps(list(models)), flush=True)
    for line in sys.stdin:
        name, model = models[line.rstrip("\n")]
        X, Y = data(name)
        model, start = clone(model), time.process_time()
        model.fit(X, Y)
        seconds = time.process_time() - start
        answer = {"seconds": seconds, "objective": model.objective_, "gap": model.dual_gap_}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**answer, "tol": model.tol, "memory": memory}), flush=True)


class Tree:
    """A process with the package of a tree."""

    def __init__(self, tree: Path) -> None:
        """Start the process and learn the names of the fits."""
        paths = os.pathsep.join((str(tree / "pyref"), str(TREE / "benchmarks")))
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=RACE,
            env={**os.environ, "PYTHONPATH": paths, **one},
        )
        self.names = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def fit(self, name: str) -> dict[str, float]:
        """Fit once."""
        assert self.process.stdin is not None
        print(name, file=self.process.stdin, flush=True)
        return dict(self._answer())


def build(tree: Path) -> None:
    """Compile the extension of a tree into its package."""
    target = tree.parent / "target" if tree == BASE else tree / "target"
    command = ["cargo", "build", "--release", "--quiet", "--package", "multimargin-python"]
    subprocess.run(command, cwd=tree, check=True, env={**os.environ, "CARGO_TARGET_DIR": target})
    # A new file: a package manager may have linked the old one elsewhere.
    (tree / EXTENSION).unlink(missing_ok=True)
    shutil.copy(target / "release" / "lib_rust.so", tree / EXTENSION)


def check_out(revision: str) -> str:
    """Check out the other tree; return its short name."""
    run = partial(subprocess.run, cwd=TREE, check=True, capture_output=True, text=True)
    found = run(["git", "rev-parse", "--short", revision]).stdout.strip()
    if not BASE.exists():
        run(["git", "worktree", "prune"])
        run(["git", "worktree", "add", "--detach", str(BASE), found])
    subprocess.run(["git", "checkout", "--quiet", "--detach", found], cwd=BASE, check=True)
    return found


def lines(tree: Path) -> int:
    """Count the lines of Rust, with tests."""
    return sum(len(path.read_text().splitlines()) for path in (tree / "rust").rglob("*.rs"))


def main() -> None:
    """Build both trees, print the table and its summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="origin/main")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--packaged", action="store_true", help="data of the package alone")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        worker()
        return
    revision = check_out(chosen.base)
    build(BASE)
    build(TREE)
    ours, theirs = Tree(TREE), Tree(BASE)
    ratios: dict[str, float] = {}
    print(f"  {'fit':44} {'here s':>8} {revision:>8} {'ratio':>6}")
    memory = (0.0, 0.0)
    marked = False
    for name in (n for n in ours.names if any(part in n for part in chosen.only)):
        if chosen.packaged and not any(f" {own}" in name for own in PACKAGED | MADE_UP):
            continue
        runs = [(ours.fit(name), theirs.fit(name)) for _ in range(chosen.repeats)]
        here, there = (min(run[k]["seconds"] for run in runs) for k in (0, 1))
        a, b = runs[-1]
        memory = (a["memory"], b["memory"])
        difference = abs(a["objective"] - b["objective"])
        allowed = max(a["tol"], a["gap"] + b["gap"]) * abs(b["objective"])
        marks = ["differs"] * (difference > allowed) + ["slow"] * (here > 1.1 * there + 0.005)
        marked |= bool(marks)
        ratios[name] = here / there
        row = f"  {name:44} {here:8.3f} {there:8.3f} {ratios[name]:6.2f}  {' '.join(marks)}"
        print(row, flush=True)
    worst = max(ratios, key=ratios.__getitem__)
    mean = statistics.geometric_mean(ratios.values())
    print(f"  geometric mean {mean:.3f}, worst {ratios[worst]:.2f} ({worst})")
    print(f"  peak memory, MB: {memory[0]:.0f}, {memory[1]:.0f}")
    print(f"  lines of Rust: {lines(TREE)}, {lines(BASE)}")
    sys.exit(1 if marked else 0)


if __name__ == "__main__":
    main()
