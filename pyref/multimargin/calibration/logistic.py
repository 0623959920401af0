"""Penalised logistic regression on features shared by all labels and a few of each label."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from multimargin.typing import Matrix, Vector

# Penalty of the common intercept, which nothing else bounds if all labels have one value.
_RIDGE = 1e-6
_MAX_STEPS = 100


class PooledLogistic:
    """Logistic regression whose own features of a label are multiples of common ones.

    The own features of a pair are its label's alone, so that the Hessian is a border of common
    weights around a block for each label: a Newton step costs one pass over the pairs. A BLAS
    should have one thread: several cost more than they gain on a few rows. Common weights shrink
    towards `centre` (F,) with a penalty each, a label's own towards 0 with the penalty 1.
    """

    def __init__(
        self,
        A: Matrix,
        counts: NDArray[np.intp],
        relevant: NDArray[np.bool_],
        weights: Vector,
        own: NDArray[np.intp],
        own_scale: Vector,
        centre: Vector,
        penalty: float,
    ) -> None:
        # (F, N), the last row 1. The pairs of a label are neighbours; `counts` has how many each
        # label has. Own feature j of a label is `own_scale[j]` times row `own[j]`.
        self.A, self.counts, self.weights = A, counts, weights
        self.sign = np.where(relevant, 1.0, -1.0)
        self.own, self.own_scale = own, own_scale[:, None]
        self.present = np.flatnonzero(counts)
        self.starts = (np.cumsum(counts) - counts)[self.present]
        self.centre, self.penalty = centre, np.full(A.shape[0], penalty)
        self.penalty[-1] = _RIDGE

    def minimise(
        self, common: Vector, own: Matrix, tolerance: float
    ) -> tuple[Vector, Matrix, int, float]:
        """Return the weights of the common and own features (F,) and (J, q), steps, and the gap.

        The gap bounds the distance of the value from its minimum, relative to the value: half the
        squared norm of the gradient, in the norm dual to that of the penalty.
        """
        odds, value = self._at(common, own)
        steps, gain = 0, np.inf
        # Newton's method squares the error: the step after a small one is exact.
        while gain > tolerance * value and steps < _MAX_STEPS:
            towards_common, towards_own, gain = self._newton_step(common, own, odds)
            length = 1.0
            while True:
                tried = common + length * towards_common, own + length * towards_own
                odds, new = self._at(*tried)
                if new <= value - 1e-4 * length * gain or length < 1e-6:
                    break
                length /= 2.0
            (common, own), value, steps = tried, new, steps + 1
        return common, own, steps, self._gap(common, own, odds) / max(value, np.finfo(float).tiny)

    def _gap(self, common: Vector, own: Matrix, odds: Vector) -> float:
        downhill, own_downhill, _ = self._gradient(common, own, odds)
        return 0.5 * float(np.sum(downhill**2 / self.penalty) + np.sum(own_downhill**2))

    def _at(self, common: Vector, own: Matrix) -> tuple[Vector, float]:
        """Return the log odds of the pairs, and the objective."""
        odds = np.einsum("i,ij->j", common, self.A)
        for row, weights in zip(self.own, self.own_scale * own, strict=True):
            odds += np.repeat(weights, self.counts) * self.A[row]
        margin = self.sign * odds
        losses = np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0)
        penalty = 0.5 * float(self.penalty @ (common - self.centre) ** 2 + np.sum(own**2))
        return odds, float(np.einsum("i,i", self.weights, losses)) + penalty

    def _gradient(self, common: Vector, own: Matrix, odds: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return the negative gradient, and the probability of the wrong answer of each pair."""
        wrong = expit(-self.sign * odds)
        residual = np.zeros((self.A.shape[0], self.counts.size))
        pull = self.weights * self.sign * wrong
        for row, feature in zip(residual, self.A, strict=True):
            row[self.present] = np.add.reduceat(pull * feature, self.starts)
        downhill = residual.sum(axis=1) - self.penalty * (common - self.centre)
        return downhill, self.own_scale * residual[self.own] - own, wrong

    def _newton_step(
        self, common: Vector, own: Matrix, odds: Vector
    ) -> tuple[Vector, Matrix, float]:
        """Return the step, and its gain to first order."""
        downhill, own_downhill, wrong = self._gradient(common, own, odds)
        curvature = self.weights * wrong * (1.0 - wrong)
        of_labels = np.zeros((self.counts.size, *2 * self.A.shape[:1]))
        for label, first in zip(self.present, self.starts, strict=True):
            part = slice(first, first + self.counts[label])
            A = self.A[:, part]
            of_labels[label] = (A * curvature[part]) @ A.T
        hessian = of_labels.sum(axis=0) + np.diag(self.penalty)
        # (q, F, J) and (q, J, J)
        border = of_labels[:, :, self.own] * self.own_scale[:, 0]
        blocks = border[:, self.own] * self.own_scale + np.eye(self.own.size)
        towards_right = np.dstack([border.transpose(0, 2, 1), own_downhill.T])
        solved = _solved(blocks, towards_right)
        through, alone = solved[:, :, :-1], solved[:, :, -1]
        reduced = hessian - np.einsum("kia,kaj->ij", border, through)
        towards = _solved(reduced, downhill - np.einsum("kia,ka->i", border, alone))
        towards_own = (alone - through @ towards).T
        return towards, towards_own, float(downhill @ towards + np.sum(own_downhill * towards_own))


def _solved(matrices: Matrix, right: Matrix) -> Matrix:
    """Solve, by pseudoinverses where features of very different scales leave a matrix singular."""
    try:
        return np.asarray(np.linalg.solve(matrices, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrices, hermitian=True) @ right)
