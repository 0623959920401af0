"""Feasible points of the dual with a free bias: 0 <= alpha <= C_i, H alpha = 0 (Xu 2013, eq. 24).

H alpha = 0 says that alpha is a circulation on the labels, with one arc m -> n a pair.
"""

import numpy as np
from scipy.sparse.csgraph import connected_components

from multimargin.estimators.shared.exact_pairs import Array, Pairs, pair_matrix


def feasible(alpha: Array, pairs: Pairs, c: Array, q: int) -> Array:
    """Move alpha, which a solver left outside by its tolerance, to a feasible point."""
    # Arcs between strongly connected components carry nothing.
    interior = interior_circulation(pairs, c, q)
    inside = interior > 0.0
    alpha = np.where(inside, np.clip(alpha, 0.0, c), 0.0)
    if not inside.any():
        return alpha
    H = pair_matrix(pairs, q).toarray()
    # The residual H alpha is spread over the other arcs by weighted least squares: the weight is
    # the distance to the bounds, plus a share of c that keeps each component connected.
    for _ in range(3):
        weight = np.where(inside, np.minimum(alpha, c - alpha) + 1e-3 * c, 0.0)
        potential = np.linalg.pinv((H * weight) @ H.T, hermitian=True) @ (H @ alpha)
        alpha = alpha - weight * (H.T @ potential)
    # Where that leaves the bounds, the smallest share of the interior point is mixed in.
    low = np.where(alpha < 0.0, -alpha / np.where(inside, interior - alpha, 1.0), 0.0)
    high = np.where(alpha > c, (alpha - c) / np.where(alpha > c, alpha - interior, 1.0), 0.0)
    share = min(1.0, max(low.max(), high.max()))
    return np.asarray(np.clip((1.0 - share) * alpha + share * interior, 0.0, c))


def interior_circulation(pairs: Pairs, c: Array, q: int) -> Array:
    """Return alpha with H alpha = 0 and 0 < alpha < c wherever the dual allows alpha > 0."""
    # The flow pi_m P_mn of a stationary random walk, whose steps are in proportion to capacities.
    capacity = np.zeros((q, q))
    np.add.at(capacity, (pairs.m, pairs.n), c)
    components = connected_components(capacity > 0.0, connection="strong")[1]
    capacity[components[:, None] != components] = 0.0
    out = capacity.sum(axis=1)
    P = capacity / np.where(out > 0.0, out, 1.0)[:, None]
    P[out == 0.0, out == 0.0] = 1.0
    flow = np.zeros((q, q))
    for component in range(components.max() + 1):
        labels = np.flatnonzero(components == component)
        if len(labels) > 1:
            block = np.ix_(labels, labels)
            # pi (P - I) = 0 and sum pi = 1
            system = np.vstack([P[block].T - np.eye(len(labels)), np.ones(len(labels))])
            pi = np.linalg.lstsq(system, np.r_[np.zeros(len(labels)), 1.0], rcond=None)[0]
            flow[block] = np.maximum(pi, 0.0)[:, None] * P[block]
    # All arcs of one label get the same share of their capacities.
    share = np.where(capacity > 0.0, flow / np.where(capacity > 0.0, capacity, 1.0), 0.0)
    largest = share.max(initial=0.0)
    if largest == 0.0:
        return np.zeros(len(c))
    return np.asarray(0.5 * share[pairs.m, pairs.n] / largest * c)
