"""One part of the rows: its data, its dual rows, and its contributions to sums over all parts.

Every function here runs where the part is, takes the common state and returns arrays that are
summed over the parts; nothing depends on the assignment of parts to machines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.blas import one_blas_thread
from multimargin.checks.arrays import (
    MATRIX_OF_NUMBERS,
    check_as_many_rows,
    check_readable,
    naming,
    sound_features,
)
from multimargin.checks.weights import check_sample_weight
from multimargin.estimators.pairwise.label_weights import rows_of_labels
from multimargin.estimators.pairwise.pair_weights import pairs_of
from multimargin.estimators.pairwise.problem import Model
from multimargin.kernels import rust_matrix
from multimargin.targets.indicator import UNKNOWN, check_indicator, count_unknown, with_nan
from multimargin.thresholds.cuts import best_thresholds
from multimargin.typing import Features, LabelsLike, Marks, Matrix, MatrixLike, Vector, is_sparse

_R = TypeVar("_R")
# Features, labels and weights of some rows.
Sample: TypeAlias = tuple[Features, Marks, Vector | None]
Sums = dict[str, Any]

# Results that are combined at a time.
NEIGHBOURS = 4

# Dual rows with fewer nonzeros than this share are kept in compressed form.
_SPARSE = 0.25


@dataclass(frozen=True)
class Pairs:
    """Pairs of labels of a row, and their weights."""

    C: float = 1.0  # Weight of the loss
    # "balanced" weighs each row's pairs C together; "uniform" weighs each pair C, to be divided
    # by the number of rows; "zero label" has one pair for each known label, with the zero label,
    # that weigh C together
    kind: str = "balanced"


@dataclass(frozen=True)
class Part:
    """The rows of one part, ready for the compiled loops."""

    index: int  # Number of the part; sums are in this order
    X: Any  # (n, d): Features
    # (n, q): 1 where the label is relevant, `targets.indicator.UNKNOWN` where that is not known
    indicator: NDArray[np.uint8]
    pair_weights: Matrix  # (n,): Weight c_i of each pair of a row; 0 where it has none
    sample_weight: Matrix | None = None  # (n,): Weights of the rows, which `pair_weights` contain
    # Whether all pairs are with a zero label, whose dual variables are a last column
    zero_label: bool = False
    # (q,): Weight of the pairs in which each label is relevant
    label_weights: Matrix | None = None
    # Number of the highest irrelevant labels with which each relevant one forms a pair
    top: int | None = None
    # What tells the names of features and labels, where these have some
    names: tuple[str | None, str | None] = (None, None)

    @property
    def dual_shape(self) -> tuple[int, int]:
        """Shape of the dual rows."""
        n, q = self.indicator.shape
        return n, q + int(self.zero_label)

    def with_pairs(self) -> NDArray[np.bool_]:
        """Return which rows have a pair of labels with positive weight, shape (n,)."""
        pairs = _pairs_of(self.indicator, self.zero_label)
        return np.asarray((pairs > 0) & (self.pair_weights > 0.0))

    def weights_of_rows(self) -> Matrix:
        """Return the total weight of the pairs of each row, shape (n,)."""
        if self.label_weights is None:
            return self.pair_weights * _pairs_of(self.indicator, self.zero_label, self.top)
        of_labels = (self.indicator == 1) @ self.label_weights
        if self.zero_label:
            return np.asarray(self.pair_weights * (of_labels + (self.indicator == 0).sum(axis=1)))
        return np.asarray(self.pair_weights * of_labels * self._partners())

    def shares(self) -> Matrix:
        """Return the share of its weight that every pair of a row can have at once, shape (n,)."""
        irrelevant = np.maximum((self.indicator == 0).sum(axis=1), 1)
        return np.asarray(self._partners() / irrelevant if self.top else np.ones(irrelevant.size))

    def _partners(self) -> Matrix:
        irrelevant = (self.indicator == 0).sum(axis=1)
        return np.asarray(irrelevant if self.top is None else np.minimum(irrelevant, self.top))

    def counting(self, label_weights: Matrix | None, top: int | None, balanced: bool) -> "Part":
        """Return the part with weights of labels, and pairs only at the top of the ranking.

        With `balanced` the total weight of a row's pairs does not change.
        """
        part = replace(self, label_weights=label_weights, top=top)
        if top is None or not balanced:
            return part
        return replace(part, pair_weights=self.pair_weights / np.maximum(part.shares(), 1e-300))

    def reweighted(self, factor: float) -> "Part":
        """Return the part with all weights of pairs times a factor."""
        return replace(self, pair_weights=factor * self.pair_weights)

    def centred(self, mean: Matrix) -> "Part":
        """Return the part with dense features moved by `mean`."""
        return replace(self, X=self.X - mean)

    def restricted(self, labels: NDArray[np.intp]) -> "Part":
        """Return the part seen through some labels, with the pair weights of the whole."""
        labels = labels[labels < self.indicator.shape[1]]
        weights = None if self.label_weights is None else self.label_weights[labels]
        indicator = np.ascontiguousarray(self.indicator[:, labels])
        return replace(self, indicator=indicator, label_weights=weights)


def _pairs_of(indicator: NDArray[np.uint8], zero_label: bool, top: int | None = None) -> Matrix:
    if not zero_label:
        return pairs_of(indicator, top)
    known: Matrix = np.count_nonzero(indicator != UNKNOWN, axis=1).astype(np.float64)
    return known


def make_part(
    index: int,
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: ArrayLike | None,
    pairs: Pairs,
    names: tuple[Sequence[str] | None, Sequence[str] | None] | None = None,
) -> Part:
    """Check the rows of one part; `names` are those of features and labels, else of data frames."""
    names = (names_of(X), names_of(y)) if names is None else names
    try:
        check_readable(X)
        with naming("X", MATRIX_OF_NUMBERS):
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=np.float64,
                order="C",
                input_name="X",
                ensure_min_samples=0,
            )
        X = sound_features(X)
        indicator = _indicator(y)
        check_as_many_rows(indicator, X)
        given = check_sample_weight(sample_weight, X.shape[0], all_rows=False)
    except (TypeError, ValueError) as error:
        error.add_note(f"This is about part {index} of the rows.")
        raise
    zero_label = pairs.kind == "zero label"
    counts = _pairs_of(indicator, zero_label)
    weights = np.ones(X.shape[0]) if given is None else given
    shares = np.minimum(counts, 1.0) if pairs.kind == "uniform" else counts
    pair_weights = np.divide(
        pairs.C * weights, shares, out=np.zeros_like(weights), where=counts > 0
    )
    told = _told(names[0]), _told(names[1])
    return Part(index, X, indicator, pair_weights, given, zero_label, names=told)


def _told(names: Sequence[str] | None) -> str | None:
    """Return what tells names from others: many names of many parts need not travel."""
    return None if names is None else sha256(repr([*names]).encode()).hexdigest()


def names_of(data: Any) -> Sequence[str] | None:
    """Return the names of the columns of a data frame, None if they are no texts."""
    columns = getattr(data, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def _indicator(y: LabelsLike) -> NDArray[np.uint8]:
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[0] == 0 and shape[1] > 0:
        return np.zeros(shape, dtype=np.uint8)
    return check_indicator(y, unknown=True)


@dataclass(frozen=True)
class State:
    """The dual rows of a part before and after its last epoch.

    The common step length between them is decided when all parts have answered.
    """

    dual: Any  # (n, q): Dual rows
    terms: Matrix  # (n,): Their dual terms D_i; NaN where they are not known yet
    new_dual: Any
    new_terms: Matrix


def fresh(part: Part) -> State:
    """Return the state at B = 0."""
    zero, terms = sparse.csr_array(part.dual_shape, dtype=np.float64), np.zeros(part.X.shape[0])
    return State(zero, terms, zero, terms)


def state_of(dual: Matrix, terms: Matrix) -> State:
    """Return the state at given dual rows and dual terms."""
    kept = _compact(dual)
    return State(kept, terms, kept, terms)


def settled(state: State, step: float) -> State:
    """Return the state after a step of length `step` along its last epoch."""
    if step == 1.0:
        dual, terms = state.new_dual, state.new_terms
    elif step == 0.0:
        dual, terms = state.dual, state.terms
    else:
        old, new = state.dual, state.new_dual
        if not (is_sparse(old) and is_sparse(new)):
            old, new = dense(old), dense(new)
        dual = _compact(old + step * (new - old))
        terms = state.terms + step * (state.new_terms - state.terms)
    return State(dual, terms, dual, terms)


def applied(function: Callable[..., _R], *arguments: object) -> _R:
    """Return a function of a part: on one BLAS thread, for rounding depends on their number."""
    with one_blas_thread():
        return function(*arguments)


def aligned(value: Any) -> Any:
    """Return a value with its arrays as compiled loops need them.

    Arrays from a network may be unaligned, which also takes NumPy twice as long.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["C", "ALIGNED"])
    if is_sparse(value):
        arrays = aligned((value.data, value.indices, value.indptr))
        rows = sparse.csr_array(arrays, shape=value.shape)
        # Otherwise every round would check all entries.
        rows.has_canonical_format = value.has_canonical_format
        return rows
    if isinstance(value, dict):
        return {key: aligned(entry) for key, entry in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(aligned, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: aligned(getattr(value, f.name)) for f in fields(value)})
    return value


def moved(weights: Matrix, change: Matrix, step: float) -> Matrix:
    """Return weights after a step along a change, in double precision."""
    new: Matrix = np.multiply(change, step, dtype=np.float64)
    new += weights
    return new


def inner(left: Matrix, right: Matrix) -> float:
    """Return the inner product of two arrays, in double precision.

    The same bits with any number of BLAS threads.
    """
    return float(np.einsum("i,i->", left.ravel(), right.ravel(), dtype=np.float64))


def dense(matrix: Features) -> Matrix:
    """Return dual rows in full, copied only if they are sparse."""
    full: Matrix = matrix.toarray() if is_sparse(matrix) else matrix
    return full


def _compact(matrix: Any) -> Any:
    size = matrix.shape[0] * matrix.shape[1]
    if is_sparse(matrix):
        return matrix if matrix.nnz < _SPARSE * size else matrix.toarray()
    places = np.flatnonzero(matrix)
    if places.size >= _SPARSE * size:
        return matrix
    counts = np.count_nonzero(matrix, axis=1)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    values = matrix.ravel()[places]
    return sparse.csr_array((values, places % matrix.shape[1], indptr), shape=matrix.shape)


@dataclass(frozen=True)
class Common:
    """The common starting point of a round, and its settings."""

    # (d, q): W, the sum of X_p^T B_p over the parts, in double or single precision
    weights: NDArray[Any]
    offset: Matrix  # (q,): The bias in the scores
    step: float  # Step length along the last epochs that leads to this point, in [0, 1]
    sigma: float  # Curvature of the bias
    growth: float  # Factor of the curvature, sigma' of CoCoA+
    # Rows whose gap terms sum to less than this are skipped
    tolerated: float
    rows: int  # Number of rows of all parts
    epochs: int  # Epochs of each part; 0 only certifies
    seed: tuple[int, int]  # Seed of the random permutations, with the number of the round
    threads: int  # Threads of each part
    single: bool = False  # Whether the change of the weights travels in single precision, too


def improve(part: Part, state: State, common: Common, model: Model) -> tuple[State, Sums]:
    """Certify the rows at the common point, and improve them by an epoch."""
    state = settled(state, common.step)
    n = part.X.shape[0]
    common = replace(common, tolerated=common.tolerated * n / max(common.rows, 1))
    answer = _improved(part, state, common, model)
    new = replace(state, new_dual=_compact(answer["dual"]), new_terms=answer["dual_terms"])
    sums = {
        "loss": answer["loss"],
        "gap": answer["gap"],
        "rounding": answer["rounding"],
        "size": answer["size"],
        "terms": state.terms.sum(),
        "gained": (answer["dual_terms"] - state.terms).sum(),
        "active": answer["active"],
    }
    if common.epochs > 0:
        sums |= {"weights": answer["weights"], "sum": answer["sum"]}
        if common.single:
            sums["length"] = float(np.sqrt(inner(answer["weights"], answer["weights"])))
            sums["weights"] = answer["weights"].astype(np.float32)
    return new, sums


def asked(part: Part, dual: Features, common: Any, model: Model) -> dict[str, Any]:
    """Return the arguments of each compiled loop: rows, dual rows and common point."""
    return {
        "pair_weights": part.pair_weights,
        "label_weights": part.label_weights,
        "dual": dense(dual),
        "weights": np.ascontiguousarray(common.weights, dtype=np.float64),
        "offset": common.offset,
        "loss": model.loss,
        "threads": common.threads,
    }


def _improved(part: Part, state: State, common: Common, model: Model) -> dict[str, Any]:
    """Return the result of the compiled loop for a settled state."""
    seed = np.random.SeedSequence((*common.seed, part.index)).generate_state(1, np.uint64)[0]
    return _rust.improve_part(
        part.indicator,
        rust_matrix(part.X),
        **asked(part, state.dual, common, model),
        top=part.top,
        dual_terms=state.terms,
        theta=model.theta,
        mu=model.mu,
        sigma=common.sigma,
        growth=common.growth,
        tolerated=common.tolerated,
        epochs=common.epochs,
        seed=int(seed),
    )


def contribution(part: Part, state: State, step: float) -> Sums:
    """Return the contributions of the rows to W, the sum of the dual rows and the dual terms."""
    state = settled(state, step)
    return {
        "weights": np.asarray(_product(part.X, state.dual)),
        "sum": np.asarray(state.dual.sum(axis=0)).ravel(),
        "size": float(abs(state.dual).sum()),
        "square": float((state.dual * state.dual).sum()),
        "terms": state.terms.sum(),
        # For Rank-CVM: the sum of the dual variables of all pairs.
        "pairs": float(sums_of_pairs(part, dense(state.dual)).sum()),
    }


def _product(X: Features, dual: Any) -> Matrix:
    if is_sparse(X) and not is_sparse(dual):
        return np.asarray(X.T @ dual)
    if is_sparse(X):
        return np.asarray((X.T @ dual).toarray())
    return np.asarray(safe_sparse_dot(X.T, dense(dual)))


def sums_of_pairs(part: Part, dual: Matrix) -> Matrix:
    """Return the sum of the dual variables of each row's pairs."""
    q = part.indicator.shape[1]
    sums = np.where(part.indicator == 1, dual[:, :q], 0.0).sum(axis=1)
    if part.zero_label:
        sums -= np.where(part.indicator == 0, dual[:, :q], 0.0).sum(axis=1)
    return np.asarray(sums)


def describe(part: Part) -> Sums:
    """Return the sums that a fit needs before its first round."""
    n = part.X.shape[0]
    with_pairs = part.with_pairs()
    squares = squared_norms(part.X)
    weights = np.ones(n) if part.sample_weight is None else part.sample_weight
    return {
        # Rows, features and columns of the dual rows; a sum of lists has all of them.
        "shapes": [(*part.X.shape, part.dual_shape[1])],
        "names": [part.names],
        "rows": n,
        "row_weight": float(weights.sum()),
        "rows_with_pairs": int(with_pairs.sum()),
        "squared_norms": float(squares.sum()),
        "squared_norms_with_pairs": float(squares[with_pairs].sum()),
        "pair_weight": float(part.weights_of_rows().sum()),
        "all_pairs": part.top is None,
        "bytes": _bytes(part.X) + part.indicator.nbytes + part.pair_weights.nbytes,
        "empty_weight": float(weights @ (part.indicator == 0).all(axis=1)),
        "unknown": count_unknown(part.indicator),
        "total": None if is_sparse(part.X) else part.X.sum(axis=0),
    }


def squared_norms(X: Features) -> Matrix:
    """Return the squared length of each row."""
    squares = X.multiply(X) if is_sparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def _bytes(X: Any) -> int:
    arrays = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    return sum(int(array.nbytes) for array in arrays)


def label_rows(part: Part) -> Sums:
    """Return the number of rows in which each label is relevant."""
    return {"rows": rows_of_labels(part.indicator, part.sample_weight)}


def label_network(part: Part) -> Sums:
    """Return C_ml, the weight of the rows with a pair that has label m above label l.

    Of pairs at the top of a ranking, the share that all of them may have at once.
    """
    rows = part.pair_weights > 0.0
    indicator, pair_weights = part.indicator[rows], (part.pair_weights * part.shares())[rows]
    if part.zero_label:
        capacity = _star(indicator, pair_weights)
        if part.label_weights is not None:
            capacity[:-1, -1] *= part.label_weights
        return {"capacity": capacity}
    Y = sparse.csr_array(indicator == 1, dtype=np.float64)
    excluded = sparse.csr_array(indicator != 0, dtype=np.float64)
    weighted = Y.multiply(pair_weights[:, None]).tocsr()
    counts = Y.sum(axis=0)[:, None] - (Y.T @ excluded).toarray(order="C")
    weights = weighted.sum(axis=0)[:, None] - (weighted.T @ excluded).toarray(order="C")
    # Zeros are found by counting, as differences of float sums would not be exactly 0.
    if part.label_weights is not None:
        weights *= part.label_weights[:, None]
    return {"capacity": np.where(counts > 0.0, np.maximum(weights, 0.0), 0.0)}


def _star(indicator: NDArray[np.uint8], pair_weights: Matrix) -> Matrix:
    """Return the network of a zero label, which is in all pairs."""
    q = indicator.shape[1]
    capacity = np.zeros((q + 1, q + 1))
    capacity[:q, q] = pair_weights @ (indicator == 1)
    capacity[q, :q] = pair_weights @ (indicator == 0)
    return capacity


def score_range(part: Part, weights: Matrix, bias: Matrix) -> Sums:
    """Return the widest range of a row's scores."""
    scores = safe_sparse_dot(part.X, weights) + bias
    widest = float(np.ptp(scores, axis=1).max()) if scores.size else 0.0
    return {"widest": widest}


def total_loss(part: Part, weights: Matrix, bias: Matrix, model: Model) -> Sums:
    """Return the loss of the rows for any weights and bias."""
    common = Common(
        weights,
        bias,
        step=1.0,
        sigma=0.0,
        growth=1.0,
        tolerated=0.0,
        rows=0,
        epochs=0,
        seed=(0, 0),
        threads=1,
    )
    return {"loss": _improved(part, fresh(part), common, model)["loss"]}


def threshold_rows(part: Part, weights: Matrix, bias: Matrix, unit: float) -> Matrix:
    """Return the triangular factor of the least squares of a threshold on scores.

    The factors of all parts, stacked, have the same least-squares solutions as all rows.
    """
    scores = (safe_sparse_dot(part.X, weights) + bias) / unit
    target = best_thresholds(scores, part.indicator)
    rows = np.column_stack([scores, np.ones(scores.shape[0]), target])
    if part.sample_weight is not None:
        rows *= np.sqrt(part.sample_weight)[:, None]
    # Any threshold is as good as any other there.
    rows[(part.indicator == UNKNOWN).all(axis=1)] = 0.0
    return np.asarray(np.linalg.qr(rows, mode="r"))


def sampled_rows(part: Part, wanted: float) -> Sample:
    """Return every so many-th row, a share `wanted` of all: features, labels and weights.

    Unknown labels are NaN.
    """
    n = part.X.shape[0]
    chosen = np.unique(np.linspace(0, n - 1, max(1, int(np.ceil(wanted * n)))).astype(int))
    chosen = chosen[:n]
    weights = part.sample_weight
    return (
        part.X[chosen],
        with_nan(part.indicator[chosen]),
        None if weights is None else weights[chosen],
    )


def roundings(count: int) -> int:
    """Return the number of rounded additions on the way of each term to a sum."""
    levels = 0
    while count > 1:
        count, levels = -(-count // NEIGHBOURS), levels + 1
    return 1 + levels * (NEIGHBOURS - 1)


def add(left: Sums, right: Sums) -> Sums:
    """Return the sum of two sums; "widest" is a maximum, and None stays None."""
    return {name: _added(name, value, right[name]) for name, value in left.items()}


def _added(name: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if name == "total" and left.shape != right.shape:
        # Parts with different features, which are refused once all are known.
        return None
    return max(left, right) if name == "widest" else left + right


def stack_factors(left: Matrix, right: Matrix) -> Matrix:
    """Return the triangular factor of two stacked ones."""
    return np.asarray(np.linalg.qr(np.vstack([left, right]), mode="r"))


def stack_rows(left: Sample, right: Sample) -> Sample:
    """Return the rows of two samples."""
    rows = [left[0], right[0]]
    X: Any = sparse.vstack(rows, format="csr") if any(map(is_sparse, rows)) else np.vstack(rows)
    weights = None if left[2] is None else np.concatenate([left[2], right[2]])
    return X, np.vstack([left[1], right[1]]), weights
