"""RankSVM against one-vs-rest support vector machines and against the interior-point dual.

    python benchmarks/rank_svm.py [yeast] [bibtex] [delicious] [emotions]

One thread on both sides, whole `fit` calls in turn, medians of five (the interior-point solver and
the peer on delicious, which take minutes: once). The floor of a linear epoch is reading the rows of
W that the nonzeros touch: nnz(X) q 8 bytes; of a kernel epoch, reading the kernel matrix once:
8 n^2 bytes.
"""

import sys
import warnings
from functools import partial

from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import LinearSVC

from common import fit_to_one_matrix, in_turn, load_official, print_table
from multimargin import RankSVM
from multimargin.reference import exact

HEADER = ("problem", "RankSVM s", "peer s", "ratio", "epochs", "gap", "peer", "floor of an epoch")


def row(name: str, ours: tuple, peer: tuple, peer_name: str, floor: str) -> tuple[str, ...]:
    """Return one line of the table."""
    seconds, model = ours
    return (
        name,
        f"{seconds:.3f}",
        f"{peer[0]:.3f}",
        f"{seconds / peer[0]:.3f}",
        str(model.n_iter_),
        f"{model.dual_gap_:.1e}",
        peer_name,
        floor,
    )


def yeast() -> list[tuple[str, ...]]:
    """Kernel problem with free and with penalized bias."""
    X, _, Y, _ = load_official("yeast").train_test()
    X = MinMaxScaler().fit_transform(X)
    ours = {
        "yeast rbf, free bias, tol 1e-3": RankSVM(C=4, gamma=1.0, tol=1e-3, random_state=0),
        "yeast rbf, free bias, tol 1e-5": RankSVM(C=4, gamma=1.0, tol=1e-5, random_state=0),
        "yeast rbf, penalized bias, tol 1e-3": RankSVM(
            C=4, gamma=1.0, bias="penalized", tol=1e-3, random_state=0
        ),
    }
    jobs = [partial(model.fit, X, Y) for model in ours.values()]
    *fits, peer_fit = in_turn(*jobs, partial(fit_to_one_matrix, X, Y, C=4.0))
    floor = f"{8e-6 * len(X) ** 2:.0f} MB"
    return [
        row(name, fit, peer_fit, "OneVsRest SVC, one matrix", floor)
        for name, fit in zip(ours, fits, strict=True)
    ]


def sparse_text(name: str, peer_repeats: int) -> list[tuple[str, ...]]:
    """Linear problem on sparse rows of unit norm."""
    X, _, Y, _ = load_official(name).train_test()
    X = normalize(X)
    ours = RankSVM(C=1, kernel="linear", bias="penalized", tol=1e-3, random_state=0)
    peer = OneVsRestClassifier(LinearSVC(loss="hinge", C=1, random_state=0))
    fit, peer_fit = in_turn(partial(ours.fit, X, Y), partial(peer.fit, X, Y), repeats=peer_repeats)
    if peer_repeats < 5:
        (fit,) = in_turn(partial(ours.fit, X, Y))
    floor = f"{8e-6 * X.nnz * Y.shape[1]:.0f} MB"
    return [row(f"{name} linear, tol 1e-3", fit, peer_fit, "OneVsRest LinearSVC", floor)]


def emotions() -> list[tuple[str, ...]]:
    """The optimum against the interior-point dual."""
    X, _, Y, _ = load_official("emotions").train_test()
    X = MinMaxScaler().fit_transform(X)
    ours = RankSVM(C=2, gamma=0.5, tol=1e-6, random_state=0)
    (fit,) = in_turn(partial(ours.fit, X, Y))
    K = rbf_kernel(X, gamma=0.5)
    (solved,) = in_turn(partial(exact.hinge, K, Y, 2.0, "free"), repeats=1)
    line = row("emotions rbf, free bias, tol 1e-6", fit, solved, "CVXPY/Clarabel dual", "1 MB")
    print(
        f"emotions: objective {fit[1].objective_:.7f}, interior point {solved[1].upper:.7f}, "
        f"{solved[0] / fit[0]:.0f} times faster"
    )
    return [line]


def main() -> None:
    """Print the table of the chosen problems."""
    warnings.simplefilter("ignore")
    problems = {
        "yeast": yeast,
        "bibtex": partial(sparse_text, "bibtex", 5),
        "delicious": partial(sparse_text, "delicious", 1),
        "emotions": emotions,
    }
    rows = [line for name in sys.argv[1:] or problems for line in problems[name]()]
    print_table("RankSVM, one thread, whole fit", HEADER, rows)


if __name__ == "__main__":
    main()
