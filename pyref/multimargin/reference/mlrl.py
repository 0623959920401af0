"""Zhang & Yeung 2013: multilabel relationship learning, MLRL and SSMLRL.

Support vector machines of all labels, regularised through a label covariance that is learned with
them. Equation numbers, letters and order are those of the paper; code reads from top to bottom.

Dictionary::

    n, m              instances, labels                                          section 2.1
    lam               regularisation, > 0                                                (6)
    Phi        n x d  features of the rows, phi(x_i); K = Phi Phi^T
    K          n x n  kernel matrix                                                     (10)
    Y          n x m  1 where a label is relevant, else 0 (the paper: 1 and -1)
    y          n x m  1 and -1, y_i^j
    W          d x m  weights w_j of the labels                                          (4)
    b          m      biases                                                             (6)
    Omega      m x m  label covariance                                                   (6)
    eps        n x m  slack variables                                                    (8)
    Theta      n x m  dual variables alpha_i^j                                     (10), (18)
    Z          n x m  y . Theta: alpha tilde of Appendix A, M . Y of section 2.3  (34)
    f          n x m  f_j^i of Appendix A as f[j, i]
    l, u              labelled and unlabelled rows, labelled ones first            section 4
    lam1, lam2        regularisation, > 0                                               (14)
    F          u x m  scores of the unlabelled rows without bias                        (14)
    Gamma      u x m  multipliers of F = phi(X_u)^T W                              (16), (20)

Beyond the paper, NaN in Y is an unknown label, and h (n x m) are the weights of the hinges: by
default 1/n, with n the rows of which a label is known, and 0 for an unknown label.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from multimargin.reference.interior_point import SEMIDEFINITE, minimum
from multimargin.reference.matrices import damped, root
from multimargin.reference.rank_svm import check_labels

Array = npt.NDArray[np.float64]


# --- Section 2.1: the problem
def signs(Y: Array) -> Array:
    """y_i^j: 1 where a label is relevant and -1 where it is not, or unknown."""
    check_labels(Y)
    return np.where(Y == 1, 1.0, -1.0)


def shares(Y: Array, h: Array | None = None) -> Array:
    """h as it is given, or 1/n where a label is known."""
    known = ~np.isnan(Y)
    return known / known.any(axis=1).sum() if h is None else h


def problem_6(
    Phi: Array, Y: Array, lam: float, h: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Solve (6), a semidefinite programme; return its value, W, b and Omega."""
    import cvxpy as cp

    y, (n, m) = signs(Y), Y.shape
    W, b, eps = cp.Variable((Phi.shape[1], m)), cp.Variable((1, m)), cp.Variable((n, m))
    Omega = cp.Variable((m, m), PSD=True)
    trace = cp.matrix_frac(W.T, Omega)  # tr(W Omega^-1 W^T)
    scores = Phi @ W + np.ones((n, 1)) @ b
    constraints = [cp.multiply(y, scores) >= 1 - eps, eps >= 0, cp.trace(Omega) == 1]
    objective = cp.sum(cp.multiply(shares(Y, h), eps)) + lam / 2 * trace
    # The best Omega is singular or nearly so: below 1e-8 the solver's values are further off.
    value = minimum(objective, constraints, SEMIDEFINITE[-1:])
    return value, W.value, b.value.ravel(), Omega.value


def trace_norm(
    Phi: Array, Y: Array, lam: float, h: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Solve (6) with the best Omega put in: tr(W Omega^-1 W^T) is the squared trace norm of W.

    Returns its value, W, b and Z, from the multipliers of the margins.
    """
    import cvxpy as cp

    y, (n, m) = signs(Y), Y.shape
    W, b, eps = cp.Variable((Phi.shape[1], m)), cp.Variable((1, m)), cp.Variable((n, m))
    scores = Phi @ W + np.ones((n, 1)) @ b
    constraints = [cp.multiply(y, scores) >= 1 - eps, eps >= 0]
    objective = cp.sum(cp.multiply(shares(Y, h), eps)) + lam / 2 * cp.square(cp.normNuc(W))
    value = minimum(objective, constraints, SEMIDEFINITE)
    return value, W.value, b.value.ravel(), y * constraints[0].dual_value


# --- Section 2.2: W and b for a fixed Omega, and Omega for fixed W and b
def problem_8(
    Phi: Array, Y: Array, lam: float, Omega: Array, h: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Solve (8), the primal problem for a fixed Omega; return its value, W, b and Z, as above."""
    import cvxpy as cp

    y, (n, m) = signs(Y), Y.shape
    S = root(Omega)  # tr(W Omega^-1 W^T) = ||V||^2 with W = V S^T, for a singular Omega, too
    V, b, eps = cp.Variable((Phi.shape[1], S.shape[1])), cp.Variable((1, m)), cp.Variable((n, m))
    scores = Phi @ V @ S.T + np.ones((n, 1)) @ b
    constraints = [cp.multiply(y, scores) >= 1 - eps, eps >= 0]
    objective = cp.sum(cp.multiply(shares(Y, h), eps)) + lam / 2 * cp.sum_squares(V)
    value = minimum(objective, constraints)
    return value, V.value @ S.T, b.value.ravel(), y * constraints[0].dual_value


def problem_10(
    K: Array, Y: Array, lam: float, Omega: Array, h: Array | None = None
) -> tuple[float, Array]:
    """Solve (10), the dual problem for a fixed Omega; return the negative of (8), and Z."""
    import cvxpy as cp

    y = signs(Y)
    n, m = y.shape
    alpha = cp.Variable(n * m)  # label after label
    K_ML = np.kron(Omega, K) / lam
    Q = K_ML * np.outer(y.T.ravel(), y.T.ravel())
    constraints = [y[:, j] @ alpha[j * n : (j + 1) * n] == 0 for j in range(m)]
    constraints += [alpha >= 0, alpha <= shares(Y, h).T.ravel()]
    objective = 0.5 * cp.quad_form(alpha, cp.psd_wrap(Q)) - cp.sum(alpha)
    return minimum(objective, constraints), y * alpha.value.reshape(m, n).T


def omega_step(A: Array) -> Array:
    """Solve (11) with A = W^T W and (23) with A = lam1 W^T W + lam2 F^T F: A^1/2 / tr(A^1/2)."""
    eigenvalues, P = np.linalg.eigh(A)
    roots = np.sqrt(np.maximum(eigenvalues, 0.0))
    if roots.sum() == 0.0:
        return np.eye(len(A)) / len(A)  # W = 0: the initial value
    return (P * (roots / roots.sum())) @ P.T


def mlrl(
    K: Array, Y: Array, lam: float, rounds: int = 20, epsilon: float = 1e-3, ridge: float = 0.0
) -> tuple[Array, Array, Array, list[float]]:
    """Run the alternating method; return Z, b, Omega and the values of (6) after each round."""
    m = Y.shape[1]
    Omega = np.eye(m) / m  # all labels are unrelated
    Z = np.zeros(Y.shape)
    values = []
    for _ in range(rounds):  # "repeated until convergence"
        fixed = (1 - ridge) * Omega + ridge * np.eye(m) / m  # "adding a scaled identity matrix"
        Z, b = smo(K, Y, lam, fixed, epsilon, Z)
        WtW = fixed @ Z.T @ K @ Z @ fixed / lam**2
        Omega = omega_step(WtW)
        scores = K @ Z @ fixed / lam + b
        values.append(objective_6(scores, Y, lam, WtW))
    return Z, b, Omega, values


def hinge(scores: Array, Y: Array, h: Array | None = None) -> float:
    """The first sum of (6)."""
    return float(np.sum(shares(Y, h) * np.maximum(0.0, 1.0 - signs(Y) * scores)))


def objective_6(scores: Array, Y: Array, lam: float, WtW: Array, h: Array | None = None) -> float:
    """Value of (6) with the best Omega for W: its squared trace norm in place of the trace."""
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(WtW), 0.0))
    return hinge(scores, Y, h) + lam / 2 * float(roots.sum()) ** 2


def bound_6(K: Array, Z: Array, lam: float) -> float:
    """Lower bound of (6) by any Z of (10): lambda_max in place of the trace with Omega."""
    return float(np.abs(Z).sum() - np.linalg.eigvalsh(Z.T @ K @ Z)[-1] / (2 * lam))


def predict(k: Array, Z: Array, b: Array, lam: float, Omega: Array) -> Array:
    """Scores of rows from kernel values k with the training rows, 2.3; labels are their signs."""
    return k @ Z @ Omega / lam + b


# --- Appendix A: sequential minimal optimisation of (10)
def smo(
    K: Array,
    Y: Array,
    lam: float,
    Omega: Array,
    epsilon: float = 1e-3,
    Z: Array | None = None,
    max_steps: int = 100_000,
) -> tuple[Array, Array]:
    """Solve (10) from Z (0 by default) one pair of one label at a time; return Z and b."""
    y = signs(Y)
    n, m = y.shape
    if np.abs(y.mean(axis=0)).max() == 1.0:
        label = np.argmax(np.abs(y.mean(axis=0)))
        raise ValueError(f"Y has one value in column {label}; expected 0 and 1 in every column")
    tau = 1e-12
    c, d = np.minimum(0.0, y / n), np.maximum(0.0, y / n)  # (34): c <= Z <= d
    Z = np.zeros((n, m)) if Z is None else Z.copy()
    f = K @ Z @ Omega / lam - y
    for _ in range(max_steps):
        up, low = d > Z, c < Z  # A_i and B_i: what may grow and what may shrink
        F_up = np.where(up, f, np.inf).min(axis=0)
        F_low = np.where(low, f, -np.inf).max(axis=0)
        i = np.argmax(F_low - F_up)  # the label that violates most
        if F_low[i] <= F_up[i] + epsilon:
            break
        j = np.argmax(np.where(low[:, i], f[:, i], -np.inf))
        b_j = f[:, i] - f[j, i]  # b_jk for all k
        a_j = Omega[i, i] / lam * (K[j, j] + np.diag(K) - 2 * K[j])  # a_jk (32)
        a_j = np.where(a_j > 0, a_j, tau)
        violating = up[:, i] & (b_j < 0)
        k = np.argmin(np.where(violating, -(b_j**2) / a_j, np.inf))  # (31)
        t_2 = min(d[k, i] - Z[k, i], Z[j, i] - c[j, i])  # t_1 <= 0 <= t
        t = min(t_2, -b_j[k] / a_j[k])  # (35), (37)
        Z[j, i] -= t
        Z[k, i] += t
        f += t * np.outer(K[k] - K[j], Omega[i]) / lam  # (36)
    return Z, bias(f, Z, c, d)


def bias(f: Array, Z: Array, c: Array, d: Array) -> Array:
    """b_i, the mean of -f over free instances, else the middle of -F_low and -F_up."""
    b = np.zeros(f.shape[1])
    for i in range(f.shape[1]):
        free = (Z[:, i] > c[:, i]) & (Z[:, i] < d[:, i])
        if free.any():
            b[i] = -f[free, i].mean()
        else:
            F_up = f[d[:, i] > Z[:, i], i].min()
            F_low = f[c[:, i] < Z[:, i], i].max()
            b[i] = -(F_low + F_up) / 2
    return b


# --- Section 3: BSVM and RankSVM in the same terms
def problem_12(K: Array, Y: Array, lam: float) -> tuple[float, Array]:
    """Solve (12), BSVM: (10) with K_ML tilde = I o K / lam, o the Kronecker product."""
    return problem_10(K, Y, lam, np.eye(Y.shape[1]))


def before_13(Phi: Array, Y: Array, lam: float) -> tuple[float, Array, Array]:
    """Solve the primal problem of RankSVM, above (13); return its value, W and b."""
    import cvxpy as cp

    y, (n, m) = signs(Y), Y.shape
    W, b = cp.Variable((Phi.shape[1], m)), cp.Variable((1, m))
    f = Phi @ W + np.ones((n, 1)) @ b
    i, j, k = np.nonzero(y[:, :, None] != y[:, None, :])  # I(y_i^j != y_i^k)
    margins = cp.multiply((y[i, j] - y[i, k]) / 2, f[i, j] - f[i, k])
    objective = cp.sum(cp.pos(1 - margins)) / n + lam / 2 * cp.sum_squares(W)
    return minimum(objective, [cp.sum(b) == 0]), W.value, b.value.ravel()


def problem_13(K: Array, Y: Array, lam: float) -> tuple[float, Array]:
    """Solve (13), RankSVM; return its value and Z."""
    import cvxpy as cp

    y, (n, m) = signs(Y), Y.shape
    beta = [cp.Variable((m, m), symmetric=True) for _ in range(n)]
    differ = y[:, :, None] != y[:, None, :]
    alpha = cp.vstack([cp.sum(cp.multiply(differ[i], beta[i]), axis=1) for i in range(n)])
    Z = cp.multiply(y, alpha)
    Q = np.kron(np.eye(m), K) / lam
    constraints = [cp.sum(Z, axis=0) == 0]
    constraints += [bound for beta_i in beta for bound in (beta_i >= 0, beta_i <= 1 / n)]
    objective = cp.quad_form(cp.vec(Z, order="F"), cp.psd_wrap(Q)) / 2 - cp.sum(alpha)
    return minimum(objective, constraints), Z.value


# --- Section 4: SSMLRL
def problem_14(
    Phi: Array, Y: Array, lam1: float, lam2: float, h: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Solve (14), rows of Phi beyond those of Y unlabelled; return its value, W, b and Omega.

    Omega is singular at the optimum, which an interior-point solver bears where its trace is free:
    for B = [sqrt(lam1) W; sqrt(lam2) F] the least tr(B Omega^-1 B^T) of an Omega of trace 1 is the
    square of the least (tr(B Omega^-1 B^T) + tr(Omega)) / 2 of any Omega, at a multiple of it.
    """
    import cvxpy as cp

    y, (l, m) = signs(Y), Y.shape  # noqa: E741
    W, b, eps = cp.Variable((Phi.shape[1], m)), cp.Variable((1, m)), cp.Variable((l, m))
    Omega, t = cp.Variable((m, m), PSD=True), cp.Variable()
    F = Phi[l:] @ W
    B = cp.vstack([np.sqrt(lam1) * W, np.sqrt(lam2) * F])
    scores = Phi[:l] @ W + np.ones((l, 1)) @ b
    constraints = [
        cp.multiply(y, scores) >= 1 - eps,
        eps >= 0,
        (cp.matrix_frac(B.T, Omega) + cp.trace(Omega)) / 2 <= t,
    ]
    objective = cp.sum(cp.multiply(shares(Y, h), eps)) + cp.square(t) / 2
    value = minimum(objective, constraints, SEMIDEFINITE)
    return value, W.value, b.value.ravel(), Omega.value / np.trace(Omega.value)


def problem_15(
    Phi: Array, Y: Array, lam1: float, lam2: float, Omega: Array, h: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Solve (15), the primal problem for a fixed Omega; return its value, W, b and F."""
    import cvxpy as cp

    y, (l, m) = signs(Y), Y.shape  # noqa: E741
    S = root(Omega)  # as in (8); F = U S^T
    V, b, eps = cp.Variable((Phi.shape[1], S.shape[1])), cp.Variable((1, m)), cp.Variable((l, m))
    U = cp.Variable((len(Phi) - l, S.shape[1]))
    scores = Phi[:l] @ V @ S.T + np.ones((l, 1)) @ b
    constraints = [cp.multiply(y, scores) >= 1 - eps, eps >= 0, Phi[l:] @ V == U]
    objective = (
        cp.sum(cp.multiply(shares(Y, h), eps))
        + lam1 / 2 * cp.sum_squares(V)
        + lam2 / 2 * cp.sum_squares(U)
    )
    return minimum(objective, constraints), V.value @ S.T, b.value.ravel(), U.value @ S.T


def problem_18(
    Phi: Array, Y: Array, lam1: float, lam2: float, Omega: Array, h: Array | None = None
) -> tuple[float, Array, Array]:
    """Solve (18), the dual problem for a fixed Omega; return its value, Z and Gamma."""
    import cvxpy as cp

    y, (l, m) = signs(Y), Y.shape  # noqa: E741
    S = root(Omega)
    Theta, Gamma = cp.Variable((l, m)), cp.Variable((len(Phi) - l, m))
    both = cp.vstack([cp.multiply(y, Theta), Gamma])  # Y tilde . (Theta, Gamma)
    objective = (
        cp.sum_squares(Phi.T @ both @ S) / (2 * lam1)  # K = Phi Phi^T, Omega = S S^T
        + cp.sum_squares(Gamma @ S) / (2 * lam2)
        - cp.sum(Theta)
    )
    constraints = [cp.sum(cp.multiply(y, Theta), axis=0) == 0, Theta >= 0, Theta <= shares(Y, h)]
    return minimum(objective, constraints), y * Theta.value, Gamma.value


def gamma(K: Array, Z: Array, c: float | Array) -> Array:
    """Gamma at the optimum of (19): (20), with c = lam1 / lam2, or one an unlabelled row."""
    l = len(Z)  # noqa: E741
    K_lu, K_uu = K[:l, l:], K[l:, l:]
    return -np.linalg.solve(c * np.eye(len(K_uu)) + K_uu, K_lu.T @ Z)


def data_dependent_kernel(K: Array, l: int, c: float | Array) -> Array:  # noqa: E741
    """Kernel k' of (22) between all rows, c = lam1 / lam2; (21) is (10) with its first l rows."""
    # (22) is Phi (I + Phi_u^T Phi_u / c)^-1 Phi^T, where no difference loses digits.
    G = root(K)
    D = damped(G, G[l:] / np.sqrt(np.reshape(c, (-1, 1))))
    return D @ D.T


def covariance_of_weights(K: Array, Z: Array, lam1: float, c: float, Omega: Array) -> Array:
    """W^T W from the dual variables of the labelled rows, the equation after (23)."""
    l = len(Z)  # noqa: E741
    K_ll, K_lu, K_uu = K[:l, :l], K[:l, l:], K[l:, l:]
    inverse = np.linalg.inv(c * np.eye(len(K_uu)) + K_uu)
    inner = K_ll - K_lu @ inverse @ K_lu.T - c * K_lu @ inverse @ inverse @ K_lu.T
    return Omega @ Z.T @ inner @ Z @ Omega / lam1**2


def unlabelled_scores(K: Array, Z: Array, lam1: float, c: float, Omega: Array) -> Array:
    """F, the last equation of section 4.2."""
    l = len(Z)  # noqa: E741
    K_lu, K_uu = K[:l, l:], K[l:, l:]
    inverse = np.linalg.inv(c * np.eye(len(K_uu)) + K_uu)
    return (K_lu.T - K_uu @ inverse @ K_lu.T) @ Z @ Omega / lam1


def ssmlrl(
    K: Array,
    Y: Array,
    lam1: float,
    lam2: float,
    rounds: int = 20,
    epsilon: float = 1e-3,
    ridge: float = 0.0,
) -> tuple[Array, Array, Array, list[float]]:
    """Run the alternating method of section 4.2; return Z, b, Omega and the values of (14)."""
    l, m = Y.shape  # noqa: E741
    c = lam1 / lam2
    K_tilde = data_dependent_kernel(K, l, c)[:l, :l]
    Omega = np.eye(m) / m
    Z = np.zeros(Y.shape)
    values = []
    for _ in range(rounds):
        fixed = (1 - ridge) * Omega + ridge * np.eye(m) / m
        Z, b = smo(K_tilde, Y, lam1, fixed, epsilon, Z)  # (21)
        WtW = covariance_of_weights(K, Z, lam1, c, fixed)
        F = unlabelled_scores(K, Z, lam1, c, fixed)
        A = lam1 * WtW + lam2 * F.T @ F
        Omega = omega_step(A)  # (23)
        scores = K_tilde @ Z @ fixed / lam1 + b
        values.append(objective_6(scores, Y, 1.0, A))
    return Z, b, Omega, values


# --- Slips in print, and what is left open
# * After (11): W^T W, and Omega with it, is singular for a label that is relevant for no row.
# * Section 2.3: the first line has K_ML for K_ML tilde.
# * Section 3: with Omega = I, (10) is BSVM; but I has trace m, so (6) has Omega = I/m, and lam m.
# * (13): the dual of the problem before it with 4 lam.
# * After (23): Omega stands to the left of [phi(X_l) Theta + phi(X_u) Gamma]; it belongs to the
#   right, as in the next line, which has X_l and X_u for phi(X_l) and phi(X_u).
# * Appendix A: rows are below and labels above, in section 2 it is the other way round. Which label
#   comes next is left open: here it is the one that violates most.
# * Appendix A: j in A_i and k in B_i of a violating tuple change places from (31) on; a step
#   achieves a decrease of h, not "an increase in f".
# * No stop rule of the alternation is printed; it stalls above the optimum of (6) where Omega loses
#   an eigenvalue that it would need again. A ridge between 0 and 1 keeps it positive definite.
