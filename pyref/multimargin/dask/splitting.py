"""The rounds of the alternating direction method, by transpose reduction (Goldstein et al. 2016).

Each row keeps its own scores and multipliers, and the weights are those of a ridge regression on
them, which needs only the Gram matrix of the features, summed once, and the weights of the dual
rows. So the rounds do not depend on the division of the rows. Every round certifies the weights
that it sent and the resulting dual rows; the best ones so far count.
"""

from dataclasses import replace

import numpy as np

from multimargin.blas import one_blas_thread
from multimargin.dask import split_parts
from multimargin.dask.bias import FreeRounds, centred
from multimargin.dask.parts import Sums, contribution, inner
from multimargin.dask.rounds import PartsFit, PartsLost, Point, Rounds
from multimargin.dask.split_parts import RELAXATION, SplitCommon
from multimargin.decompositions import aside
from multimargin.estimators.fitting.certificate import relative_gap
from multimargin.typing import Matrix

# Maximum number of features: the client decomposes a matrix of that size.
MOST_FEATURES = 4096

# Rounds of a cycle. The penalty changes at half of it, and the bias leaps, in the first rounds
# only: what goes on changing need not converge. The states of the second half are extrapolated at
# its end, unless they take more bytes than this.
_CYCLE = 12
_MOST_KEPT = 2**30
_BALANCED = 300
_MOST_CHANGE = 10.0
_LEAST_CHANGE = 1.2
# The round from which small penalties are preferred with a free bias.
_LEANS = 80
# The first penalty, relative to the mean weight of the pairs of a row.
_FIRST_RHO = 0.03
_FIRST_EXTRAPOLATION = 24
_REGULARIZED = 1e-5
_SHORTER = 0.9

# Maximum leap of a bias, relative to its last move, and minimum leap that pays, relative to a
# margin.
_LONGEST_LEAP = 1.0
_SHORTEST_LEAP = 0.15

# A point is repaired when the gap with the bias held is this share of the tolerance.
_BEFORE_REPAIR = 0.75


class Ridge:
    """The weights and the bias of a ridge regression with the penalty rho, for every rho.

    They minimise 1/2 ||W||^2 + rho/2 sum_i s_i^2 ||x_i W + b - t_i||^2, with half of ||b||^2 where
    the bias is penalized. All matrices have the bias, or what belongs to it, as their last row.
    """

    def __init__(self, gram: Matrix, bias: str) -> None:
        self.gram = gram
        self.bias = bias
        d = len(gram) - 1
        self.total = float(gram[d, d])
        self.mean = gram[:d, d] / max(self.total, np.finfo(float).tiny)
        matrix = gram if bias == "penalized" else gram[:d, :d]
        if bias == "free":
            matrix = matrix - self.total * np.outer(self.mean, self.mean)
        with one_blas_thread():
            values, self.vectors = aside(np.linalg.eigh, matrix)
        self.values = np.maximum(values, 0.0)[:, None]

    def minimiser(self, rho: float, target: Matrix) -> Matrix:
        """Return W and b for rho times the sum of s_i^2 x_i t_i^T."""
        with one_blas_thread():
            if self.bias == "penalized":
                return self._inverse(rho, target)
            features, ones = target[:-1], target[-1]
            if self.bias == "none":
                return np.vstack([self._inverse(rho, features), np.zeros_like(ones)])
            weights = self._inverse(rho, features - np.outer(self.mean, ones))
            return np.vstack([weights, ones / (rho * self.total) - self.mean @ weights])

    def product(self, model: Matrix) -> Matrix:
        """Return the sum of s_i^2 x_i f_i^T for the scores of a model."""
        with one_blas_thread():
            return np.asarray(self.gram @ model)

    def spread(self, square: float, scores: Matrix) -> float:
        """Return a sum of squares of scores about their mean, which is next to free."""
        mean = scores[-1]
        spread = square - inner(mean, mean) / self.total
        return spread if self.bias != "free" and spread > 1e-13 * square else square

    def _inverse(self, rho: float, target: Matrix) -> Matrix:
        vectors = self.vectors
        return np.asarray(vectors @ ((vectors.T @ target) / (1.0 + rho * self.values)))


class SplitRounds:
    """The rounds of a problem, from the point of other rounds on."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds
        self.cluster = rounds.cluster
        # Of the last round
        self.number = len(rounds.history.rows)
        about, bias = rounds.about, rounds.model.bias
        self.beside = float(bias == "penalized")
        length = about["squared_norms_with_pairs"] / about["rows_with_pairs"] + self.beside
        self.length = length if length > 0.0 else 1.0
        gram = self.cluster.sums(split_parts.gram, self.length, self.beside)["gram"]
        with self.cluster.interruptible():
            self.ridge = Ridge(gram, bias)
        scores_and_dual_rows = 2 * 8 * about["rows"] * rounds.point.bias.size
        self.kept_bytes = (_CYCLE // 2 + 1) * scores_and_dual_rows
        self.rho = 0.0
        self.best = rounds.certified
        # The dual objective of B = 0, and the data of the best dual rows.
        self.bound, self.pairs = 0.0, 0.0
        # Of the objective and of the bound of the best points
        self.roundings = [0.0, 0.0]
        self._place(np.vstack([rounds.point.weights, rounds.bias()]))
        self.best_dual = self.dual

    def run(self) -> PartsFit:
        """Return the solution; `Rounds.ended_by` knows what to do with an interruption."""
        while True:
            self.number += 1
            try:
                answer = self._round()
                solution = self._certificate(answer)
                if solution is not None:
                    return solution
                self._move(answer)
                self.cluster.mark(self.number, 1.0)
            except PartsLost:
                self._place(np.vstack([self.best.weights, self.best.bias]))

    # The common point

    def _place(self, model: Matrix) -> None:
        """Start at a model, its scores, and the current dual rows."""
        rounds = self.rounds
        while True:
            try:
                total = self.cluster.state_sums(contribution, rounds.point.step)
                break
            except PartsLost:
                continue
        # sum_i beta_i x_i^T, and the model that is sent.
        self.dual = np.vstack([total["weights"], total["sum"]])
        self.model = np.asarray(model, dtype=np.float64)
        self.scores = self.ridge.product(self.model)
        if self.rho == 0.0:
            self.rho = self._first_rho(total["square"])
        self.restart = True
        self.age = 0
        self.mixture: Matrix | None = None
        self.shift: Matrix | None = None
        self.sample: tuple[Matrix, Matrix] | None = None
        self.kept: list[tuple[Matrix, Matrix]] = []
        # Squared length of the move before the last extrapolation
        self.move = np.inf

    def _first_rho(self, square: float) -> float:
        """Return the penalty that would balance the residuals at the optimum."""
        about = self.rounds.about
        spread = self.ridge.spread(inner(self.model, self.scores), self.scores)
        if square > 0.0 and spread > 0.0:
            return float(np.sqrt(square / spread))
        return float(_FIRST_RHO * about["pair_weight"] / about["rows_with_pairs"])

    def _common(self) -> SplitCommon:
        return SplitCommon(
            weights=self.model[:-1],
            offset=self.model[-1].copy(),
            step=self.rounds.point.step,
            rho=self.rho,
            length=self.length,
            beside=self.beside,
            threads=self.rounds.settings.threads,
            restart=self.restart,
            mixture=self.mixture,
            shift=self.shift,
            keep=len(self.kept) if self._collects() else None,
            last=self._collects() and self.age % _CYCLE == _CYCLE - 1,
        )

    def _round(self) -> Sums:
        collects = self._collects()
        answer = self.cluster.advance(split_parts.split, self._common(), self.rounds.model)
        new = np.vstack([answer["weights"], answer["sum"]])
        fitted = self.ridge.product(self.model)
        relaxed = fitted if self.restart else RELAXATION * fitted + (1.0 - RELAXATION) * self.scores
        self.scores = relaxed + (new - self.dual) / self.rho
        self.dual = new
        self.restart, self.mixture, self.shift = False, None, None
        self.rounds.point.step = 1.0
        self.age += 1
        if collects:
            self.kept.append((self.scores, self.dual))
        return answer

    def _move(self, answer: Sums) -> None:
        """Find the model of the next round, and its penalty."""
        if "residuals" in answer:
            self._extrapolate(answer["residuals"])
        elif self.age % _CYCLE == _CYCLE // 2 and self.age < _BALANCED:
            self._balance(answer)
            if self.ridge.bias != "none":
                self._leap()
        self.model = self.ridge.minimiser(self.rho, self.rho * self.scores + self.dual)

    def _balance(self, answer: Sums) -> None:
        """Move the penalty towards equal relative residuals."""
        spread = self.ridge.spread(answer["square"], self.scores)
        # A free bias that is held back by a large penalty takes long.
        lean = min(1.0, _LEANS / self.age) if self.ridge.bias == "free" else 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            primal = np.float64(answer["primal"]) / spread
            dual = np.float64(answer["moved"]) / answer["displacements"]
            factor = np.clip((lean * primal / dual) ** 0.25, 1.0 / _MOST_CHANGE, _MOST_CHANGE)
        if max(factor, 1.0 / factor) > _LEAST_CHANGE:
            self.rho *= float(factor)

    # Extrapolation, Anderson's method once a cycle

    def _collects(self) -> bool:
        """Return whether the states of the next round are kept."""
        number = self.age + 1
        last_half = number % _CYCLE == 0 or number % _CYCLE >= _CYCLE // 2
        late = number >= _FIRST_EXTRAPOLATION - _CYCLE // 2
        return late and last_half and self.kept_bytes <= _MOST_KEPT

    def _extrapolate(self, residuals: Matrix) -> None:
        # Moves at a fixed penalty never grow by themselves: no extrapolation until they are
        # shorter.
        shorter = self.age < _BALANCED or residuals[-1, -1] < _SHORTER * self.move
        mixture = extrapolation(residuals) if shorter else None
        if mixture is not None:
            self.move = float(residuals[-1, -1])
            states = zip(mixture, self.kept[1:], strict=True)
            pairs = [(w * scores, w * dual) for w, (scores, dual) in states]
            self.scores = sum(scores for scores, _ in pairs)
            self.dual = sum(dual for _, dual in pairs)
        self.mixture = mixture
        self.kept.clear()

    # The bias follows what all rows lack together, and slowly: few rows answer to its moves

    def _leap(self) -> None:
        """Move the bias by the secants of the last two cycles."""
        bias = self.model[-1]
        lack = self.dual[-1] - self.beside * bias
        if self.sample is not None:
            shift = leap(bias - self.sample[0], lack - self.sample[1], lack)
            if np.abs(shift).max() > _SHORTEST_LEAP:
                self.shift = shift
                self.scores = self.scores + np.outer(self.ridge.gram[:, -1], shift)
        self.sample = bias, lack

    # The certificate

    def _certificate(self, answer: Sums) -> PartsFit | None:
        rounds, settings, number = self.rounds, self.rounds.settings, self.number
        weights, bias = self.model[:-1], self.model[-1]
        penalty = inner(self.model, self.model) if self.beside else inner(weights, weights)
        primal = 0.5 * penalty + answer["loss"]
        of_dual = self.dual if self.beside else self.dual[:-1]
        square = inner(of_dual, of_dual)
        dual = self._of_terms(answer["terms"], square)
        rounding = rounds.rounding_at(answer, max(penalty, square))
        if not primal >= self.best.primal:
            shown = bias if rounds.model.bias != "free" else centred(bias)
            found = "interrupted", number, primal, 0.0, 0.0
            self.best = PartsFit(weights, shown, *found, {})
            self.roundings[0] = rounding
        free = isinstance(rounds, FreeRounds)
        if free:
            # A bound on the problem at this bias alone.
            dual -= inner(bias, self.dual[-1])
        elif dual > self.bound:
            self.bound, self.pairs, self.best_dual = dual, answer["pairs"], self.dual
        if free or dual == self.bound:
            self.roundings[1] = rounding
        bound = dual if free else self.bound
        known = rounds.bound if isinstance(rounds, FreeRounds) else self.bound
        rounding = max(self.roundings)
        self.best = replace(
            self.best, rounds=number, dual=known, pairs=self.pairs, rounding=rounding
        )
        rounds.certified = self._of_dual() if settings.of_dual else self.best
        rounds.record(number, self.best.primal, bound, rho=self.rho)
        gap = relative_gap(self.best.primal, bound, rounding)
        stopped = rounds.tell(number, self.best.primal, bound, rounds.about["rows_with_pairs"])
        last = "interrupted" if stopped else settings.last(number)
        if isinstance(rounds, FreeRounds):
            self._hand_over(rounds)
            near = gap <= _BEFORE_REPAIR * settings.tol and number >= rounds.next_attempt
            return rounds.attempt(number, bias, last) if near or last is not None else None
        if gap <= settings.tol and rounds.reached(rounds.certified):
            return replace(rounds.certified, status="converged")
        return None if last is None else replace(rounds.certified, status=last)

    def _of_terms(self, terms: float, square: float) -> float:
        """Return the dual objective of the dual rows, or a bound on that of a share of them."""
        best = terms > 0.0 and not (self.rounds.settings.of_dual or self.ridge.bias == "free")
        share = min(terms / square, 1.0) if best and square > 0.0 else 1.0
        # The terms are concave, and 0 where the dual rows are.
        return share * terms - 0.5 * share * share * square

    def _of_dual(self) -> PartsFit:
        """Return the solution with the model of the best dual rows."""
        return replace(self.best, weights=self.best_dual[:-1], bias=self.best_dual[-1])

    def _hand_over(self, rounds: FreeRounds) -> None:
        """Pass the current dual rows to the rounds that repair them."""
        rounds.sigma = 0.0
        bias = self.model[-1]
        rounds.point = Point(self.dual[:-1], self.model[:-1], self.dual[-1], bias, step=1.0)
        rounds.tolerated = rounds.settings.tol * abs(self.best.primal)


def leap(moved: Matrix, change: Matrix, lack: Matrix) -> Matrix:
    """Return the moves of the biases that cancel a sum, from its change over the last moves."""
    # A bias that rises takes from what is lacking.
    slope = -change * np.sign(moved)
    longest = _LONGEST_LEAP * np.abs(moved)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wanted = np.where(slope > 0.0, np.abs(moved) * np.abs(lack) / slope, 0.0)
    right = np.sign(lack) == np.sign(moved)
    return np.asarray(np.where(right, np.sign(lack) * np.minimum(wanted, longest), 0.0))


def extrapolation(products: Matrix) -> Matrix | None:
    """Return the weights of the mixture of states with the smallest move.

    None where there is nothing to extrapolate.
    """
    count = len(products)
    changes = np.diff(np.eye(count), axis=0)
    matrix = changes @ products @ changes.T
    trace = float(np.trace(matrix))
    if not (np.isfinite(products).all() and trace > 0.0):
        return None
    matrix[np.diag_indices(count - 1)] += _REGULARIZED * trace
    last = np.eye(count)[-1]
    weights = last - changes.T @ np.linalg.solve(matrix, changes @ products[-1])
    return np.ascontiguousarray(weights)
