"""What a part does in the repair of a free bias: the dual rows move until all sum to 0."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin import _rust
from multimargin.dask.parts import (
    Common,
    Part,
    State,
    Sums,
    aligned,
    aligned_part,
    contribution,
    dense,
    settled,
    state_of,
    sums_of_pairs,
)
from multimargin.estimators.shared.problem import Matrix, Model
from multimargin.kernels import rust_matrix


@dataclass(frozen=True)
class Flow:
    """A flow through the pairs near the margin, which makes the dual rows of all parts sum to 0."""

    bands: Matrix  # (q,): How far from the margin the pairs of each label may be
    # (q,): The labels' prices: a bias that is lower by as much makes the flow cost nothing
    prices: Matrix
    spread: float  # The share of each capacity that opens evenly with the difference of prices


def mixed(part: Part, state: State, step: float, share: Matrix, eps: float) -> State:
    """Return a hinge state mixed with a flow, so that the dual rows of all parts sum to 0."""
    dual = dense(settled(state, step).dual) * (1.0 - eps)
    weights = eps * (part.pair_weights * part.shares())[:, None]
    change = _flow_with_zero_label if part.zero_label else _flow_of_pairs
    if part.label_weights is not None:
        ones = np.ones(share.shape[0] - part.label_weights.size)
        share = share * np.append(part.label_weights, ones)[:, None]
    dual += weights * change(part.indicator, share)
    return state_of(dual, sums_of_pairs(part, dual))


def residual_capacities(
    part: Part, state: State, common: Common, model: Model, bands: Matrix
) -> Sums:
    """Return what the part's pairs within the bands of their labels can carry, by cost."""
    part = aligned_part(part)
    return {
        "capacities": _rust.residual_capacities(
            part.indicator, rust_matrix(part.X), **_residual(part, state, common, model, bands)
        )
    }


def rerouted(
    part: Part, state: State, common: Common, model: Model, flow: Flow
) -> tuple[State, Sums]:
    """Return a hinge state after its share of a flow, and its contribution."""
    part = aligned_part(part)
    dual = _rust.residual_moves(
        part.indicator,
        rust_matrix(part.X),
        prices=flow.prices,
        spread=flow.spread,
        **_residual(part, state, common, model, flow.bands),
    )
    new = state_of(dual, sums_of_pairs(part, dual))
    return new, contribution(part, new, 1.0)


def _residual(
    part: Part, state: State, common: Common, model: Model, bands: Matrix
) -> dict[str, Any]:
    return {
        "pair_weights": part.pair_weights,
        "dual": aligned(dense(settled(state, common.step).dual)),
        "weights": aligned(common.weights, np.float64),
        "offset": aligned(common.offset),
        "loss": model.loss,
        "threads": common.threads,
        "bands": aligned(bands),
    }


def _flow_of_pairs(indicator: NDArray[np.uint8], share: Matrix) -> Matrix:
    """Return what the pairs of each row carry, `share` for each pair, by label."""
    Y = sparse.csr_array(indicator == 1, dtype=np.float64)
    excluded = sparse.csr_array(indicator != 0, dtype=np.float64)
    # Relevant labels gain from the irrelevant ones of their row, and the other way round.
    gains = Y.multiply(share.sum(axis=1) - excluded @ share.T).toarray()
    return np.asarray(gains - np.where(indicator == 0, Y @ share, 0.0))


def _flow_with_zero_label(indicator: NDArray[np.uint8], share: Matrix) -> Matrix:
    flow = np.where(indicator == 1, share[:-1, -1], 0.0)
    flow -= np.where(indicator == 0, share[-1, :-1], 0.0)
    # The zero label has the other end of each pair.
    return np.column_stack([flow, -flow.sum(axis=1)])
