"""Objectives, dual values and constraints of a dual matrix B, by their definitions."""

from typing import Any

import numpy as np


def hinge(margins: Any) -> Any:
    return np.maximum(0.0, 1.0 - margins)


def pairwise_loss(F: Any, Y: Any, C: float, loss: Any = hinge, weight: Any = None) -> float:
    """C times the mean loss of the pairs of each row, by the scores F, summed over the rows."""
    value = 0.0
    for i, (scores, labels) in enumerate(zip(F, Y, strict=True)):
        margins = scores[labels == 1][:, None] - scores[labels == 0]
        if margins.size:
            value += C * (1.0 if weight is None else weight[i]) * float(loss(margins).mean())
    return value


def pairwise_objective(
    W: Any, b: Any, X: Any, Y: Any, C: float, bias: str, loss: Any = hinge, weight: Any = None
) -> float:
    """That of a linear model."""
    squares = float(np.sum(W**2) + (np.sum(b**2) if bias == "penalized" else 0.0))
    return 0.5 * squares + pairwise_loss(X @ W + b, Y, C, loss, weight)


def objective(model: Any, X: Any, Y: Any) -> float:
    """That of a linear Rank-SVM."""
    W = model.coef_.T.astype(float)
    return pairwise_objective(W, model.intercept_, X, Y, model.C, model.bias)


def dual_objective(K, Y, B, bias):
    """Minus W(alpha) of Xu 2013, eq. (19), for the hinge: u^T alpha is B over relevant labels."""
    Kt = K + 1.0 if bias == "penalized" else K
    return float(np.sum(B[np.asarray(Y) == 1]) - 0.5 * np.sum(B * (Kt @ B)))


def dual_infeasibility(Y, C, B, bias):
    """Largest violation of the constraints of the hinge's dual; 0 if B belongs to an alpha."""
    # alpha_i is a flow from the relevant labels, with supplies beta_im, to the irrelevant ones,
    # with demands -beta_in, and capacity C_i on every pair. It exists if supplies and demands are
    # not negative, have the same sum, and no cut is too small: for all s and t the s largest
    # supplies are at most the sum of the t smallest demands and of the capacity C_i s (r_i - t)
    # between the s labels and the others. An instance without pairs has beta_i = 0.
    C = np.broadcast_to(C, len(Y))
    violation = 0.0
    for i in range(Y.shape[0]):
        violation = max(violation, float(np.abs(B[i, np.isnan(Y[i])]).max(initial=0.0)))
        supply = np.sort(B[i, Y[i] == 1])[::-1]
        demand = np.sort(-B[i, Y[i] == 0])
        p_i, r_i = len(supply), len(demand)
        if p_i == 0 or r_i == 0:
            violation = max(violation, float(np.abs(B[i]).max(initial=0.0)))
            continue
        C_i = C[i] / (p_i * r_i)
        violation = max(violation, -supply.min(), -demand.min(), abs(B[i].sum()))
        for s in range(p_i + 1):
            for t in range(r_i + 1):
                cut = demand[:t].sum() + C_i * s * (r_i - t)
                violation = max(violation, supply[:s].sum() - cut)
    if bias == "free":
        violation = max(violation, float(np.abs(B.sum(axis=0)).max(initial=0.0)))
    return float(violation)
