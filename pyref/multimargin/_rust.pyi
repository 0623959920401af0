"""Types of the compiled loops. Private: the public interface is in the Python modules."""

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LabelFeaturesSolution",
    "PairwiseSolution",
    "PartAnswer",
    "RelationshipSolution",
    "SimplexSolution",
    "improve_part",
    "kernel_matrix",
    "kernel_product",
    "loss_prox",
    "loss_value",
    "route_label_sums",
    "solve_label_features",
    "solve_mlrl",
    "solve_pairwise",
    "solve_simplex",
]

_Matrix: TypeAlias = NDArray[np.float64]
_Sparse: TypeAlias = tuple[_Matrix, NDArray[np.int32], NDArray[np.int32], int]
_Features: TypeAlias = _Matrix | _Sparse
_Pairs: TypeAlias = tuple[NDArray[np.uint32], _Matrix]

@final
class PairwiseSolution:
    @property
    def dual(self) -> _Matrix: ...
    @property
    def bias(self) -> _Matrix: ...
    @property
    def weights(self) -> _Matrix | None: ...
    @property
    def scores(self) -> _Matrix: ...
    @property
    def status(self) -> str: ...
    @property
    def epochs(self) -> int: ...
    @property
    def primal(self) -> float: ...
    @property
    def dual_objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def history(self) -> _Matrix: ...

def solve_pairwise(
    indicator: NDArray[np.uint8],
    features: _Features,
    *,
    c: float,
    loss: str,
    theta: float,
    mu: float,
    kernel_name: str,
    gamma: float,
    degree: int,
    coef0: float,
    bias: str,
    solver: str,
    start: _Matrix | None,
    tolerance: float,
    max_epochs: int,
    seed: int,
    shuffle: bool,
    shrinking: bool,
    acceleration: bool,
    block_size: int,
    chains: int,
    cache_bytes: int,
    threads: int,
    callback: Callable[[int, float, float, float, int], bool] | None,
    start_bias: _Matrix | None = None,
    metric: _Matrix | None = None,
    pair_weights: _Matrix | None = None,
) -> PairwiseSolution: ...

@final
class PartAnswer:
    @property
    def dual(self) -> _Matrix: ...
    @property
    def dual_terms(self) -> _Matrix: ...
    @property
    def weights(self) -> _Matrix: ...
    @property
    def sum(self) -> _Matrix: ...
    @property
    def loss(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def active(self) -> int: ...

def improve_part(
    indicator: NDArray[np.uint8],
    features: _Features,
    pair_weights: _Matrix,
    dual: _Matrix,
    dual_terms: _Matrix,
    weights: _Matrix,
    offset: _Matrix,
    *,
    loss: str,
    theta: float,
    mu: float,
    sigma: float,
    growth: float,
    tolerated: float,
    epochs: int,
    seed: int,
    threads: int,
    centre: _Matrix | None = None,
    rho: float = 0.0,
) -> PartAnswer: ...
def route_label_sums(sum: _Matrix, capacity: _Matrix) -> tuple[float, _Matrix] | None: ...

@final
class SimplexSolution:
    @property
    def dual(self) -> _Matrix: ...
    @property
    def bias(self) -> _Matrix: ...
    @property
    def scores(self) -> _Matrix: ...
    @property
    def support(self) -> _Pairs: ...
    @property
    def steps(self) -> _Pairs: ...
    @property
    def rho(self) -> float: ...
    @property
    def status(self) -> str: ...
    @property
    def epochs(self) -> int: ...
    @property
    def primal(self) -> float: ...
    @property
    def dual_objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def history(self) -> _Matrix: ...

def solve_simplex(
    indicator: NDArray[np.uint8],
    features: _Features,
    *,
    c: float,
    kernel_name: str,
    gamma: float,
    degree: int,
    coef0: float,
    pairwise: bool,
    absolute: bool,
    tolerance: float,
    max_epochs: int,
    recorded_steps: int,
    start: _Pairs | None,
    cache_bytes: int,
    callback: Callable[[int, float, float, float, int], bool] | None,
) -> SimplexSolution: ...

@final
class RelationshipSolution:
    @property
    def expansion(self) -> _Matrix: ...
    @property
    def bias(self) -> _Matrix: ...
    @property
    def dual(self) -> _Matrix: ...
    @property
    def covariance(self) -> _Matrix: ...
    @property
    def scores(self) -> _Matrix: ...
    @property
    def status(self) -> str: ...
    @property
    def rounds(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def primal(self) -> float: ...
    @property
    def dual_objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def history(self) -> _Matrix: ...

def solve_mlrl(
    indicator: NDArray[np.uint8],
    features: _Features,
    *,
    lam: float,
    kernel_name: str,
    gamma: float,
    degree: int,
    coef0: float,
    solver: str,
    covariance: _Matrix | None,
    ridge: float,
    stop: str,
    tolerance: float,
    max_rounds: int,
    shrinking: bool,
    cache_bytes: int,
    threads: int,
    callback: Callable[[int, float, float, float, int], bool] | None,
) -> RelationshipSolution: ...
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
    centre: _Matrix,
    relevant: int,
    lam: float,
    *,
    loss: str,
    theta: float = 0.0,
    mu: float = 1.0,
) -> _Matrix: ...
def loss_value(
    scores: _Matrix, relevant: int, *, loss: str, theta: float = 0.0, mu: float = 1.0
) -> float: ...

@final
class LabelFeaturesSolution:
    @property
    def weights(self) -> _Matrix: ...
    @property
    def status(self) -> str: ...
    @property
    def epochs(self) -> int: ...
    @property
    def primal(self) -> float: ...
    @property
    def dual_objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def kkt_residual(self) -> float: ...
    @property
    def lipschitz(self) -> float | None: ...
    @property
    def history(self) -> _Matrix: ...

def solve_label_features(
    indicator: NDArray[np.uint8],
    features: _Features,
    *,
    coupling: _Matrix | None,
    beta: float,
    anchor: float | None,
    convex: bool,
    solver: str,
    lipschitz: float,
    basis: tuple[_Matrix, _Matrix] | None,
    coupling_basis: tuple[_Matrix, _Matrix] | None,
    start: _Matrix | None,
    tolerance: float,
    max_epochs: int,
    threads: int,
    callback: Callable[[int, float, float, float, int], bool] | None,
) -> LabelFeaturesSolution: ...
