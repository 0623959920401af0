"""Races to the best tuned model: quality over all seconds that it took, ours against one-vs-rest.

    python benchmarks/race.py [--sets enron emotions ...] [--results race.jsonl] [--plot race.png]

Everybody is tuned on the same three stratified folds of the training part, over eight values of C a
factor of 10^(1/2) apart (for rbf kernels for each of three gamma), and measured on the official
test part. Each measure is that of the model which cross-validation chose *for it*. Ours follow the
path of C from warm starts; the peers have none. Seconds are those of this process's processor, one
thread on both sides: all fits and predictions of the folds, and the fit of the chosen model on all
training rows. A curve of the plot has a point a C: the seconds after that C, and the test quality
of the best model so far, by cross-validation.

Peers: one-vs-rest `LinearSVC` (hinge, squared hinge), `LogisticRegression` (liblinear) and `SVC`,
whose kernel matrix is computed once for all labels, which is faster than what `OneVsRestClassifier`
does by itself; labels are int64. Rows of text have unit length; other features are scaled to
[0, 1]. To keep the race short, random subsets of the training rows of some sets take part (`ROWS`,
`--rows`).

Each result is one JSON line in the file of results, with the whole table of scores; what is there
is not computed again.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from common import DATA, load_official, print_table
from multimargin import MLODM, RankCVM, RankSVM
from multimargin.compare import WithOneClassLabels
from multimargin.datasets import load_debian_tags
from multimargin.kernels import make_kernel
from multimargin.measures import average_precision, micro_f1, one_error, ranking_loss
from multimargin.tuning import MultilabelStratifiedKFold

MEASURES: dict[str, tuple[Callable[..., float], bool, bool]] = {
    # The function, whether it takes scores, whether larger is better.
    "ranking_loss": (ranking_loss, True, False),
    "average_precision": (average_precision, True, True),
    "one_error": (one_error, True, False),
    "micro_f1": (micro_f1, False, True),
}
FOLDS = 3
# Training rows of text that take part, where not all do.
ROWS = {"bibtex": 800, "rcv1subset1": 1500, "delicious": 400}
LINEAR = ("enron", "medical", "debian-tags", "bibtex", "rcv1subset1", "delicious")
KERNEL = ("emotions", "birds", "yeast", "scene")
# Times what gamma="scale" is.
WIDTHS = (0.25, 1.0, 4.0)


def decades(lowest: float) -> list[float]:
    """Return eight values from a power of 10, a factor of 10^(1/2) apart."""
    return [float(f"{10.0 ** (lowest + k / 2):.4g}") for k in range(8)]


@dataclass(frozen=True)
class Contestant:
    """One side of a race.

    `make` takes gamma (None for linear models) and returns an estimator with a parameter `C`,
    whose name is `C_name`.
    """

    name: str
    make: Callable[[float | None], Any]
    Cs: list[float]
    ours: bool = True
    kernel: bool = False
    C_name: str = "C"


class KernelOnce:
    """One-vs-rest SVC on a kernel matrix that all labels share."""

    def __init__(self, gamma: float) -> None:
        self.gamma, self.C = gamma, 1.0

    def set_params(self, **parameters: Any) -> "KernelOnce":
        """Take the next C."""
        self.C = parameters["C"]
        return self

    def fit(self, X: Any, y: Any) -> "KernelOnce":
        """Fit all labels."""
        self.rows = X
        svc = OneVsRestClassifier(SVC(C=self.C, kernel="precomputed"))
        self.model = WithOneClassLabels(svc).fit(rbf_kernel(X, X, gamma=self.gamma), y)
        return self

    def scores_and_sets(self, X: Any) -> tuple[Any, Any]:
        """Return the scores and the predicted labels."""
        K = rbf_kernel(X, self.rows, gamma=self.gamma)
        scores = self.model.decision_function(K)
        return scores, scores > 0.0


def one_vs_rest(name: str, classifier: Any, lowest: float) -> Contestant:
    """Return a linear peer."""
    inner = WithOneClassLabels(OneVsRestClassifier(classifier))
    C_name = "estimator__estimator__C"
    return Contestant(name, lambda gamma: inner, decades(lowest), ours=False, C_name=C_name)


def ours(estimator: Any, lowest: float, **parameters: Any) -> Contestant:
    """Return a contestant of ours, linear or rbf."""
    kernel = parameters["kernel"] == "rbf"

    def make(gamma: float | None) -> Any:
        width = {} if gamma is None else {"gamma": gamma}
        return estimator(**parameters, **width, warm_start=True, random_state=0)

    return Contestant(f"{estimator.__name__}", make, decades(lowest), kernel=kernel)


LOGISTIC = one_vs_rest("LogisticRegression", LogisticRegression(solver="liblinear"), -1.0)
CONTESTANTS = {
    "linear": [
        ours(RankSVM, -1.0, kernel="linear", bias="penalized"),
        ours(MLODM, -1.0, kernel="linear"),
        ours(RankCVM, -1.0, kernel="linear"),
        one_vs_rest("LinearSVC hinge", LinearSVC(loss="hinge", random_state=0), -2.5),
        one_vs_rest("LinearSVC squared", LinearSVC(random_state=0), -2.5),
        LOGISTIC,
    ],
    "kernel": [
        ours(RankSVM, -1.0, kernel="rbf"),
        ours(MLODM, -1.0, kernel="rbf"),
        ours(RankCVM, -1.0, kernel="rbf"),
        Contestant("SVC", KernelOnce, decades(-1.0), ours=False, kernel=True),
        LOGISTIC,
    ],
}


def load(name: str, rows: int | None) -> tuple[Any, Any, Any, Any]:
    """Return the scaled features and labels of both parts, with at most `rows` training rows."""
    if name == "debian-tags":
        X, X_test, Y, Y_test = load_debian_tags().train_test()
        words = TfidfTransformer(sublinear_tf=True).fit(X)
        X, X_test = words.transform(X), words.transform(X_test)
    elif name == "rcv1subset1":
        parts = np.load(DATA / name / f"{name}.npz")
        arrays = (parts["data"].astype(np.float64), parts["indices"], parts["indptr"])
        every = sparse.csr_matrix(arrays, shape=parts["shape"])
        train, test = parts["train_idx"], parts["test_idx"]
        X, X_test, Y, Y_test = every[train], every[test], parts["Y"][train], parts["Y"][test]
    else:
        X, X_test, Y, Y_test = load_official(name).train_test()
    if name in LINEAR:
        X, X_test = normalize(X), normalize(X_test)
    else:
        scaler = MinMaxScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    Y, Y_test = np.asarray(Y, dtype=np.int64), np.asarray(Y_test, dtype=np.int64)
    if rows is not None and rows < len(Y):
        chosen = np.sort(np.random.default_rng(0).permutation(len(Y))[:rows])
        X, Y = X[chosen], Y[chosen]
    if sparse.issparse(X):
        # liblinear takes 32-bit indices only.
        for part in (X, X_test):
            part.indices, part.indptr = (
                part.indices.astype(np.int32),
                part.indptr.astype(np.int32),
            )
    return X, X_test, Y, Y_test


def race(contestant: Contestant, data: tuple[Any, Any, Any, Any]) -> dict[str, Any]:
    """Fit all values on the folds and on the whole training part; return tables of what they took.

    "fold_seconds" and "fold_scores" have an axis for gamma, C and fold, "seconds" and "scores", of
    the whole training part, one for gamma and C; scores have a last axis for the measures.
    """
    X, _, Y, _ = data
    gammas: list[float | None] = [None]
    if contestant.kernel:
        scale = make_kernel("rbf", X, gamma="scale", degree=3, coef0=0.0).gamma
        gammas = [width * scale for width in WIDTHS]
    folds = list(MultilabelStratifiedKFold(FOLDS).split(X, Y))
    fold_results = [
        [path(contestant, gamma, (X[a], X[b], Y[a], Y[b])) for a, b in folds] for gamma in gammas
    ]
    # [gamma][fold][C] to [gamma][C][fold].
    turned = [[list(of_C) for of_C in zip(*of_gamma, strict=True)] for of_gamma in fold_results]
    whole = [path(contestant, gamma, data) for gamma in gammas]
    return {
        "Cs": contestant.Cs,
        "gammas": gammas,
        "fold_seconds": [[[r[0] + r[1] for r in c] for c in g] for g in turned],
        "fold_scores": [[[r[2] for r in c] for c in g] for g in turned],
        "seconds": [[r[0] for r in g] for g in whole],
        "scores": [[r[2] for r in g] for g in whole],
    }


def path(
    contestant: Contestant, gamma: float | None, data: tuple[Any, Any, Any, Any]
) -> list[tuple[float, float, list[float]]]:
    """Return seconds to fit, seconds to predict and the measures for each C in turn."""
    X, X_test, Y, Y_test = data
    model = contestant.make(gamma)
    results = []
    for C in contestant.Cs:
        start = time.process_time()
        model.set_params(**{contestant.C_name: C}).fit(X, Y)
        fitted = time.process_time()
        if isinstance(model, KernelOnce):
            scores, sets = model.scores_and_sets(X_test)
        elif contestant.ours:
            scores = model.decision_function(X_test)
            sets = scores > 0.0
        else:
            scores, sets = model.decision_function(X_test), model.predict(X_test)
        seconds = fitted - start, time.process_time() - fitted
        values = [
            float(function(Y_test, scores if by_scores else sets))
            for function, by_scores, _ in MEASURES.values()
        ]
        results.append((*seconds, values))
    return results


def curve(result: dict[str, Any], measure: str) -> list[tuple[float, float, float, float | None]]:
    """Return, after each C, all seconds so far, the test quality of the best, its C and gamma."""
    number = list(MEASURES).index(measure)
    sign = 1.0 if MEASURES[measure][2] else -1.0
    held_out = sign * np.array(result["fold_scores"])[..., number].mean(axis=2)
    tuning = np.array(result["fold_seconds"]).sum(axis=(0, 2)).cumsum()
    points = []
    for k in range(len(result["Cs"])):
        g, c = np.unravel_index(np.argmax(held_out[:, : k + 1]), (len(held_out), k + 1))
        quality = result["scores"][g][c][number]
        seconds = float(tuning[k]) + result["seconds"][g][c]
        points.append((seconds, quality, result["Cs"][c], result["gammas"][g]))
    return points


def results(
    file: Path, sets: list[str], rows: int | None
) -> Iterator[tuple[str, Contestant, dict[str, Any]]]:
    """Yield every result, from the file or, added to it, from a race."""
    known = {}
    if file.is_file():
        for line in file.read_text().splitlines():
            result = json.loads(line)
            known[result["set"], result["method"], result["rows"], tuple(result["Cs"])] = result
    for name in sets:
        data = None
        wanted = ROWS.get(name) if rows is None else rows
        for contestant in CONTESTANTS["linear" if name in LINEAR else "kernel"]:
            key = (name, contestant.name, wanted, tuple(contestant.Cs))
            if key not in known:
                data = data or load(name, wanted)
                result = {"set": name, "method": contestant.name, "rows": wanted}
                result |= {"shape": [*data[0].shape, data[2].shape[1]]}
                result |= race(contestant, data)
                with file.open("a") as stream:
                    stream.write(json.dumps(result) + "\n")
                known[key] = result
            yield name, contestant, known[key]


def line_of(name: str, contestant: Contestant, result: dict[str, Any]) -> list[str]:
    """Return the line of the table: the quality of the best for each measure, and seconds."""
    cells = []
    for measure in MEASURES:
        seconds, quality, C, _ = curve(result, measure)[-1]
        edge = "*" if C in (contestant.Cs[0], contestant.Cs[-1]) else ""
        cells += [f"{quality:.4f} ({C:g}{edge})"]
    n, d, q = result["shape"]
    seconds = curve(result, "ranking_loss")[-1][0]
    return [name, f"{n} x {d}, {q}", contestant.name, *cells, f"{seconds:.1f}"]


def print_summary(found: list[tuple[str, Contestant, dict[str, Any]]]) -> None:
    """Print the best of ours beside the best of the peers, and from how many seconds to how many.

    The best are chosen by their test values, on both sides: a peer of kernels is one of two, ours
    one of three.
    """
    rows = []
    ahead = dict.fromkeys(MEASURES, 0)
    names = list(dict.fromkeys(name for name, _, _ in found))
    for name in names:
        ours = [result for one, who, result in found if one == name and who.ours]
        peers = [result for one, who, result in found if one == name and not who.ours]
        cells = []
        for measure, (_, _, larger) in MEASURES.items():
            best = max if larger else min
            mine, theirs = (best(curve(r, measure)[-1][1] for r in side) for side in (ours, peers))
            ahead[measure] += mine > theirs if larger else mine < theirs
            cells.append(f"{mine:.4f} / {theirs:.4f}")
        seconds = [[curve(r, "ranking_loss")[-1][0] for r in side] for side in (ours, peers)]
        cells.append(" / ".join(f"{min(side):.1f} to {max(side):.1f}" for side in seconds))
        rows.append([name, *cells])
    counts = [f"ahead {count} of {len(names)}" for count in ahead.values()]
    rows.append(["", *counts, ""])
    print_table("Best of ours / best of the peers", ["set", *MEASURES, "seconds"], rows)


def plot(found: list[tuple[str, Contestant, dict[str, Any]]], file: str) -> None:
    """Draw ranking loss, average precision and micro-F1 over seconds, a column a data set."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter

    names = list(dict.fromkeys(name for name, _, _ in found))
    methods = list(dict.fromkeys(contestant.name for _, contestant, _ in found))
    shown = ("ranking_loss", "average_precision", "micro_f1")
    figure, axes = pyplot.subplots(
        len(shown), len(names), figsize=(2.6 * len(names), 7.5), squeeze=False, layout="constrained"
    )
    for name, contestant, result in found:
        for row, measure in enumerate(shown):
            ax = axes[row, names.index(name)]
            seconds, quality, _, _ = zip(*curve(result, measure), strict=True)
            style = {"color": f"C{methods.index(contestant.name)}", "marker": ".", "linewidth": 1.2}
            dashes = "-" if contestant.ours else "--"
            ax.plot(seconds, quality, dashes, label=contestant.name, **style)
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=5))
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_formatter(NullFormatter())
            if row == 0:
                ax.set_title(name)
            if names.index(name) == 0:
                ax.set_ylabel(measure.replace("_", " "))
            if row == len(shown) - 1:
                ax.set_xlabel("seconds, tuning and fit")
    handles = {}
    for ax in axes.flat:
        lines, labels = ax.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    figure.savefig(file, dpi=110)


def main() -> None:
    """Run, print the table and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*LINEAR, *KERNEL])
    parser.add_argument("--rows", type=int, help="training rows at most, of every set")
    parser.add_argument("--results", type=Path, default=Path("race.jsonl"))
    parser.add_argument("--plot", help="file of the picture")
    chosen = parser.parse_args()
    unknown = set(chosen.sets) - {*LINEAR, *KERNEL}
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; expected of {(*LINEAR, *KERNEL)}")
    warnings.simplefilter("ignore")
    found = []
    with threadpool_limits(1):
        for one in results(chosen.results, chosen.sets, chosen.rows):
            found.append(one)
            print("  ".join(line_of(*one)), flush=True)
    header = ["set", "rows x features, labels", "method", *MEASURES, "s"]
    print_table(
        "The test value of what cross-validation chose for the measure, (its C; * at an end of "
        "the grid); processor seconds of tuning and fit",
        header,
        [line_of(*one) for one in found],
    )
    print_summary(found)
    if chosen.plot:
        plot(found, chosen.plot)


if __name__ == "__main__":
    main()
