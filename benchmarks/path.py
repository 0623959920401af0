"""What choosing C inside one fit costs: `PathCV` in units of a single fit.

    python benchmarks/path.py

enron, linear (rows of unit norm, penalized bias), and emotions, rbf (features in [0, 1]); gap 1e-3,
one thread, processor seconds, medians of three. The path is the eight C of `PathCV`, 0.1 to 10^2.5,
on all rows, each fit from the one before ("cold": each from zero); `PathCV` adds three folds of two
thirds of the rows, their predictions, and the fit of the best. Units are a fit at the default
C = 10 and one at the path's largest C.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, normalize
from threadpoolctl import threadpool_limits

from common import load_official, print_table
from multimargin import MLODM, RankCVM, RankSVM
from multimargin.tuning import MultilabelStratifiedKFold, PathCV

CS = [10.0 ** (k / 2) for k in range(-2, 6)]


def seconds_of(job: Callable[[], Any]) -> float:
    """Return the median of the processor seconds of three runs."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        job()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def path(estimator: Any, X: Any, Y: Any, *, warm: bool) -> None:
    """Fit all values of C in turn."""
    model = clone(estimator).set_params(warm_start=warm)
    for C in CS:
        model.set_params(C=C).fit(X, Y)


def line(name: str, estimator: Any, X: Any, Y: Any) -> list[str]:
    """Return the line of one method and data set."""
    single = seconds_of(lambda: clone(estimator).set_params(C=10.0).fit(X, Y))
    hardest = seconds_of(lambda: clone(estimator).set_params(C=CS[-1]).fit(X, Y))
    warm = seconds_of(lambda: path(estimator, X, Y, warm=True))
    cold = seconds_of(lambda: path(estimator, X, Y, warm=False))
    search = PathCV(estimator, CS, cv=MultilabelStratifiedKFold(3))
    whole = seconds_of(lambda: search.fit(X, Y))
    return [
        name,
        type(estimator).__name__,
        f"{single:.3f} s",
        f"{hardest:.3f} s",
        f"{warm / single:.1f} / {warm / hardest:.1f}",
        f"{cold / single:.1f} / {cold / hardest:.1f}",
        f"{whole / single:.1f} / {whole / hardest:.1f}",
        f"{search.C_:.3g}",
    ]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rows = []
    with threadpool_limits(1):
        X, _, Y, _ = load_official("enron").train_test()
        linear = {"kernel": "linear", "random_state": 0}
        for model in (
            RankSVM(bias="penalized", **linear),
            RankCVM(**linear),
            MLODM(**linear),
        ):
            rows.append(line("enron, linear", model, normalize(X), Y))
        X, _, Y, _ = load_official("emotions").train_test()
        for method in (RankSVM, RankCVM, MLODM):
            model = method(random_state=0)
            rows.append(line("emotions, rbf", model, MinMaxScaler().fit_transform(X), Y))
    header = ("data", "method", "C = 10", "C = 316", "path, warm", "path, cold", "PathCV", "its C")
    print_table("Eight C: in fits at C = 10 / at C = 316", header, rows)


if __name__ == "__main__":
    main()
