"""A part's share in the repair of a free bias, after which all dual rows sum to 0."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin import _rust
from multimargin.dask.parts import (
    Common,
    Part,
    State,
    Sums,
    asked,
    contribution,
    dense,
    settled,
    state_of,
    sums_of_pairs,
)
from multimargin.estimators.pairwise.problem import Model
from multimargin.kernels import rust_matrix
from multimargin.typing import Matrix


@dataclass(frozen=True)
class Flow:
    """Dual rows that are best to first order, and cancel a multiple of the sum of all parts."""

    bands: Matrix  # (q,): How far from the margin the pairs of each label may be
    prices: Matrix  # (q,): The biases at which these rows are the best are lower by as much
    share: float  # Their share of the mixture that sums to 0
    best: Matrix  # (q,): The best biases for the scores are lower by as much


def mixed(part: Part, state: State, step: float, prices: Matrix, eps: float) -> State:
    """Return a hinge state mixed with a flow, so that the dual rows of all parts sum to 0."""
    dual = dense(settled(state, step).dual) * (1.0 - eps)
    weights = (part.pair_weights * part.shares())[:, None]
    change = _flow_with_zero_label if part.zero_label else _flow_of_pairs
    share = np.maximum(prices[:, None] - prices, 0.0)
    if part.label_weights is not None:
        ones = np.ones(share.shape[0] - part.label_weights.size)
        share = share * np.append(part.label_weights, ones)[:, None]
    dual += weights * change(part.indicator, share)
    return state_of(dual, sums_of_pairs(part, dual))


def pairs_near_margin(
    part: Part, state: State, common: Common, model: Model, bands: Matrix
) -> Sums:
    """Return the capacity of the part's pairs within the bands of their labels, by cost."""
    dual = settled(state, common.step).dual
    return _rust.pairs_near_margin(
        part.indicator, rust_matrix(part.X), **asked(part, dual, common, model), bands=bands
    )


def rerouted(
    part: Part, state: State, common: Common, model: Model, flow: Flow
) -> tuple[State, Sums]:
    """Return a hinge state mixed with its share of a flow, and its contribution."""
    dual = _rust.mixed_rows(
        part.indicator,
        rust_matrix(part.X),
        **asked(part, settled(state, common.step).dual, common, model),
        bands=flow.bands,
        prices=flow.prices,
        share=flow.share,
    )
    new = state_of(dual, sums_of_pairs(part, dual))
    return new, contribution(part, new, 1.0)


def _flow_of_pairs(indicator: NDArray[np.uint8], share: Matrix) -> Matrix:
    """Return the flow of the pairs of each row, `share` for each pair, by label."""
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
