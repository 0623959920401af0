"""Dual values and constraints of a dual matrix B by their definitions, and exact solutions."""

import numpy as np

from multimargin.estimators.shared import exact_flows, exact_models
from multimargin.estimators.shared import exact_pairs as ep
from multimargin.reference import rank_hlapsvm


def dual_objective(K, Y, B, bias):
    """Minus W(alpha) of Xu 2013, eq. (19), for the hinge: u^T alpha is B over relevant labels."""
    Kt = ep.kernel_matrix(K, bias)
    return float(np.sum(B[np.asarray(Y) == 1]) - 0.5 * np.sum(B * (Kt @ B)))


def dual_infeasibility(Y, C, B, bias):
    """Largest violation of the constraints of the hinge's dual; 0 if B belongs to an alpha."""
    # alpha_i is a flow from the relevant labels, with supplies beta_im, to the irrelevant ones,
    # with demands -beta_in, and capacity C_i on every pair. It exists if supplies and demands are
    # not negative, have the same sum, and no cut is too small: for all s and t the s largest
    # supplies are at most the sum of the t smallest demands and of the capacity C_i s (r_i - t)
    # between the s labels and the others. An instance without pairs has beta_i = 0.
    Y = ep.label_matrix(Y)
    C = np.broadcast_to(C, len(Y))
    violation = 0.0
    for i in range(Y.shape[0]):
        violation = max(violation, float(np.abs(B[i, Y[i] == -1]).max(initial=0.0)))
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


def zero_label_objective(K, B, bias):
    """Dual value with the zero label in the last column of B."""
    Kt = ep.kernel_matrix(K, bias)
    return float(np.sum(np.abs(B[:, :-1])) - 0.5 * np.sum(B * (Kt @ B)))


def zero_label_infeasibility(Y, C, B, bias):
    """Largest violation of the zero label's dual constraints."""
    alpha = exact_models.signs(Y) * B[:, :-1]
    parts = [-alpha, alpha - exact_models.label_weights(Y, C), np.abs(B.sum(axis=1))]
    if bias == "free":
        parts.append(np.abs(B.sum(axis=0)))
    return max(0.0, *(float(part.max(initial=0.0)) for part in parts))


def costs_something(Y, bias):
    """Whether the optimum is above 0: with a free bias, unless biases alone separate all pairs."""
    pairs = ep.pairs(Y)
    if bias != "free":
        return len(pairs.i) > 0
    c = ep.pair_weights(pairs, 1.0)
    return bool(exact_flows.interior_circulation(pairs, c, np.shape(Y)[1]).any())


def hypergraph_solution(X, K, Y, C, lam, nu):
    """Exact Rank-HLapSVM: its objective, scores and bias, of features X and a kernel K."""
    L = rank_hlapsvm.laplacian(Y, rank_hlapsvm.hyperedge_weights(X, Y, nu))
    # (27) in a form that is symmetric in every step.
    G = ep.factor(K + 1.0)
    A = G @ np.linalg.solve(np.eye(G.shape[1]) + lam * G.T @ L @ G, G.T)
    found = exact_models.hinge((A + A.T) / 2.0, Y, C, "none")
    expansion = rank_hlapsvm.expansion(K + 1.0, found.B, lam, L)
    return found.objective, (K + 1.0) @ expansion, expansion.sum(axis=0)
