"""A part's share in a round of the alternating direction method."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from multimargin import _rust
from multimargin.dask.parts import Part, State, Sums, asked, settled, squared_norms, sums_of_pairs
from multimargin.estimators.pairwise.problem import Model
from multimargin.kernels import rust_matrix
from multimargin.typing import Matrix

# As in the compiled loops: the relaxation's factor of the fitted scores, and the squared length of
# the shortest row that is scaled to the length of the others.
RELAXATION = 1.8
_SHORTEST = 1e-3


@dataclass(frozen=True)
class SplitCommon:
    """The model that all parts receive in a round, and its settings."""

    weights: Matrix  # (d, q): W
    offset: Matrix  # (q,): The bias
    step: float  # How far dual rows of other rounds go along their last epochs
    rho: float  # Penalty
    length: float  # Squared length to which the features of each row are scaled
    beside: float  # Square of a feature beside those, that of a penalized bias
    threads: int  # Threads of each part
    restart: bool  # Whether the scores are those of the model
    mixture: Matrix | None  # What the kept states are weighted with, to start from
    shift: Matrix | None  # (q,): What the scores of all rows are raised by, to start from
    keep: int | None  # How many kept states to have before that of this round; None keeps none
    last: bool  # Whether to return the inner products of the moves between kept states


@dataclass(frozen=True)
class SplitState(State):
    """The dual rows of a part with scores of their own, both times the scales."""

    scores: Matrix  # (n, q)
    # Scores and dual rows of the rounds before that are to be extrapolated
    kept: tuple[tuple[Matrix, Matrix], ...] = ()


def gram(part: Part, length: float, beside: float) -> Sums:
    """Return the sum of s_i^2 x_i x_i^T over the rows with pairs, a column of ones behind X."""
    rows, scales = part.with_pairs(), _scales(part, length, beside)
    X: Any = part.X[rows]
    scales = scales[rows, np.newaxis]
    if sparse.issparse(X):
        X = sparse.hstack([X.multiply(scales), sparse.csr_array(scales)], format="csr")
        return {"gram": np.asarray((X.T @ X).toarray(order="C"))}
    X = np.hstack([X * scales, scales])
    return {"gram": np.asarray(X.T @ X)}


def _scales(part: Part, length: float, beside: float) -> Matrix:
    """Return the scales that give the features of all rows equal length."""
    squares = squared_norms(part.X) + beside
    return np.asarray(1.0 / np.sqrt(np.maximum(squares / length, _SHORTEST)))


def split(part: Part, state: State, common: SplitCommon, model: Model) -> tuple[State, Sums]:
    """Move the scores and the dual rows, and certify both them and the common model."""
    scores, dual = _start(part, state, common)
    answer = _rust.split_part(
        part.indicator,
        rust_matrix(part.X),
        **asked(part, dual, common, model),
        top=part.top,
        scores=scores,
        theta=model.theta,
        mu=model.mu,
        rho=common.rho,
        length=common.length,
        beside=common.beside,
    )
    new, terms, at = answer["dual"], answer["dual_terms"], answer["scores"]
    kept: tuple[tuple[Matrix, Matrix], ...] = ()
    if common.keep is not None:
        before = state.kept if isinstance(state, SplitState) else ()
        kept = (*before[len(before) - common.keep :], (at, new))
    sums = {name: answer[name] for name in _SUMS}
    sums |= {"terms": terms.sum(), "pairs": float(sums_of_pairs(part, new).sum())}
    if common.last:
        scales = _scales(part, common.length, common.beside)
        sums["residuals"] = _residuals(kept, common.rho * scales)
        kept = kept[1:]
    return SplitState(new, terms, new, terms, at, kept), sums


_SUMS = (
    *("weights", "sum", "loss", "rounding", "size"),
    *("square", "primal", "moved", "displacements"),
)


def _start(part: Part, state: State, common: SplitCommon) -> tuple[Matrix | None, Matrix]:
    """Return the scores to start from, None for those of the model, and the dual rows."""
    if common.restart or not isinstance(state, SplitState):
        return None, settled(state, common.step).dual
    scores, dual = state.scores, state.dual
    if common.mixture is not None:
        pairs = list(zip(common.mixture, state.kept, strict=True))
        scores = np.asarray(sum(weight * scores for weight, (scores, _) in pairs))
        dual = sum(weight * dual for weight, (_, dual) in pairs)
    if common.shift is not None:
        scales = _scales(part, common.length, common.beside) * part.with_pairs()
        scores = scores + scales[:, np.newaxis] * common.shift
    return scores, dual


def _residuals(kept: tuple[tuple[Matrix, Matrix], ...], penalties: Matrix) -> Matrix:
    """Return the inner products of the moves of scores and multipliers, times the scales."""
    scores = np.diff([scores.ravel() for scores, _ in kept], axis=0)
    duals = np.diff([(dual / penalties[:, np.newaxis]).ravel() for _, dual in kept], axis=0)
    return np.asarray(scores @ scores.T + duals @ duals.T)
