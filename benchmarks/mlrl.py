"""MLRL against libsvm: independent labels, the joint problem, the published alternation, small
lambda, many labels, rcv1.

    python benchmarks/mlrl.py [independent] [joint] [accuracy] [small_lambda] [many_labels] [rcv1]

One thread on both sides, whole `fit` calls in turn, medians of five (many_labels, rcv1: one run).
"""

import sys
import time
import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from common import DATA, fit_to_one_matrix, in_turn, load_official, print_table
from multimargin import MLRL
from multimargin.estimators import RelationshipOptions


def scaled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the training part with features in [0, 1]."""
    X, _, Y, _ = load_official(name).train_test()
    return MinMaxScaler().fit_transform(X), Y


def independent() -> None:
    """Omega = I/q is one support vector machine a label, with C = 1/(n lam q)."""
    X, Y = scaled("yeast")
    n, q = Y.shape
    K, lam = rbf_kernel(X, gamma=1.0), 0.01
    C = 1.0 / (n * lam * q)

    def libsvm(tol: float) -> list[SVC]:
        return [SVC(kernel="precomputed", C=C, tol=tol).fit(K, Y[:, j]) for j in range(q)]

    def ours(tol: float) -> MLRL:
        return MLRL(
            lam,
            kernel="precomputed",
            options=RelationshipOptions(fixed_covariance=np.eye(q) / q),
            tol=tol,
        ).fit(K, Y)

    rows = []
    for tol, peer_tol in ((1e-3, 1e-3), (1e-6, 1e-6)):
        fit, peer = in_turn(partial(ours, tol), partial(libsvm, peer_tol))
        worst = 0.0
        for j, machine in enumerate(peer[1]):
            z = np.zeros(n)
            z[machine.support_] = machine.dual_coef_[0] / (n * C)
            values = [
                np.abs(dual).sum() - dual @ K @ dual / (2 * lam * q)
                for dual in (z, fit[1].dual_variables_[:, j])
            ]
            worst = max(worst, abs(values[0] - values[1]) / values[0])
        rows.append(
            (
                f"{tol:g}",
                f"{fit[0]:.3f}",
                f"{peer[0]:.3f}",
                f"{fit[0] / peer[0]:.2f}",
                f"{worst:.1e}",
                f"{fit[1].dual_gap_:.1e}",
            )
        )
    print_table(
        "yeast, Omega = I/q, rbf, lam 0.01: all labels against SVC on the same kernel matrix",
        ("tol", "MLRL s", "SVC s", "ratio", "worst relative difference of dual values", "gap"),
        rows,
    )


def joint() -> None:
    """The whole method against one-vs-rest machines."""
    X, Y = scaled("yeast")
    tolerances = (1e-2, 1e-3, 1e-4)
    ours = [MLRL(0.01, gamma=1.0, tol=tol) for tol in tolerances]
    *fits, peer_fit = in_turn(
        *(partial(model.fit, X, Y) for model in ours), partial(fit_to_one_matrix, X, Y, C=1.0)
    )
    print_table(
        "yeast, joint problem, rbf gamma 1, lam 0.01, against OneVsRest SVC (one matrix, C = 1)",
        ("joint gap asked", "reached", "rounds", "MLRL s", "SVC s", "ratio"),
        (
            (
                f"{tol:g}",
                f"{model.dual_gap_:.1e}",
                str(model.n_iter_),
                f"{seconds:.3f}",
                f"{peer_fit[0]:.3f}",
                f"{seconds / peer_fit[0]:.3f}",
            )
            for tol, (seconds, model) in zip(tolerances, fits, strict=True)
        ),
    )


def accuracy() -> None:
    """The joint gap of the default and of the published scheme."""
    rows = []
    for name, gamma, lam in (
        ("emotions", 0.5, 0.01),
        ("yeast", 1.0, 0.01),
        ("yeast", 1.0, 0.001),
    ):
        X, Y = scaled(name)
        for solver, shown, options in (
            ("splitting", "tol 0.001", {"tol": 1e-3}),
            ("splitting", "tol 1e-06", {"tol": 1e-6}),
            *(
                ("alternating", f"ridge {ridge:g}", {"options": RelationshipOptions(ridge=ridge)})
                for ridge in (0.0, 1e-3, 0.03)
            ),
        ):
            rounds = 500 if solver == "splitting" else 40
            model = MLRL(lam, gamma=gamma, solver=solver, max_iter=rounds, **options)
            ((seconds, model),) = in_turn(partial(model.fit, X, Y), repeats=3)
            rows.append(
                (
                    f"{name} lam {lam:g}",
                    f"{solver}, {shown}",
                    f"{model.objective_:.5f}",
                    f"{model.dual_objective_:.5f}",
                    f"{model.dual_gap_:.1e}",
                    str(model.n_iter_),
                    f"{seconds:.3f}",
                )
            )
    print_table(
        "joint gap of the default scheme and of the published alternation (40 rounds)",
        ("problem", "solver", "objective", "bound", "gap", "rounds", "s"),
        rows,
    )


def small_lambda() -> None:
    """Text at small lambda: the 19 most frequent labels, word counts, one run in processor seconds.

    Beside the certificate, the objective of the published alternation in as many rounds.
    """
    lines = []
    for name, most in (("medical", 333), ("enron", 1123), ("bibtex", 1000)):
        X, _, Y, _ = load_official(name).train_test()
        X, Y = sparse.csr_array(X)[:most], np.asarray(sparse.csr_array(Y).toarray())[:most]
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:19]]
        for factor in (10, 100, 1000):
            lam = 1.0 / (factor * X.shape[0])
            start = time.process_time()
            with threadpool_limits(1):
                model = MLRL(lam, kernel="linear").fit(X, Y)
                seconds = time.process_time() - start
                published = MLRL(
                    lam, kernel="linear", solver="alternating", max_iter=model.n_iter_
                ).fit(X, Y)
            lines.append(
                (
                    f"{name} {X.shape[0]} x {X.shape[1]}",
                    f"1/({factor} n)",
                    f"{model.objective_:.6f}",
                    f"{model.dual_objective_:.6f}",
                    f"{model.dual_gap_:.1e}",
                    str(model.n_iter_),
                    f"{seconds:.2f}",
                    f"{published.objective_:.6f}",
                )
            )
    print_table(
        "text, 19 labels, linear, tol 1e-3",
        ("data", "lam", "objective", "bound", "gap", "rounds", "s", "alternation"),
        lines,
    )


def many_labels() -> None:
    """159 and 983 labels: rows of unit norm, rbf, gamma 1, lam = 1 / (C n), processor seconds."""
    lines = []
    for name, most in (("bibtex", 4880), ("delicious", 1000), ("delicious", 2000)):
        X, _, Y, _ = load_official(name).train_test()
        rows = np.random.default_rng(0).permutation(X.shape[0])[:most]
        X, Y = normalize(X)[rows], np.asarray(Y, dtype=np.int64)[rows]
        Y = Y[:, np.ptp(Y, axis=0) == 1]
        for C in (1.0, 100.0):
            model = MLRL(1.0 / (C * len(Y)), gamma=1.0, tol=1e-3)
            fit, peer = in_turn(
                partial(model.fit, X, Y),
                partial(fit_to_one_matrix, X, Y, C),
                repeats=1,
                clock=time.process_time,
            )
            lines.append(
                (
                    f"{name} {Y.shape[0]} x {Y.shape[1]}",
                    f"{C:g}",
                    f"{model.dual_gap_:.1e}",
                    str(model.n_iter_),
                    f"{fit[0]:.1f}",
                    f"{peer[0]:.1f}",
                    f"{fit[0] / peer[0]:.2f}",
                )
            )
    print_table(
        "many labels, rbf, gap 1e-3, against OneVsRest SVC (one matrix)",
        ("rows and labels", "C", "gap", "rounds", "MLRL s", "SVC s", "ratio"),
        lines,
    )


def rcv1() -> None:
    """A text collection at the size of the paper's table XVII."""
    file = DATA / "rcv1subset1" / "rcv1subset1.npz"
    if not file.is_file():
        sys.exit(f"{file} not found: set MULTIMARGIN_DATA to a folder that has it.")
    stored = np.load(file)
    X = sparse.csr_array(
        (stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"])
    )
    rows = stored["train_idx"]
    X, Y = X[rows], stored["Y"][rows].astype(int)
    lines = []
    for lam in (0.01, 0.001):
        start = time.perf_counter()
        with threadpool_limits(1):
            model = MLRL(lam, kernel="linear").fit(X, Y)
        lines.append(
            (
                f"{lam:g}",
                str(Y.shape),
                f"{time.perf_counter() - start:.1f}",
                f"{model.dual_gap_:.1e}",
                str(model.n_iter_),
                "1148 (6000 x 944)",
            )
        )
    print_table(
        "rcv1 subset 1, linear",
        ("lam", "rows and labels", "MLRL s", "joint gap", "rounds", "paper, table XVII, s"),
        lines,
    )


def main() -> None:
    """Print the tables asked for, or all."""
    warnings.simplefilter("ignore")
    tables = {
        "independent": independent,
        "joint": joint,
        "accuracy": accuracy,
        "small_lambda": small_lambda,
        "many_labels": many_labels,
        "rcv1": rcv1,
    }
    for name in sys.argv[1:] or tables:
        tables[name]()


if __name__ == "__main__":
    main()
