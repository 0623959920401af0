"""Both sides of the demonstration, tuned over the same grid on the same folds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from multimargin import MLODM, RankSVM
from multimargin.datasets import MultilabelData
from multimargin.measures import all_measures, get_scorer
from multimargin.tuning import MultilabelStratifiedKFold

GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 3
CRITERIA = {"ranking_loss": "neg_ranking_loss", "micro_f1": "micro_f1"}
"""The measures that all contestants are tuned for, and their scorers."""
# The rows have unit length, so that this is a middling width.
GAMMA = 1.0

Fitting = Callable[[str], AbstractContextManager[Any]]


class RbfKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The rbf kernel with the training rows, once for all labels.

    One-vs-rest computes it anew for each label otherwise, which takes ten times as long.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the training rows."""
        self.rows_ = X
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the kernel of rows with the training rows."""
        kernel: NDArray[np.float64] = rbf_kernel(X, self.rows_, gamma=GAMMA)
        return kernel


@dataclass(frozen=True)
class Contestant:
    """One side of the race.

    Parameters
    ----------
    name : str
        Its name in print.
    ours : bool
        Whether it ranks the labels of a row against each other; else it is one-vs-rest.
    pipeline : sklearn.pipeline.Pipeline
        Unfitted, on counts of words.
    parameter : str
        The pipeline's name of C.
    """

    name: str
    ours: bool
    pipeline: Any
    parameter: str


@dataclass(frozen=True)
class Result:
    """What a contestant achieved with one C.

    Parameters
    ----------
    C : float
        The C that cross-validation chose.
    model : sklearn.pipeline.Pipeline
        Fitted to the training part.
    seconds : float
        Time of that fit.
    measures : dict of str to float
        All measures on the test part.
    """

    C: float
    model: Any
    seconds: float
    measures: dict[str, float]


@dataclass(frozen=True)
class Outcome:
    """What a contestant achieved.

    Parameters
    ----------
    ours : bool
        As in `Contestant`.
    best : dict of str to Result
        The result of being tuned for each of `CRITERIA`.
    curve : dict of str to ndarray
        Means over the folds, one a C: "C" and each of `CRITERIA`.
    tuning_seconds : float
        Time of all fits and predictions of the search.
    """

    ours: bool
    best: dict[str, Result]
    curve: dict[str, NDArray[np.float64]]
    tuning_seconds: float


def contestants() -> list[Contestant]:
    """Return who runs: two rankers, and one-vs-rest with the two usual SVMs."""

    def words(*steps: Any) -> Any:
        return make_pipeline(TfidfTransformer(sublinear_tf=True), *steps)

    # The default number of steps does not do for a large C.
    linear = OneVsRestClassifier(LinearSVC(random_state=0, max_iter=10_000))
    one_vs_rest_C = "onevsrestclassifier__estimator__C"
    # Without a bias, as mlODM: the scores of rare tags fall by themselves.
    rank_svm = RankSVM(kernel="linear", bias="none", random_state=0)
    rbf = (RbfKernel(), OneVsRestClassifier(SVC(kernel="precomputed")))
    return [
        Contestant("mlODM", True, words(MLODM(kernel="linear", random_state=0)), "mlodm__C"),
        Contestant("RankSVM", True, words(rank_svm), "ranksvm__C"),
        Contestant("LinearSVC", False, words(linear), one_vs_rest_C),
        Contestant("rbf SVC", False, words(*rbf), one_vs_rest_C),
    ]


def run(
    data: MultilabelData,
    *,
    grid: Sequence[float] = GRID,
    n_jobs: int = -1,
    shown: Fitting | None = None,
) -> dict[str, Outcome]:
    """Tune all contestants on the part "train" of counts of words, and measure them on "test".

    `n_jobs` fits run at the same time while tuning; those that are timed run alone. `shown` is
    called with what is done, and returns a context manager that is open meanwhile. Ours come first.
    """
    show = shown or (lambda title: nullcontext())
    outcomes = {}
    for contestant in contestants():
        with show(f"tuning {contestant.name}: {len(grid)} C, {FOLDS} folds"):
            search = _search(contestant, data, grid, n_jobs)
        with show(f"fitting {contestant.name}"):
            outcomes[contestant.name] = _outcome(contestant, data, search)
    return outcomes


def _search(
    contestant: Contestant, data: MultilabelData, grid: Sequence[float], n_jobs: int
) -> GridSearchCV:
    X, Y = data.split("train")
    search = GridSearchCV(
        contestant.pipeline,
        {contestant.parameter: list(grid)},
        scoring={name: get_scorer(scorer) for name, scorer in CRITERIA.items()},
        cv=MultilabelStratifiedKFold(FOLDS),
        refit=False,
        n_jobs=n_jobs,
        error_score="raise",
    )
    return search.fit(X, Y)


def _outcome(contestant: Contestant, data: MultilabelData, search: GridSearchCV) -> Outcome:
    found = search.cv_results_
    C = np.array([parameters[contestant.parameter] for parameters in found["params"]])
    fitted: dict[float, Result] = {}
    best = {}
    for criterion in CRITERIA:
        chosen = float(C[np.argmin(found[f"rank_test_{criterion}"])])
        if chosen not in fitted:
            fitted[chosen] = _fitted(contestant, data, chosen)
        best[criterion] = fitted[chosen]
    curve = {name: np.abs(found[f"mean_test_{name}"]) for name in CRITERIA}
    seconds = (found["mean_fit_time"] + found["mean_score_time"]).sum() * FOLDS
    return Outcome(contestant.ours, best, {"C": C, **curve}, float(seconds))


def _fitted(contestant: Contestant, data: MultilabelData, C: float) -> Result:
    X, X_test, Y, Y_test = data.train_test()
    model = clone(contestant.pipeline).set_params(**{contestant.parameter: C})
    start = perf_counter()
    model.fit(X, Y)
    seconds = perf_counter() - start
    measures = all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
    return Result(C, model, seconds, measures)


def ours(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return the contestants that rank the labels of a row against each other."""
    return {name: outcome for name, outcome in outcomes.items() if outcome.ours}


def theirs(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return the contestants that decide label by label."""
    return {name: outcome for name, outcome in outcomes.items() if not outcome.ours}
