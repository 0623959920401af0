"""An experiment: methods x data sets x splits, each result written to disk at once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from multimargin.checks.names import first_repeated
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.compare.experiment.evaluate import Job
from multimargin.compare.experiment.identity import describe, fingerprint, identity
from multimargin.compare.experiment.parallel import evaluate_all
from multimargin.compare.experiment.progress import Progress
from multimargin.compare.experiment.splits import Split, make_splits
from multimargin.compare.experiment.tuning import Grids, Search, searches
from multimargin.compare.results import FORMAT, Result
from multimargin.compare.results_file import ResultsFile
from multimargin.datasets import MultilabelData
from multimargin.datasets.tables import Table
from multimargin.methods import find_method, make_method
from multimargin.scaling import SCALINGS
from multimargin.targets.indicator import known_both

Data = MultilabelData | Table
Methods = Sequence[str] | Mapping[str, Any]


def run_experiment(
    data: Data | Sequence[Data],
    methods: Methods,
    *,
    tune: bool | Grids = False,
    tune_folds: int = 3,
    tune_score: str = "ranking_hamming",
    cv: int | str = 10,
    scaling: str = "minmax",
    seed: int = 0,
    results_file: str | Path | None = None,
    n_jobs: int | None = None,
    retry_failed: bool = False,
    progress: bool = False,
) -> list[Result]:
    """Fit every method to every split of every data set and measure it.

    Parameters
    ----------
    data : MultilabelData, Table or sequence of them
        The data sets, with different names and at least two labels each. The columns of a table are
        made numbers as the training rows of each split ask for.
    methods : sequence of str, or mapping of str to estimator
        Names that `make_method` accepts, or estimators by a name of your own: any scikit-learn
        classifier that takes an indicator matrix.
    tune : bool or mapping of str to grid, default=False
        If True, the parameters of each method are selected within each split, on its training rows
        alone, one parameter after the other. True tunes methods that are given by name over the
        values of their papers; a mapping gives the values to try, {method: {parameter: values}}.
    tune_folds : int, default=3
        Folds of the training rows.
    tune_score : str, default="ranking_hamming"
        The measure that is tuned by.
    cv : int or "official", default=10
        Number of folds of a stratified cross-validation, or "official" for the splits "train" and
        "test" of the data.
    scaling : {"minmax", "standard", "unit", "none"}, default="minmax"
        Scaling of the features, learned on the training rows of each split: to [0, 1], to mean 0
        and variance 1, rows to length 1, nothing. Sparse data are not shifted.
    seed : int, default=0
        Seed of the folds, and of every `random_state` of a method that is None.
    results_file : str or Path, default=None
        File to which each result is appended, and from which those of an earlier run are taken;
        None keeps nothing.
    n_jobs : int, default=None
        Number of jobs at a time, as in joblib; None means 1 or what
        ``joblib.parallel_config`` says, which also chooses other backends, dask say.
    retry_failed : bool, default=False
        If True, jobs that failed in an earlier run are tried again.
    progress : bool, default=False
        If True, progress is printed to standard error every five seconds, and failures at once.

    Returns
    -------
    list of Result
        One a job, in the order of data, splits and methods. A method that failed has a result with
        an error.

    Raises
    ------
    OSError
        If the file cannot be written, or another run is writing it.
    KeyboardInterrupt
        If interrupted; the results so far are in the file, and the next run continues from there.

    Notes
    -----
    A result is taken from the file only if everything that decides it is the same: the content of
    the data, the rows of the split, the scaling, the method and all of its parameters, the names,
    and the format of the file. The versions of the libraries are written down but not compared.

    Examples
    --------
    >>> from multimargin.compare import run_experiment
    >>> from multimargin.datasets import load_digit_attributes
    >>> results = run_experiment(load_digit_attributes(), ["rank-svm", "knn"], cv="official")
    >>> [result.method for result in results]
    ['rank-svm', 'knn']
    """
    check_integer("seed", seed, at_least=0, at_most=2**32 - 1)
    check_choice("scaling", scaling, SCALINGS)
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; expected a positive number, or -1 for one per processor.")
    estimators = {
        name: _seeded(estimator, seed) for name, estimator in _estimators(methods).items()
    }
    # The papers' search grids, for methods given by name.
    grids = {} if isinstance(methods, Mapping) else {m: find_method(m).grid for m in methods}
    searched = searches(tune, list(estimators), grids, tune_folds, tune_score)
    pairs = [
        (one, job)
        for one in _data_sets(data)
        for job in _jobs(one, estimators, searched, make_splits(one, cv, seed), scaling, seed)
    ]
    with nullcontext() if results_file is None else ResultsFile(results_file) as file:
        wanted = {job.blank.job for _, job in pairs}
        found = {
            result.job: result
            for result in (file.results if file else [])
            if result.job in wanted and not (retry_failed and result.failed)
        }
        missing = [(one, job) for one, job in pairs if job.blank.job not in found]
        shown = Progress(len(found), len(pairs))
        with closing(evaluate_all(missing, n_jobs)) as results:
            for result in results:
                if file:
                    file.append(result)
                found[result.job] = result
                if progress:
                    shown.add(result)
    return [found[job.blank.job] for _, job in pairs]


def _jobs(
    data: Data,
    estimators: Mapping[str, Any],
    searched: Mapping[str, Search],
    splits: Sequence[Split],
    scaling: str,
    seed: int,
) -> Iterator[Job]:
    content = fingerprint(data.X, data.Y)
    descriptions = {name: describe(estimator) for name, estimator in estimators.items()}
    for split in splits:
        one_class = np.flatnonzero(~known_both(data.Y[split.train], axis=0))
        for name, estimator in estimators.items():
            described, search = descriptions[name], searched.get(name)
            job = identity(
                {
                    "format": FORMAT,
                    "tuning": None if search is None else describe(asdict(search)),
                    "data": [data.name, content, list(data.label_names)],
                    "split": [split.name, fingerprint(split.train, split.test)],
                    "scaling": scaling,
                    "seed": seed,
                    "method": [name, described],
                }
            )
            blank = Result(
                job=job,
                data=data.name,
                split=split.name,
                method=name,
                scaling=scaling,
                seed=seed,
                shape={
                    "n_train": len(split.train),
                    "n_test": len(split.test),
                    "n_features": len(data.feature_names),
                    "n_labels": data.n_labels,
                },
                fingerprint=content,
                label_names=list(data.label_names),
                estimator=described,
                one_class_labels=[data.label_names[label] for label in one_class.tolist()],
            )
            kinds = data.kinds if isinstance(data, Table) else None
            yield Job(estimator, split, blank, search, kinds)


def _data_sets(data: Any) -> list[Data]:
    data_sets = [data] if isinstance(data, Data) else list(data)
    if not data_sets:
        raise ValueError("data is empty; expected at least one data set.")
    for position, one in enumerate(data_sets):
        if not isinstance(one, Data):
            raise TypeError(
                f"data[{position}] is a {type(one).__name__}; expected MultilabelData, which the "
                "readers of multimargin.datasets return."
            )
        if not one.name:
            raise ValueError(f"data[{position}] has no name; expected MultilabelData(name=...).")
        if one.n_labels < 2:
            raise ValueError(f"data {one.name!r} has one label; expected at least two.")
    repeated = first_repeated([one.name for one in data_sets])
    if repeated is not None:
        raise ValueError(f"data has two sets named {repeated!r}; expected different names.")
    return data_sets


def _estimators(methods: Any) -> dict[str, Any]:
    if isinstance(methods, str):
        raise TypeError(f"methods is the text {methods!r}; expected a list of names.")
    if isinstance(methods, Mapping):
        estimators = dict(methods)
    else:
        estimators = {}
        for name in methods:
            if name in estimators:
                raise ValueError(f"methods has {name!r} twice; expected different methods.")
            if not isinstance(name, str):
                raise TypeError(
                    f"methods holds a {type(name).__name__}; expected names, or a mapping of names "
                    "to estimators."
                )
            estimators[name] = make_method(name)
    if not estimators:
        raise ValueError("methods is empty; expected at least one method.")
    for name, estimator in estimators.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"methods has the name {name!r}; expected a text.")
        if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
            raise TypeError(
                f"methods[{name!r}] is {estimator!r}; expected an unfitted scikit-learn estimator."
            )
    return estimators


def _seeded(estimator: Any, seed: int) -> Any:
    """Return a clone whose random states are set, inner estimators included."""
    seeded = clone(estimator)
    states = {
        name: seed
        for name, value in seeded.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return seeded.set_params(**states)
