"""`multimargin.dask.fit`: the ordinary estimators, fitted to parts."""

import uuid
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from dask import annotate, delayed
from distributed import Client, get_client
from sklearn.base import BaseEstimator

from multimargin.checks.parameters import check_real, seed_of, thread_count
from multimargin.dask import parts
from multimargin.dask.cluster import ClusterParts
from multimargin.dask.inputs import Distributed, Inputs, Read, read_inputs
from multimargin.dask.owned import OwnedTasks
from multimargin.dask.rounds import ClusterLostError, Settings, rounds_left
from multimargin.dask.solving import solve_over_parts
from multimargin.dask.workers import dealt, workers_of
from multimargin.estimators.bases.elsewhere import SolvedElsewhere
from multimargin.estimators.bases.pairwise import PairwiseClassifier, threshold_unit
from multimargin.estimators.fitting.products import product
from multimargin.estimators.fitting.progress import Progress, with_callbacks
from multimargin.estimators.fitting.protocol import kept_fit
from multimargin.estimators.fitting.time_limit import deadline_of
from multimargin.estimators.pairwise import zero_label
from multimargin.estimators.pairwise.label_weights import weights_of_counts, weights_of_labels
from multimargin.estimators.pairwise.pair_weights import number_at_the_top
from multimargin.estimators.pairwise.problem import Fit
from multimargin.estimators.rank_cvm import RankCVM
from multimargin.estimators.rank_hlapsvm import RankHLapSVM
from multimargin.estimators.rank_svmz import RankSVMz
from multimargin.interrupts import Interrupts
from multimargin.targets.empty_rows import warn_of_empty_rows
from multimargin.targets.reading import Targets, warn_of_unknown
from multimargin.thresholds import ConstantThreshold, ScoresThreshold, Threshold, make_threshold
from multimargin.thresholds.base import enough_rows
from multimargin.typing import Matrix

_Estimator = TypeVar("_Estimator")

# Advice for estimators that contain such an estimator.
_INSTEAD = {
    "CalibratedClassifier": " Fit what it calibrates here, without some rows that one machine "
    "holds, and CalibratedClassifier(sklearn.frozen.FrozenEstimator(model)) to these.",
    "LabelRankerCV": " Fit it, with kernel='linear', to as many rows as one machine holds, and "
    "sklearn.base.clone(search.ranker_) here.",
    "GridSearchCV": " Fit it to as many rows as one machine holds, and "
    "sklearn.base.clone(search.best_estimator_) here.",
    "Pipeline": " Apply its first steps to the parts, and fit the last one here.",
}

# Share of the cluster's memory for parts read from files; larger ones are read again in every
# round.
_MEMORY_SHARE = 0.3

# Maximum number of further rounds to predict from the pace so far.
_MOST_FORECAST = 1e5

# Rows from which thresholds that need more than sums are learned.
_THRESHOLD_ROWS = 100_000


def fit(
    estimator: _Estimator,
    X: Distributed,
    y: "Distributed | None" = None,
    client: Client | None = None,
    *,
    sample_weight: "Distributed | None" = None,
    patience: float = 30.0,
    read: Read | None = None,
) -> _Estimator:
    """Fit a linear estimator to rows on many machines.

    Parameters
    ----------
    estimator : RankSVM, RankSVMz, RankLSVM, RankCVM or MLODM
        The estimator, with ``kernel="linear"`` and ``solver="bcd"``; its `n_jobs` is the number of
        threads of each part, `max_iter` the largest number of rounds. With ``warm_start=True``, one
        that was fitted before, or loaded, continues from its weights if there are up to 4096
        columns, and gets a new certificate.
    X : dask array or data frame, list of delayed or futures, or paths
        Features; their row blocks are the parts. A path leads to a folder of parts, a list of paths
        to the parts themselves, files with features and labels that all workers see.
    y : dask array or data frame, list of delayed or futures, or None, default=None
        Label indicator of 0 and 1, in the same row blocks, and NaN where a label is unknown. None
        for files.
    client : dask.distributed.Client or None, default=None
        The client of the cluster; None takes the current one.
    sample_weight : dask array or list of delayed or futures, default=None
        Weights of the rows, in the same row blocks: a row of weight 2 counts as two rows.
    patience : float, default=30.0
        Seconds without any worker after which the fit ends, positive.
    read : callable or None, default=None
        Returns the features and the label indicator of the file of a path, the same columns in each
        part. None reads .npz files, as `multimargin.datasets.load_npz`.

    Returns
    -------
    estimator
        The estimator itself, fitted. It has its weights `coef_`, and no support vectors, which are
        where the rows are. `history_` has the further columns "growth", "step", "bytes" and "rho".

    Raises
    ------
    TypeError, ValueError
        If the estimator is none that can be fitted so.
    RuntimeError
        If no worker is left, or the scheduler is gone.
    KeyboardInterrupt
        If interrupted. As after a `RuntimeError`, the fitted attributes have the best model so far,
        with its certificate.

    Warns
    -----
    ConvergenceWarning
        If the rounds end above `tol`.
    UnknownLabelsWarning, EmptyRowsWarning
        If labels are unknown, or many rows have none.

    Notes
    -----
    Dense features of up to 4096 columns take rounds of the alternating direction method (Goldstein
    et al. 2016), whose number does not depend on the parts; others take those of CoCoA+ (Smith et
    al. 2018) with exact block steps, and change over where these are slow. All sums are in the
    order of the parts, so the result depends on the parts and on `random_state`, but not on the
    number of workers. If workers are lost, their dual rows are restored from the newest copies on
    other workers, and the rounds continue from there.
    """
    checked = check_estimator(estimator)
    deadline = deadline_of(checked.max_time)
    check_real("patience", patience, above=0.0)
    client = _client(client)
    interrupts = Interrupts()
    with interrupts.held(), OwnedTasks(client, interrupts) as owned:
        inputs = read_inputs(X, y, sample_weight, _pairs_of(checked), read)
        cluster = _spread(owned, inputs, float(patience))
        shape = _shape(cluster)
        _check_pairs(cluster, checked)
        if checked.pair_weights == "uniform":
            total = cluster.described()["row_weight"]
            cluster = cluster.view(parts.Part.reweighted, 1.0 / total)
        # The zero label has dual rows, and no weight.
        q = shape[1] - isinstance(checked, RankSVMz)
        label_weights = _label_weights(checked, cluster, _targets(inputs, q))
        top = number_at_the_top(checked.top_k, shape[1])
        if label_weights is not None or top is not None:
            balanced = checked.pair_weights == "balanced"
            cluster = cluster.view(parts.Part.counting, label_weights, top, balanced)
        _solve(checked, cluster, inputs, shape, label_weights, deadline)
    return estimator


@with_callbacks  # type: ignore[untyped-decorator]
def _solve(
    checked: PairwiseClassifier,
    cluster: ClusterParts,
    inputs: Inputs,
    shape: tuple[int, int],
    label_weights: Matrix | None,
    deadline: float | None,
) -> None:
    """Fit; the state of callbacks is removed from the estimator afterwards."""
    interrupts, method = cluster.owned.interrupts, SolvedElsewhere(checked)
    progress = Progress(checked, int(checked.max_iter), int(checked.verbose), interrupts)
    settings = Settings(
        tol=float(checked.tol),
        max_rounds=int(checked.max_iter),
        seed=seed_of(checked.random_state),
        threads=thread_count(checked.n_jobs),
        callback=progress.epoch_callback(),
        own_gap=method.own_gap,
        deadline=deadline,
        of_dual=isinstance(checked, RankCVM),
        start=_start(checked, shape) if checked.warm_start else None,
    )

    def solved() -> Fit:
        solution = solve_over_parts(cluster, shape, method.model, settings)
        if solution.error is not None and not np.isfinite(solution.primal):
            # Nothing has been reached yet: a previous model stays as it is.
            raise solution.error
        return method.own_fit(solution.fit(), solution.pairs)

    with closing(cluster):
        fit = kept_fit(
            checked,
            progress,
            solve=solved,
            keep=partial(_keep, checked, inputs, shape, label_weights),
            learn=partial(_learn, checked, cluster),
            # The cluster lets Ctrl-C through where possible.
            learning=nullcontext,
            ends=(KeyboardInterrupt, ClusterLostError),
        )
    end = replace(fit, gap=checked.dual_gap_)
    method.warn_of_the_end(end, "rounds", _advice(fit, settings.tol))


def _advice(fit: Fit, tol: float) -> str:
    """Return advice if the rounds did not suffice, with the number that would."""
    primal, dual = (fit.history[name][fit.n_iter // 2 :] for name in ("primal", "dual"))
    left = rounds_left(primal, dual, tol)
    more = f"about {float(f'{left:.1g}'):.0f}" if left < _MOST_FORECAST else "countless"
    return (
        f"At the pace of the last {len(primal)} it takes {more} more. Increase max_iter or tol, "
        "decrease C, or scale the features."
    )


def _start(estimator: PairwiseClassifier, shape: tuple[int, int]) -> tuple[Matrix, Matrix] | None:
    """Return weights and bias of the previous model at a margin of 1; None for another shape.

    The previous division of the rows is irrelevant, as their dual variables are recomputed.
    """
    weights = getattr(estimator, "coef_", None)
    if weights is None:
        return None
    model = np.column_stack([weights, estimator.intercept_]).T / getattr(estimator, "rho_", 1.0)
    if isinstance(estimator, RankSVMz):
        model = zero_label.absolute(model)
    if model.shape != (shape[0] + 1, shape[1]) or not np.isfinite(model).all():
        return None
    return np.ascontiguousarray(model[:-1], dtype=np.float64), np.asarray(model[-1], dtype=float)


def check_estimator(estimator: BaseEstimator) -> PairwiseClassifier:
    """Check that an estimator is one that can be fitted to parts."""
    if not isinstance(estimator, PairwiseClassifier) or isinstance(estimator, RankHLapSVM):
        name = type(estimator).__name__
        raise TypeError(
            f"estimator is {name}; expected RankSVM, RankSVMz, RankLSVM, RankCVM or MLODM."
            f"{_INSTEAD.get(name, '')}"
        )
    SolvedElsewhere(estimator).check_parameters()
    if estimator.kernel != "linear":
        raise ValueError(
            f"kernel is {estimator.kernel!r}; expected 'linear', since only the weights of a "
            "linear model travel. For other kernels map the parts first, by "
            "sklearn.kernel_approximation.Nystroem or RBFSampler."
        )
    if estimator.solver != "bcd":
        raise ValueError(f"solver is {estimator.solver!r}; expected 'bcd'.")
    return estimator


def _client(client: Any) -> Client:
    if client is None:
        try:
            return get_client()
        except ValueError as error:
            raise ValueError(
                "client is None and there is no current one; expected a dask.distributed.Client: "
                "Client() starts workers on this machine, Client('tcp://host:8786') finds a "
                "scheduler."
            ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"client is {client!r}; expected a synchronous dask.distributed.Client.")
    return client


def _pairs_of(estimator: PairwiseClassifier) -> parts.Pairs:
    """Return which pairs of labels an estimator compares."""
    if isinstance(estimator, RankSVMz):
        return parts.Pairs(float(estimator.C), "zero label")
    return parts.Pairs(float(estimator.C), estimator.pair_weights)


def _label_weights(
    estimator: PairwiseClassifier, cluster: ClusterParts, targets: Targets
) -> Matrix | None:
    """Return the weights of relevant labels; rules need sums over all parts."""
    if not isinstance(estimator.class_weight, str):
        return weights_of_labels(estimator.class_weight, targets)
    rows = cluster.sums(parts.label_rows)["rows"]
    return weights_of_counts(estimator.class_weight, rows)


def _spread(owned: OwnedTasks, inputs: Inputs, patience: float) -> ClusterParts:
    """Let the workers read and check the parts, and keep them if they fit into memory."""
    if inputs.files:
        cluster = ClusterParts(owned, inputs.sources, patience)
        workers = owned.client.scheduler_info(n_workers=-1)["workers"].values()
        memory = [worker["memory_limit"] for worker in workers]
        size = cluster.described()["bytes"]
        if all(memory) and size > _MEMORY_SHARE * sum(memory):
            return cluster
        name = f"rows-{uuid.uuid4().hex[:8]}"
        data = [
            owned.submit((name, source.index), type(source).load, source)
            for source in inputs.sources
        ]
        return cluster.at(data)
    made = []
    homes = dealt(workers_of(owned, patience), [None] * len(inputs.sources))
    for index, (x, y, weight) in enumerate(inputs.sources):
        # Made where its rounds are: else two workers would have the rows.
        with annotate(workers=[homes[index]], allow_other_workers=True):
            made.append(delayed(parts.make_part)(index, x, y, weight, inputs.pairs))
    return ClusterParts(owned, owned.compute(made), patience)


def _shape(cluster: ClusterParts) -> tuple[int, int]:
    """Return the numbers of features and labels, which all parts have to share."""
    shapes = cluster.described()["shapes"]
    for index, (_, d, q) in enumerate(shapes):
        if (d, q) != shapes[0][1:]:
            raise ValueError(
                f"Part {index} has {d} features and {q} labels, part 0 has {shapes[0][1]} and "
                f"{shapes[0][2]}; expected the same in all parts."
            )
    names = cluster.described()["names"]
    for kind, of in (("features", 0), ("labels", 1)):
        named = [(index, part[of]) for index, part in enumerate(names) if part[of] is not None]
        for index, found in named:
            if found != named[0][1]:
                raise ValueError(
                    f"Part {index} has {kind} of other names, or in another order, than part "
                    f"{named[0][0]}; expected the same in all parts."
                )
    return shapes[0][1], shapes[0][2]


def _check_pairs(cluster: ClusterParts, estimator: PairwiseClassifier) -> None:
    about = cluster.described()
    if about["rows_with_pairs"] > 0:
        rows, of_pairs = about["rows"], not isinstance(estimator, RankSVMz)
        warn_of_unknown(about["unknown"], (rows, about["shapes"][0][2] - (not of_pairs)))
        if of_pairs:
            warn_of_empty_rows(about["empty_weight"] / about["row_weight"])
        return
    if isinstance(estimator, RankSVMz):
        raise ValueError(
            f"y has no known label in any of its {about['rows']} rows, or these have weight 0; "
            "expected a label that is 0 or 1."
        )
    raise ValueError(
        f"y has no label pair: each of its {about['rows']} rows has all labels or none, or weight "
        "0; expected a row with both a relevant and an irrelevant label."
    )


def _keep(
    estimator: PairwiseClassifier,
    inputs: Inputs,
    shape: tuple[int, int],
    label_weights: Matrix | None,
    fit: Fit,
) -> Fit:
    targets = _targets(inputs, fit.bias.size)
    SolvedElsewhere(estimator).store(targets, shape[0], fit, label_weights)
    if inputs.feature_names is not None:
        estimator.feature_names_in_ = inputs.feature_names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return fit


def _learn(
    estimator: PairwiseClassifier, cluster: ClusterParts, fit: Fit, interrupted: bool
) -> None:
    about = cluster.described()
    threshold = make_threshold(
        estimator.threshold,
        n_labels=fit.bias.size,
        empty=about["empty_weight"] / about["row_weight"],
        random_state=estimator.random_state,
    )
    if interrupted:
        threshold = ConstantThreshold(0.0)
    assert fit.weights is not None
    unit = threshold_unit(fit)
    estimator.threshold_ = _learned(threshold, cluster, fit.weights, fit.bias, unit)


def _targets(inputs: Inputs, q: int) -> Targets:
    """Return the labels, without rows."""
    return Targets(np.zeros((0, q), dtype=np.uint8), np.arange(q), True, inputs.label_names)


def _learned(
    threshold: Threshold, cluster: ClusterParts, weights: Matrix, bias: Matrix, unit: float
) -> Any:
    """Learn a threshold: by sums over all parts, or from a sample of the rows."""
    q = bias.size
    if isinstance(threshold, ConstantThreshold):
        return threshold.fit(np.zeros((1, q)), np.zeros((1, q), dtype=np.uint8)).rescale(unit)
    if isinstance(threshold, ScoresThreshold):
        factor = cluster.sums(
            parts.threshold_rows, weights, bias, unit, combine=parts.stack_factors
        )
        design = np.array(factor[:, :-1], order="F")
        with cluster.interruptible():
            return threshold.fit_design(design, factor[:, -1].copy()).rescale(unit)
    wanted = enough_rows(threshold, _THRESHOLD_ROWS, q)
    share = min(1.0, wanted / max(cluster.described()["rows"], 1))
    X, Y, row_weights = cluster.sums(parts.sampled_rows, share, combine=parts.stack_rows)
    with cluster.interruptible():
        scores = (product(X, weights) + bias) / unit
        return threshold.fit(scores, Y, X, row_weights).rescale(unit)
