"""LLSF against the exact optimum, scikit-learn's Lasso and the published loop in NumPy.

    python benchmarks/llsf.py [agreement] [lasso] [loops] [threads] [published] [divergence]
                               [texts]

Without arguments, all seven. Gaps are computed here, by one function for both sides. Where the peer
has several modes, each is shown; the ratio that counts is that against the fastest.
"""

import gzip
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

from common import DATA, in_turn, load_official, print_table, sized
from multimargin import LLSF
from multimargin.reference import llsf

Matrix = NDArray[np.float64]

MOST_FREQUENT = 944  # features of rcv1subset1, as in the paper
# From loose to tight: the first one that reaches the gap counts.
LASSO_TOLERANCES = (1e-4, 3e-5, 1e-5)
LASSO_SECONDS = 20


def random_problem(seed: int) -> tuple[Matrix, NDArray[np.int_], float, float]:
    """Draw X, Y, alpha, beta: wide and tall, with duplicate, absent and universal labels."""
    rng = np.random.default_rng(seed)
    n, d, q = rng.integers(4, 13), rng.integers(2, 13), rng.integers(2, 5)
    X = rng.normal(size=(n, d))
    Y = (rng.random((n, q)) < 0.4).astype(int)
    if seed % 4 == 1:
        Y[:, 0] = Y[:, -1]
    if seed % 4 == 2:
        Y[:, 0] = 0
    if seed % 4 == 3:
        Y[:, 0] = 1
    return X, Y, float(10.0 ** rng.uniform(-2, 0.5)), float(10.0 ** rng.uniform(-1.5, 0.3))


def agreement(count: int = sized(300, 8)) -> None:
    """Compare the convex form with CVXPY."""
    rows = []
    problems = [random_problem(seed) for seed in range(count)]
    optima = [llsf.problem_3(*problem)[0] for problem in problems]
    for solver in ("auto", "admm", "apg"):
        worst, shifted, wide = 0.0, 0, 0
        for (X, Y, alpha, beta), optimum in zip(problems, optima, strict=True):
            model = LLSF(alpha, beta, solver=solver, tol=1e-9, max_iter=200_000, threshold=0.0).fit(
                X, Y
            )
            worst = max(worst, abs(model.objective_ - optimum) / max(abs(optimum), 1e-9))
            shifted += model.shift_ > 0
            wide += X.shape[1] > X.shape[0]
        rows.append([solver, str(count), str(wide), str(shifted), f"{worst:.1e}", "1e-06"])
    header = ["solver", "problems", "d > n", "shifted", "worst relative difference", "required"]
    print_table("Convex form against CVXPY", header, rows)


def load_rcv1() -> tuple[Any, NDArray[np.int64]]:
    """Load the training half of rcv1subset1 with its most frequent features."""
    stored = np.load(DATA / "rcv1subset1" / "rcv1subset1.npz")
    parts = (stored["data"], stored["indices"], stored["indptr"])
    X = sparse.csr_matrix(parts, shape=tuple(stored["shape"]), dtype=np.float64)
    X = X[stored["train_idx"]]
    counts = np.bincount(X.indices, minlength=X.shape[1])
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_FREQUENT])
    return sparse.csr_matrix(X[:, kept]), stored["Y"][stored["train_idx"]].astype(np.int64)


def load_train(name: str) -> tuple[Any, NDArray[np.int64]]:
    """Load an official training part as a CSR matrix and a label indicator."""
    X, _, Y, _ = load_official(name).train_test()
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    X = sparse.csr_matrix(X)
    return X[:, : sized(X.shape[1])], Y.astype(np.int64)


def lasso_gap(X: Any, Y: Matrix, W: Matrix, beta: float) -> float:
    """Sum of the labels' duality gaps over the sum of their objectives."""
    residual = Y - X @ W
    gradient = np.abs(X.T @ residual).max(axis=0)
    primal = 0.5 * np.sum(residual**2, axis=0) + beta * np.sum(np.abs(W), axis=0)
    squares = np.maximum(np.sum(residual**2, axis=0), 1e-300)
    limit = beta / np.maximum(gradient, beta)
    t = np.clip(np.sum(Y * residual, axis=0) / squares, -limit, limit)
    dual = t * np.sum(Y * residual, axis=0) - 0.5 * t**2 * squares
    return float((primal.sum() - dual.sum()) / primal.sum())


def lasso_time(X: Any, Y: Matrix, beta: float, mode: str, goal: float) -> tuple[float, float]:
    """Return the seconds and the gap of the loosest tolerance at which Lasso reaches the gap."""
    n = X.shape[0]
    seconds, gap = np.inf, np.inf
    for tol in LASSO_TOLERANCES:
        start = time.perf_counter()
        dense = X if mode == "sparse" else np.asfortranarray(X.toarray())
        data = sparse.csc_matrix(X) if mode == "sparse" else dense
        precomputed = dense.T @ dense if mode == "gram" else False
        model = Lasso(
            alpha=beta / n, fit_intercept=False, tol=tol, max_iter=2000, precompute=precomputed
        )
        W = model.fit(data, Y).coef_.T
        seconds = time.perf_counter() - start
        gap = lasso_gap(X, Y, np.asarray(W), beta)
        if gap <= goal or seconds > LASSO_SECONDS:
            break
    return seconds, gap


def lasso() -> None:
    """Time independent labels against scikit-learn's Lasso at the same gap."""
    goal = 1e-4
    rows = []
    sets = {
        "rcv1subset1": (load_rcv1(), (1.0, 4.0)),
        "enron": (load_train("enron"), (1.0, 4.0)),
    }
    for name, ((X, Y), betas) in sets.items():
        labels = Y.astype(np.float64)
        for beta in betas:
            start = time.perf_counter()
            model = LLSF(alpha=0.0, beta=beta, tol=goal).fit(X, Y)
            ours = time.perf_counter() - start
            gap = lasso_gap(X, labels, model.coef_.T, beta)
            peers = {mode: lasso_time(X, labels, beta, mode, goal) for mode in ("gram", "sparse")}
            reached = [seconds for seconds, reached in peers.values() if reached <= goal]
            best = min(reached or [seconds for seconds, _ in peers.values()])
            rows.append(
                [name, f"{beta:g}", f"{np.count_nonzero(model.coef_) / Y.shape[1]:.0f}"]
                + [f"{ours:.2f} s ({gap:.0e})"]
                + [f"{seconds:.2f} s ({reached:.0e})" for seconds, reached in peers.values()]
                + [f"{ours / best:.2f}" + ("" if reached else " or less")]
            )
    header = ["data", "beta", "features/label", "LLSF", "Lasso, Gram", "Lasso, CSC", "ratio"]
    print_table(
        f"alpha = 0: seconds to a relative gap of {goal:g} (ratio <= 1 required)", header, rows
    )


def algorithm_1_time(
    X: Any, Y: NDArray[np.uint8], model: LLSF, goal: float, limit: float
) -> tuple[float, float]:
    """Return the seconds of the published loop in NumPy on the convex form, and where it ends.

    It stops where its objective is within the goal of the model's lower bound, or at the limit.
    """
    loop, seconds = published_loop(
        (X.toarray(), Y, model.alpha, model.beta),
        model.shift_,
        lambda objective: objective - model.dual_objective_ <= goal * objective,
        limit,
    )
    return seconds, (loop.objective - model.dual_objective_) / loop.objective


def published_loop(
    problem: tuple[Any, ...], delta: float, good: Callable[[float], bool], limit: float
) -> tuple[llsf.Solution, float]:
    """Run algorithm 1 with ever more iterations until one is good enough, or for `limit` seconds.

    The seconds are those of its iterations up to the first good one: its start and constant are the
    same for every accuracy.
    """
    start = time.process_time()
    llsf.algorithm_1(*problem, max_iter=1, delta=delta)
    setup = time.process_time() - start
    iterations = 50
    while True:
        start = time.process_time()
        loop = llsf.algorithm_1(*problem, max_iter=iterations, delta=delta)
        seconds = max(time.process_time() - start - setup, 0.0)
        reached = np.flatnonzero([good(objective) for objective in loop.history])
        if reached.size > 0:
            return loop, seconds * (reached[0] + 1) / iterations
        if seconds > limit:
            return loop, seconds
        iterations *= 2


def loops() -> None:
    """Time the loops and the published one in NumPy, at the defaults and beside.

    Seconds are those of the processor, one thread, so that other programs matter less.
    """
    rows = []
    for name in ("medical", "enron", "bibtex"):
        X, Y = load_train(name)
        for alpha, beta, tol in (
            (0.1, 0.1, 1e-3),
            (0.1, 0.1, 1e-6),
            (0.0, 0.1, 1e-3),
            (0.1, 2.0, 1e-3),
            (0.1, 10.0, 1e-3),
        ):
            cells, chosen = [], None
            for solver in ("auto", "apg"):
                model = LLSF(alpha, beta, solver=solver, tol=tol)
                start = time.process_time()
                model.fit(X, Y)
                seconds = time.process_time() - start
                cells.append(f"{seconds:.2f} s ({model.dual_gap_:.0e}, {model.n_iter_})")
                chosen = chosen or (seconds, model)
            theirs, gap = algorithm_1_time(X, Y, chosen[1], tol, max(sized(2, 0), 3 * chosen[0]))
            problem = [name, f"{alpha:g}", f"{beta:g}", f"{tol:g}"]
            nonzero = f"{np.mean(chosen[1].coef_ != 0):.3f}"
            rows.append([*problem, nonzero, *cells, f"{theirs:.2f} s ({gap:.0e})"])
    header = ["data", "alpha", "beta", "tol", "nonzero", "auto", "apg", "Algorithm 1, NumPy"]
    print_table("Processor seconds (relative gap, iterations), one thread", header, rows)


def threads() -> None:
    """Time one and two threads."""
    rows = []
    for name in ("enron", "bibtex"):
        X, Y = load_train(name)
        jobs = [partial(LLSF(alpha=0.1, beta=0.1, n_jobs=n, tol=1e-6).fit, X, Y) for n in (1, 2)]
        (one, first), (two, second) = in_turn(*jobs, repeats=3)
        same = np.array_equal(first.coef_, second.coef_)
        rows.append([name, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}", str(same)])
    print_table("Threads, tol 1e-6", ["data", "1 thread, s", "2 threads, s", "ratio", "same"], rows)


def published() -> None:
    """Time the convex form on bibtex against the published loop in NumPy."""
    X, Y = load_train("bibtex")
    start = time.process_time()
    model = LLSF(alpha=0.5, beta=0.1, tol=1e-3).fit(X, Y)
    ours = time.process_time() - start
    loop, theirs = published_loop(
        (X.toarray(), Y, 0.5, 0.1),
        model.shift_,
        lambda objective: objective <= model.objective_,
        4 * ours,
    )
    reached = loop.objective <= model.objective_
    rows = [
        ["LLSF", f"{ours:.1f} s", f"{model.objective_:.4f}", f"gap {model.dual_gap_:.1e}"],
        [
            "Algorithm 1, NumPy",
            f"{theirs:.1f} s",
            f"{loop.objective:.4f}",
            f"{len(loop.history)} it.",
        ],
        ["ratio (>= 3 required)", f"{theirs / ours:.1f}" + ("" if reached else " or more"), "", ""],
    ]
    print_table(
        "Convex form on bibtex, alpha = 0.5, beta = 0.1", ["", "time", "objective", ""], rows
    )


def divergence() -> None:
    """Show the published loop and the convex form on binary features with d > n, as genbase."""
    rng = np.random.default_rng(0)
    X = (rng.random((463, 1185)) < 0.02).astype(float)
    Y = (rng.random((463, 27)) < 0.05).astype(int)
    rows = []
    for convexify, iterations in ((False, sized(3000, 30)), (True, sized(1000, 30))):
        model = LLSF(0.5, 0.1, convexify=convexify, max_iter=iterations, tol=1e-4).fit(X, Y)
        rows.append(
            [
                "convex form" if convexify else "published loop",
                model.status_,
                str(model.n_iter_),
                f"{model.objective_:.4g}",
                f"{model.dual_gap_:.1e}",
            ]
        )
    header = ["", "status", "iterations", "objective", "gap"]
    print_table("463 x 1185 binary features, alpha = 0.5, beta = 0.1", header, rows)


def texts() -> None:
    """Time a table of texts: 3000 packages, their words and the 220 most frequent tags."""
    with gzip.open(DATA / "debian-tags" / "debian-tags.jsonl.gz", "rt", encoding="utf-8") as lines:
        packages = [package for package in map(json.loads, lines) if package["tags"]][:3000]
    counts = Counter(tag for package in packages for tag in package["tags"])
    names = [tag for tag, _ in counts.most_common(220)]
    Y = np.array([[name in package["tags"] for name in names] for package in packages]).astype(int)
    X = TfidfVectorizer(min_df=2).fit_transform(package["text"] for package in packages)
    rows = []
    for beta, solver in ((0.1, "auto"), (0.1, "admm"), (1.0, "auto")):
        start = time.perf_counter()
        model = LLSF(beta=beta, solver=solver).fit(X, Y)
        seconds = f"{time.perf_counter() - start:.0f} s"
        rows.append([f"{beta:g}", solver, seconds, model.status_, f"{model.dual_gap_:.1e}"])
    header = ["beta", "solver", "seconds", "status", "gap"]
    print_table("{} x {}, {} labels".format(*X.shape, Y.shape[1]), header, rows)


def main() -> None:
    """Run the parts that are asked for."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts = {
        part.__name__: part
        for part in (agreement, lasso, loops, threads, published, divergence, texts)
    }
    with threadpool_limits(1):
        for name in sys.argv[1:] or parts:
            parts[name]()


if __name__ == "__main__":
    main()
