"""The problem that an estimator states, in the terms of the other files, and its optimum.

Kernels, widths and weights are computed here from their definitions, independently of the code that
is being judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.spatial.distance import pdist, squareform

from multimargin.reference import exact, llsf, mlrl, rank_hlapsvm, rank_svmz
from multimargin.reference.beyond import Weight, upper_bounds
from multimargin.reference.matrices import INDEFINITE, root
from multimargin.reference.rank_svm import Array, Labels

# Negative eigenvalues above minus this share of the largest do not matter.
ROUNDING = 1e-12

Parameters: TypeAlias = Mapping[str, Any]


class Optimum(NamedTuple):
    """Bounds of an optimum, the objective of the model 0, and scores of the rows at the optimum."""

    lower: float | None  # None if the reference proves none
    upper: float
    zero: float
    scores: Array


def optimum(
    method: str, parameters: Parameters, X: Array, Y: Labels, weights: Array | None = None
) -> Optimum:
    """Solve the problem of an estimator, by the name of its class, with weights of the rows.

    X is the kernel matrix if precomputed; Y is 1, 0, NaN where a label is unknown, and -1 in the
    unlabelled rows of SSMLRL. Raises ExactSolverError if the interior-point solver fails, and
    ValueError if the kernel is indefinite.
    """
    if method == "LLSF":
        value, W = llsf.problem_3(X, Y, parameters["alpha"], parameters["beta"])
        return Optimum(None, value, float(np.sum(Y)) / 2, X @ W)
    K = kernel(X, parameters, weights)
    # With a large C, a dual value is no bound for eigenvalues as small as -1e-9.
    K = K + negative_part(K)
    if method in ("MLRL", "SSMLRL"):
        return _of_relationships(parameters, K, Y)
    C, k = weight_of_the_loss(parameters, Y, weights), top(parameters, Y)
    if method == "RankSVMz":
        found = exact.zero_label(K, Y, C, parameters["bias"])
        F = K @ found.B + found.b
        zero = float(np.sum(rank_svmz.weights(Y, C)))
        return Optimum(found.lower, found.upper, zero, F[:, :-1] - F[:, -1:])
    weight = float(upper_bounds(Y, C).sum())
    if method == "RankHLapSVM":
        L = rank_hlapsvm.laplacian(Y, hyperedge_weights(parameters, X, Y, weights), weights)
        K = rank_hlapsvm.kernel_27(K, parameters["lam"], L, one=1.0)
        found, zero = exact.hinge(K, Y, C, "none", k), weight
    elif method == "RankSVM":
        found, zero = exact.hinge(K, Y, C, parameters["bias"], k), weight
    elif method == "MLODM":
        theta, mu = parameters["theta"], parameters["mu"]
        found = exact.optimal_margin(K, Y, C, theta, mu)
        zero = (1 - theta) ** 2 * weight / 2
    elif method == "RankLSVM":
        found, zero = exact.squared_hinge(K, Y, C, k), weight / 2
    elif method == "RankCVM":
        found = exact.margin_rho(K, Y, C, k)
        zero = found.upper
    else:
        raise ValueError(f"method is {method!r}; expected the class of a method of the papers")
    return Optimum(found.lower, found.upper, zero, K @ found.B + found.b)


# --- Kernels
def kernel(X: Array, parameters: Parameters, weights: Array | None = None) -> Array:
    """K of the rows, exactly symmetric."""
    name = parameters["kernel"]
    if name == "precomputed":
        K = np.asarray(X)
    elif callable(name):
        K = np.asarray(name(X, X), dtype=np.float64)
    elif name == "linear":
        K = X @ X.T
    elif name == "rbf":
        # Squares of differences: ||x||^2 + ||y||^2 - 2 x.y cancels far from 0.
        K = np.exp(-width(X, parameters, weights) * squareform(pdist(X, "sqeuclidean")))
    elif name == "laplacian":
        K = np.exp(-width(X, parameters, weights) * squareform(pdist(X, "cityblock")))
    else:
        values = width(X, parameters, weights) * (X @ X.T) + parameters["coef0"]
        K = np.tanh(values) if name == "sigmoid" else values ** parameters.get("degree", 3)
    return np.asarray((K + K.T) / 2)


def width(X: Array, parameters: Parameters, weights: Array | None) -> float:
    """gamma: a given number, 1 / (d Var(X)), 1 / d, or 1 / (2 m^2) with the mean distance m.

    Of a Laplacian kernel 1 / (d Std(X)) and 1 / m, with sums of absolute differences as distances.
    """
    gamma, w = parameters["gamma"], np.ones(len(X)) if weights is None else weights
    absolute = parameters["kernel"] == "laplacian"
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        if np.ptp(X[w > 0.0]) == 0.0:
            # The variance of equal numbers would be rounding.
            return 1.0
        every = np.broadcast_to(w[:, None], X.shape)
        mean = np.average(X, weights=every)
        variance = float(np.average((X - mean) ** 2, weights=every))
        spread = X.shape[1] * (variance**0.5 if absolute else variance)
    elif gamma == "mean_distance":
        both = w @ squareform(pdist(X, "cityblock" if absolute else "euclidean")) @ w
        m = float(both / (w.sum() * (w.sum() - 1))) if w.sum() > 1 else 0.0
        spread = m if absolute else 2 * m**2
    else:
        return float(gamma)
    return 1.0 / spread if spread > 0.0 else 1.0


def negative_part(K: Array) -> Array:
    """Return the correction of a kernel matrix that is indefinite only by rounding."""
    eigenvalues, U = np.linalg.eigh(K)
    largest, negative = np.abs(eigenvalues).max(), np.maximum(-eigenvalues, 0.0)
    if negative.max() > INDEFINITE * largest or negative.max() < ROUNDING * largest:
        return np.zeros_like(K)
    return np.asarray((U * negative) @ U.T)


# --- Weights
def weight_of_the_loss(parameters: Parameters, Y: Labels, weights: Array | None = None) -> Weight:
    """C, one for each row if these have weights, and for each label if these have some."""
    C: Weight = parameters["C"]
    if parameters.get("pair_weights", "balanced") == "uniform":
        # Each pair weighs C / n, and not the pairs of a row C together.
        k = top(parameters, Y)
        below = (Y == 0).sum(axis=1)
        pairs = (Y == 1).sum(axis=1) * (below if k is None else np.minimum(below, k))
        C = C / (len(Y) if weights is None else weights.sum()) * np.maximum(pairs, 1)
    if weights is not None:
        C = C * weights
    of_labels = parameters.get("class_weight")
    if of_labels is None:
        return C
    if isinstance(of_labels, str):
        counts = (Y == 1).T @ (np.ones(len(Y)) if weights is None else weights)
        of_labels = np.maximum(counts, 1e-300) ** (-1.0 if of_labels == "balanced" else -0.5)
        # Their mean over the rows and their relevant labels is 1.
        of_labels = of_labels * (counts.sum() / (counts @ of_labels))
    return np.reshape(C, (-1, 1)) * np.where(Y == 1, of_labels, 1.0)


def top(parameters: Parameters, Y: Labels) -> int | None:
    """k, the number of irrelevant labels with which each relevant one is compared; None is all."""
    k, q = parameters.get("top_k"), Y.shape[1]
    if isinstance(k, float | np.floating):
        k = max(1, int(k * q))
    return None if k is None or k >= q else int(k)


def hyperedge_weights(
    parameters: Parameters, X: Array, Y: Labels, weights: Array | None = None
) -> Array:
    """Weights of Rank-HLapSVM's hyperedges, from distances of features or of their images."""
    X = root(np.asarray(X)) if parameters["kernel"] == "precomputed" else X
    nu = parameters["nu"]
    if isinstance(nu, str):
        every = np.ones(len(X)) if weights is None else weights
        nu = 1.0 / (rank_hlapsvm.mean_distance(X, every) or 1.0)
    return rank_hlapsvm.hyperedge_weights(X, Y, nu, weights)


# --- Label relationships
class Relationship(NamedTuple):
    """The training data of MLRL and SSMLRL: the labelled rows, and the labels with two classes."""

    Y: Array
    h: Array
    labelled: Any
    learned: Any
    lam1: float
    lam2: float
    Omega: Array | None


def relationship(parameters: Parameters, Y: Labels) -> Relationship:
    """Return the parts of (6) or (14) that follow from the parameters and labels."""
    # Unlabelled rows are -1 or NaN everywhere; MLRL has none.
    labelled = (Y >= 0).any(axis=1) | ("lam" in parameters)
    Y = Y[labelled]
    learned = np.flatnonzero((Y == 1).any(axis=0) & (Y == 0).any(axis=0))
    options = parameters.get("options")
    Omega = None if options is None else options.fixed_covariance
    return Relationship(
        Y[:, learned],
        mlrl.shares(Y)[:, learned],
        labelled,
        learned,
        parameters.get("lam", parameters.get("lam1")),
        parameters.get("lam2", 0.0),
        None if Omega is None else np.asarray(Omega)[np.ix_(learned, learned)],
    )


def _of_relationships(parameters: Mapping[str, Any], K: Array, Y: Labels) -> Optimum:
    of = relationship(parameters, Y)
    scores = np.where((Y[of.labelled] == 1).any(axis=0), 1.0, -1.0) * np.ones((len(Y), 1))
    if len(of.learned) == 0:
        return Optimum(0.0, 0.0, 0.0, scores)
    rows, among = np.flatnonzero(of.labelled), K
    if len(rows) < len(Y) and of.lam2 > 0.0:
        order = np.r_[rows, np.flatnonzero(~of.labelled)]
        among = np.zeros_like(K)
        among[np.ix_(order, order)] = mlrl.data_dependent_kernel(
            K[np.ix_(order, order)], len(rows), of.lam1 / of.lam2
        )
    found = exact.relationship(among[np.ix_(rows, rows)], of.Y, of.lam1, of.Omega, of.h)
    scores[:, of.learned] = among[:, rows] @ found.B + found.b
    return Optimum(found.lower, found.upper, float(of.h.sum()), scores)
