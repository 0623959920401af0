"""The solution of a problem over parts, with the rounds for its kind of bias."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from multimargin.dask import parts
from multimargin.dask.bias import FreeRounds, PenalizedRounds, centred
from multimargin.dask.parts import Sums, inner
from multimargin.dask.rounds import (
    Cluster,
    ClusterLostError,
    PartsFit,
    Rounds,
    Settings,
    no_history,
)
from multimargin.dask.splitting import MOST_FEATURES, SplitRounds
from multimargin.estimators.fitting.certificate import relative_gap
from multimargin.estimators.pairwise.problem import Model
from multimargin.typing import Matrix


def solve_over_parts(
    cluster: Cluster, shape: tuple[int, int], model: Model, settings: Settings
) -> PartsFit:
    """Solve a linear problem of the pairwise family over parts."""
    about = cluster.described()
    if model.bias == "none":
        return _solved(Rounds(cluster, shape, model, settings, about))
    if model.bias == "penalized":
        return _solved(PenalizedRounds(cluster, shape, model, settings, about))
    total = about["total"]
    mean = None if total is None else total / about["rows"]
    if mean is not None and 2.0 * inner(mean, mean) > about["squared_norms"] / about["rows"]:
        # With a free bias the mean does not affect the optimum, but it does affect step lengths.
        cluster = cluster.view(parts.Part.centred, mean)
        if settings.start is not None:
            W, b = settings.start
            settings = replace(settings, start=(W, b + np.einsum("d,dq->q", mean, W)))
        solution = _solve_free(cluster, shape, model, settings, cluster.described())
        return replace(solution, bias=solution.bias - np.einsum("d,dq->q", mean, solution.weights))
    return _solve_free(cluster, shape, model, settings, about)


def _solved(rounds: Rounds) -> PartsFit:
    """Return the solution of rounds: of splitting if features are dense, or others are slow.

    Both share the point, so that nothing is lost by a change.
    """
    few = rounds.point.weights.shape[0] <= MOST_FEATURES
    start = rounds.settings.start
    if few and start is not None:
        rounds.point.weights, rounds.point.bias = start
    elif not (few and rounds.about["total"] is not None):
        solution = rounds.run(may_split=few)
        if solution.status != "slow":
            return solution
    return rounds.ended_by(lambda: SplitRounds(rounds).run())


def _solve_free(
    cluster: Cluster, shape: tuple[int, int], model: Model, settings: Settings, about: Sums
) -> PartsFit:
    """Solve a problem with a free bias, by strongly connected components of the label network.

    Pairs of labels in different components have no dual variables, and cost nothing once the
    biases of the components are far enough apart.
    """
    capacity = cluster.sums(parts.label_network)["capacity"]
    count, component = connected_components(
        sparse.csr_array(capacity), directed=True, connection="strong"
    )
    if count == 1:
        return _solved(FreeRounds(cluster, shape, model, settings, about, capacity))
    d, q = shape
    weights, bias = np.zeros(shape), np.zeros(q)
    primal = dual = pairs = rounding = 0.0
    status, error, rounds, histories = "converged", None, 0, []
    subsets = [np.flatnonzero(component == k) for k in range(count)]
    subsets = [subset for subset in subsets if subset.size > 1]
    for index, subset in enumerate(subsets):
        left = max(settings.max_rounds - rounds - (len(subsets) - 1 - index), 1)
        view = cluster.view(parts.Part.restricted, subset)
        start = settings.start
        if start is not None:
            start = start[0][:, subset], start[1][subset]
        part = _solved(
            FreeRounds(
                view,
                (d, subset.size),
                model,
                replace(settings, max_rounds=left, own_gap=None, start=start),
                view.described(),
                capacity[np.ix_(subset, subset)],
            )
        )
        weights[:, subset], bias[subset] = part.weights, part.bias
        history = dict(part.history)
        history["epoch"] = history["epoch"] + rounds
        history["primal"] = history["primal"] + primal
        history["dual"] = history["dual"] + dual
        histories.append(history)
        rounds += part.rounds
        primal, dual, pairs = primal + part.primal, dual + part.dual, pairs + part.pairs
        rounding += part.rounding
        if part.status != "converged":
            status = part.status
        if status == "interrupted":
            error = part.error
            break
    if not np.isfinite(primal):
        # Interrupted before there was a point.
        return PartsFit(weights, bias, status, rounds, primal, 0.0, pairs, {}, error=error)
    names = histories[0] if histories else no_history()
    history = {
        k: np.concatenate([h[k] for h in histories]) if histories else names[k] for k in names
    }
    try:
        bias = _lifted(cluster, weights, bias, component, capacity)
        loss = cluster.sums(parts.total_loss, weights, bias, model)["loss"]
    except (KeyboardInterrupt, ClusterLostError) as interruption:
        # The joint objective of the components is not known.
        status, loss, error = "interrupted", np.inf, interruption
    primal = 0.5 * inner(weights, weights) + loss
    if (
        status in ("max_iterations", "time_limit")
        and relative_gap(primal, dual, rounding) <= settings.tol
    ):
        status = "converged"
    found = status, rounds, primal, dual, pairs
    return PartsFit(weights, centred(bias), *found, history, rounding, error)


def _lifted(
    cluster: Cluster, weights: Matrix, bias: Matrix, component: Any, capacity: Matrix
) -> Matrix:
    """Move the biases of components apart until no pair across them has a loss."""
    count = int(component.max()) + 1
    above = np.zeros((count, count), dtype=bool)
    np.logical_or.at(above, (component[:, None], component[None, :]), capacity > 0.0)
    np.fill_diagonal(above, False)
    level = np.zeros(count)
    for _ in range(count):
        # The longest way down from each component of a graph without cycles.
        level = np.where(above.any(axis=1), 1.0 + (above * level).max(axis=1), 0.0)
    widest = cluster.sums(parts.score_range, weights, bias)["widest"]
    lifted: Matrix = bias + level[component] * (1.0 + widest)
    return lifted
