"""Feasible points near those that a solver returns with small violations: they prove bounds.

Where H alpha = 0 (Xu 2013, eq. 24), alpha is a circulation on the labels, with one arc m -> n a
pair.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from multimargin.reference.beyond import Weight, tops, upper_bounds
from multimargin.reference.rank_svm import Array, Labels, coefficients, pairs


def feasible(alpha: Array, Y: Labels, C: Weight, k: int | None = None, free: bool = True) -> Array:
    """Move alpha to the feasible set of `beyond.problem_26`."""
    c = upper_bounds(Y, C, k)
    alpha = circulation(alpha, Y, c) if free else np.clip(alpha, 0.0, c)
    if k is None:
        return alpha
    S, k_i, c_S = tops(Y, C, k)
    total, most = S @ alpha, k_i * c_S
    if not free:
        share = np.divide(most, total, out=np.ones_like(total), where=total > most)
        return np.asarray(alpha * (S.T @ share))
    interior = interior_circulation(Y, c * (S.T @ (k_i / S.sum(axis=1))))
    inside, over = S @ interior, total > most
    mixed = ((total - most)[over] / (total - inside)[over]).max(initial=0.0)
    return np.asarray((1.0 - mixed) * alpha + mixed * interior)


def circulation(alpha: Array, Y: Labels, c: Array) -> Array:
    """Move alpha to where 0 <= alpha <= c and H alpha = 0."""
    # Arcs between strongly connected components carry nothing.
    interior = interior_circulation(Y, c)
    inside = interior > 0.0
    alpha = np.where(inside, np.clip(alpha, 0.0, c), 0.0)
    if not inside.any():
        return alpha
    H = coefficients(Y)
    # The residual H alpha is spread over the other arcs by weighted least squares: the weight is
    # the distance to the bounds, plus a share of c that keeps each component connected.
    for _ in range(3):
        weight = np.where(inside, np.minimum(alpha, c - alpha) + 1e-3 * c, 0.0)
        potential = np.linalg.pinv((H * weight) @ H.T, hermitian=True) @ (H @ alpha)
        alpha = alpha - weight * (H.T @ potential)
    # If the result violates the bounds, the smallest sufficient share of the interior point is
    # mixed in.
    low = np.where(alpha < 0.0, -alpha / np.where(inside, interior - alpha, 1.0), 0.0)
    high = np.where(alpha > c, (alpha - c) / np.where(alpha > c, alpha - interior, 1.0), 0.0)
    share = min(1.0, max(low.max(), high.max()))
    return np.asarray(np.clip((1.0 - share) * alpha + share * interior, 0.0, c))


def interior_circulation(Y: Labels, c: Array) -> Array:
    """Return alpha with H alpha = 0 and 0 < alpha < c wherever the dual allows alpha > 0."""
    # The flow pi_m P_mn of a stationary random walk, whose steps are in proportion to capacities.
    (_, m, n), q = pairs(Y), Y.shape[1]
    capacity = np.zeros((q, q))
    np.add.at(capacity, (m, n), c)
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
    return np.asarray(0.5 * share[m, n] / largest * c)


def balanced(Z: Array, y: Array, most: Array, free: bool = True) -> Array:
    """Move Z to where 0 <= y o Z <= most and, if free, its columns sum to 0.

    The heavier class of each label shrinks for it.
    """
    alpha = np.clip(y * Z, 0.0, most)
    if free:
        positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
        negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
        least = np.minimum(positive, negative)
        shares = [least / np.where(total > 0.0, total, 1.0) for total in (positive, negative)]
        alpha = alpha * np.where(y > 0, shares[0], shares[1])
    return np.asarray(y * alpha)
