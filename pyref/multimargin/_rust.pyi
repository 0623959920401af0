"""Types of the compiled loops. Private: the public interface is in the Python modules."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "best_bias_without_features",
    "flow_of_parts",
    "improve_part",
    "kernel_matrix",
    "kernel_product",
    "looks_for_signals",
    "loss_prox",
    "mixed_rows",
    "pairs_near_margin",
    "route_label_sums",
    "solve_label",
    "solve_label_features",
    "solve_mlrl",
    "solve_pairwise",
    "solve_simplex",
    "sparse_product",
    "split_part",
    "total_loss",
]

_Matrix: TypeAlias = NDArray[np.float64]
_Sparse: TypeAlias = tuple[_Matrix, NDArray[np.int32], NDArray[np.int32], int]
_Features: TypeAlias = _Matrix | _Sparse
_Marks: TypeAlias = NDArray[np.uint8]
_Labels: TypeAlias = _Marks | tuple[_Marks, NDArray[np.int32], NDArray[np.int32], int]
_Callback: TypeAlias = Callable[[int, float, float, float, int], bool]

class _PairwiseDefaults(TypedDict, total=False):
    storage: str | None
    theta: float
    mu: float
    gamma: float
    degree: int
    coef0: float
    metric: _Matrix | None
    pair_weights: _Matrix | None
    label_weights: _Matrix | None
    top: int | None
    start: _Matrix | None
    start_bias: _Matrix | None
    seed: int
    shuffle: bool
    without: Sequence[str]
    block_size: int
    chains: int
    cache_bytes: int
    threads: int
    callback: _Callback | None
    seconds: float | None

class _PairwiseRequest(_PairwiseDefaults):
    c: float
    loss: str
    kernel_name: str
    bias: str
    solver: str
    tolerance: float
    max_epochs: int

def solve_pairwise(
    indicator: _Labels, features: _Features, **request: Unpack[_PairwiseRequest]
) -> dict[str, Any]: ...

class _PartDefaults(TypedDict, total=False):
    threads: int
    dual_terms: _Matrix | None
    label_weights: _Matrix | None
    top: int | None

class _PartRequest(_PartDefaults):
    pair_weights: _Matrix
    dual: _Matrix
    weights: _Matrix
    offset: _Matrix
    loss: str
    theta: float
    mu: float
    sigma: float
    growth: float
    tolerated: float
    epochs: int
    seed: int

def improve_part(
    indicator: _Labels, features: _Features, **request: Unpack[_PartRequest]
) -> dict[str, Any]: ...

class _SplitDefaults(TypedDict, total=False):
    label_weights: _Matrix | None
    top: int | None
    scores: _Matrix | None
    threads: int

class _SplitRequest(_SplitDefaults):
    pair_weights: _Matrix
    dual: _Matrix
    weights: _Matrix
    offset: _Matrix
    loss: str
    theta: float
    mu: float
    rho: float
    length: float
    beside: float

def split_part(
    indicator: _Marks, features: _Features, **request: Unpack[_SplitRequest]
) -> dict[str, Any]: ...
def looks_for_signals() -> bool: ...

class _FlowDefaults(TypedDict, total=False):
    label_weights: _Matrix | None
    prices: _Matrix | None
    share: float

class _FlowRequest(_FlowDefaults):
    pair_weights: _Matrix
    dual: _Matrix
    weights: _Matrix
    offset: _Matrix
    loss: str
    threads: int
    bands: _Matrix

def pairs_near_margin(
    indicator: _Labels, features: _Features, **request: Unpack[_FlowRequest]
) -> dict[str, Any]: ...
def mixed_rows(
    indicator: _Labels, features: _Features, **request: Unpack[_FlowRequest]
) -> _Matrix: ...
def best_bias_without_features(capacity: _Matrix) -> _Matrix: ...
def route_label_sums(sum: _Matrix, capacity: _Matrix) -> tuple[float, _Matrix] | None: ...
def flow_of_parts(
    sum: _Matrix, pair_weight: float, tolerated: float, look: Callable[[_Matrix], dict[str, Any]]
) -> dict[str, Any] | None: ...

class _SimplexDefaults(TypedDict, total=False):
    pair_weights: _Matrix | None
    label_weights: _Matrix | None
    callback: _Callback | None
    seconds: float | None

class _SimplexRequest(_SimplexDefaults):
    c: float
    kernel_name: str
    gamma: float
    degree: int
    coef0: float
    absolute: bool
    tolerance: float
    max_epochs: int
    cache_bytes: int

def solve_simplex(
    indicator: _Labels, features: _Features, **request: Unpack[_SimplexRequest]
) -> dict[str, Any]: ...

class _RelationshipDefaults(TypedDict, total=False):
    covariance: _Matrix | None
    row_shares: _Matrix | None
    threads: int
    callback: _Callback | None
    seconds: float | None

class _RelationshipRequest(_RelationshipDefaults):
    lam: float
    kernel_name: str
    gamma: float
    degree: int
    coef0: float
    solver: str
    ridge: float
    tolerance: float
    max_rounds: int
    cache_bytes: int

def solve_mlrl(
    indicator: NDArray[np.uint8], features: _Features, **request: Unpack[_RelationshipRequest]
) -> dict[str, Any]: ...
def solve_label(
    kernel: _Matrix,
    signs: _Matrix,
    bounds: _Matrix,
    dual: _Matrix,
    *,
    scale: float,
    tolerance: float,
    steps: int,
) -> tuple[_Matrix, _Matrix, int]: ...
def kernel_matrix(
    left: _Features,
    right: _Features | None,
    *,
    name: str,
    gamma: float,
    degree: int,
    coef0: float,
    threads: int,
) -> _Matrix: ...
def kernel_product(
    left: _Features,
    right: _Features,
    factor: _Matrix,
    *,
    name: str,
    gamma: float,
    degree: int,
    coef0: float,
    threads: int,
) -> _Matrix: ...
def loss_prox(
    indicator: _Labels,
    centre: _Matrix,
    lam: float,
    *,
    loss: str,
    theta: float = 0.0,
    mu: float = 1.0,
    label_weights: _Matrix | None = None,
    top: int | None = None,
) -> _Matrix: ...
def sparse_product(features: _Features, factor: NDArray[np.float32], threads: int) -> _Matrix: ...
def total_loss(
    indicator: _Labels,
    scores: _Matrix,
    pair_weights: _Matrix,
    *,
    loss: str,
    theta: float = 0.0,
    mu: float = 1.0,
    label_weights: _Matrix | None = None,
    top: int | None = None,
) -> float: ...

class _LabelFeaturesDefaults(TypedDict, total=False):
    coupling: _Matrix | None
    anchor: float | None
    basis: tuple[_Matrix, _Matrix] | None
    coupling_basis: tuple[_Matrix, _Matrix] | None
    start: _Matrix | None
    threads: int
    callback: _Callback | None
    seconds: float | None

class _LabelFeaturesRequest(_LabelFeaturesDefaults):
    sums: tuple[_Matrix, _Matrix]
    beta: float
    convex: bool
    solver: str
    lipschitz: float
    tolerance: float
    max_epochs: int

def solve_label_features(
    features: _Features, **request: Unpack[_LabelFeaturesRequest]
) -> dict[str, Any]: ...
