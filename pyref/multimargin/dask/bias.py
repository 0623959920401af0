"""The rounds of problems with a bias, penalized or free, by the augmented Lagrangian."""

from dataclasses import replace

import numpy as np

from multimargin import _rust
from multimargin.dask import repair
from multimargin.dask.parts import Sums, inner
from multimargin.dask.repair import Flow
from multimargin.dask.rounds import Cluster, PartsFit, PartsLost, Rounds, Settings, certify
from multimargin.estimators.fitting.certificate import relative_gap
from multimargin.estimators.pairwise.problem import Model
from multimargin.typing import Matrix

# Shares of the augmentation of a bias. The larger one of the compiled loop, 0.3 times the mean of
# the kernel's diagonal for a free bias and 1 for a penalized one, would shorten moves of a part
# that those of the others cancel. Its growth after a round in which nothing moved, and the largest
# one, are those of the compiled loop.
_BY_WEIGHT = 5.0
_BY_CURVATURE = 0.1
_STILL_FACTOR = 4.0
_LARGEST_GROWTH = 1e12

# The share of the gap with the bias held that remains after a repair, as in the compiled loop.
# Better biases are searched at this gap first, and then each time at a gap smaller by this factor.
_AFTER_REPAIR = 0.75
_FIRST_GAP = 0.03
_FEWER = 1.5

# The sum of the dual rows relative to the sum of their sizes, up to which it is rounding.
_UNEVEN = 1e-9

# The capacities of a flow, this many bytes per pair of labels, may take as much as the weights, or
# this.
_BYTES_OF_CAPACITIES = 128
_ALWAYS_ROOM = 2**29


def augmentation(about: Sums, labels: int) -> float:
    """Return the inverse of the change of a label's dual rows when its bias changes by 1.

    By no more than the weight of its pairs, which counts where C is small, and by about a row's
    margin over its curvature each, which counts where C is large.
    """
    curvature = about["squared_norms"] / max(about["rows"], 1)
    by_weight = _BY_WEIGHT / about["pair_weight"]
    by_curvature = _BY_CURVATURE * curvature / max(about["rows_with_pairs"], 1)
    return float(labels * (by_weight + by_curvature))


class PenalizedRounds(Rounds):
    """The rounds of a problem with a penalized bias, by the augmented Lagrangian.

    The kernel K + 1 in every part would shorten moves that those of the others cancel, so the dual
    rows see sigma < 1 in place of the 1, and a bias b: it follows (1 - sigma) b + sigma g, g the
    sum of all dual rows, which it meets at the optimum. With sigma = 1 there is no b left.
    """

    def _least_augmentation(self, labels: int) -> float:
        # Without pairs nothing can move.
        return min(augmentation(self.about, labels), 1.0) if self.about["pair_weight"] else 1.0

    def _objectives(self, answer: Sums) -> tuple[float, float]:
        primal, dual = super()._objectives(answer)
        bias, total = self.bias(), self.point.sum
        return primal + 0.5 * inner(bias, bias), dual - 0.5 * inner(total, total)

    def _move(self, answer: Sums) -> bool:
        still = super()._move(answer)
        self._follow(self.sigma if still else max(self.least, self.sigma / _STILL_FACTOR))
        return still

    def _still(self, answer: Sums) -> str | None:
        if self.sigma == 1.0:
            return super()._still(answer)
        # Nothing moves at this bias: increase its steps until something does.
        self.tolerated = 0.0
        self._follow(min(_STILL_FACTOR * self.sigma, 1.0))
        return None

    def _follow(self, sigma: float) -> None:
        """Set b to the bias in the scores of the dual rows."""
        bias = self.bias()
        self.sigma = sigma
        self.point.bias = (1.0 - sigma) * bias


class FreeRounds(Rounds):
    """The rounds of a problem with a free bias, by the augmented Lagrangian.

    The multiplier b follows b + sigma g after each round, g the sum of all dual rows, from the bias
    that is best without features on. A certificate needs g = 0: the dual rows are mixed with others
    that sum to a multiple of -g, good ones near by (`repair.rerouted`) or, where that fails at the
    end, a flow through the network of the labels (`repair.mixed`). With the first ones comes the
    best bias for the scores, which is all that is asked of them in the first rounds.
    """

    def __init__(
        self,
        cluster: Cluster,
        shape: tuple[int, int],
        model: Model,
        settings: Settings,
        about: Sums,
        capacity: Matrix,
    ) -> None:
        super().__init__(cluster, shape, model, settings, about)
        self.capacity = capacity
        self.point.bias = _rust.best_bias_without_features(capacity)
        self.next_attempt = 0
        # The gap at which to search a better bias, and the bias found.
        self.next_gap = _FIRST_GAP
        self.better: Matrix | None = None
        # The best dual objective of a repair so far, and its rounding; that of B = 0 at first.
        self.bound, self.rounding_of_bound = 0.0, 0.0

    def _least_augmentation(self, labels: int) -> float:
        return augmentation(self.about, labels)

    def _certificate(self, number: int, answer: Sums) -> PartsFit | None:
        quadratic = self._quadratic()
        primal = 0.5 * quadratic + answer["loss"]
        bias, tol = self.bias(), self.settings.tol
        dual = primal - answer["gap"]
        self.record(number, primal, dual)
        self.tolerated = tol * abs(primal)
        self.rounding = self.rounding_at(answer, quadratic)
        self.certified = replace(
            self._solution("interrupted", number, primal, self.bound), bias=centred(bias)
        )
        gap = _AFTER_REPAIR * relative_gap(primal, dual, self.rounding)
        stopped = self.tell(number, primal, dual, answer["active"])
        last = self.settings.last(number)
        if last is not None or (gap <= tol and number >= self.next_attempt):
            solution = self.attempt(number, bias, last)
            if solution is not None:
                return solution
        if stopped:
            return self._ended(number, "interrupted")
        if self.better is None and gap <= self.next_gap:
            self.next_gap = gap / _FEWER
            flow = self._flow(number)
            self.better = None if flow is None else centred(bias - flow.best)
        return None

    def attempt(self, number: int, bias: Matrix, last: str | None) -> PartsFit | None:
        """Return the solution of a repair if it is final; else go back to the round's point."""
        point, states = replace(self.point), self.cluster.kept()
        solution = self._repaired(number, bias, last=last is not None)
        if solution is not None and solution.gap <= self.settings.tol:
            return self._closed(solution, "converged")
        self.point = point
        self.cluster.restore(states)
        self.next_attempt = number + 1 + number // 10
        if last is None:
            return None
        return self._closed(solution or self.certified, last)

    def _ended(self, number: int, status: str) -> PartsFit:
        solution = self._repaired(number, self.bias())
        return self._closed(solution or self.certified, status)

    def _closed(self, solution: PartsFit, status: str) -> PartsFit:
        """Return the solution with its status; its objectives end the history."""
        self.correct(solution.primal, solution.dual)
        return replace(solution, status=status)

    def secured(self, *, there: bool) -> PartsFit:
        """Repair the last point, too, as its bound is better than previous ones."""
        last = self.certified
        if not np.isfinite(last.primal):
            return last
        if not there:
            return self._closed(last, "interrupted")
        try:
            # The dual rows may have moved since the common point.
            self.gather()
            found = self._repaired(last.rounds, self.bias())
        except (KeyboardInterrupt, PartsLost, RuntimeError, OSError):
            # In a hurry, or without workers.
            found = None
        if found is not None and found.gap < last.gap:
            last = found
        return self._closed(last, "interrupted")

    def _repaired(self, number: int, bias: Matrix, *, last: bool = True) -> PartsFit | None:
        """Move to where the dual rows sum to 0; None if there is no way.

        At the end, the better one of both ways counts.
        """
        states, point = self.cluster.kept(), replace(self.point)
        rerouted = self._rerouted(number, bias)
        if rerouted is not None and rerouted.gap <= self.settings.tol:
            return rerouted
        self.cluster.restore(states)
        self.point = point
        found = [rerouted, self._mixed(number, bias)]
        return min(filter(None, found), key=lambda solution: solution.gap, default=None)

    def _rerouted(self, number: int, bias: Matrix) -> PartsFit | None:
        """Mix the dual rows with good nearby ones, which costs least."""
        flow = self._flow(number)
        if flow is None:
            return None
        total = self.cluster.advance(
            repair.rerouted, self._common(number, epochs=0), self.model, flow
        )
        self.point.step = 1.0
        self.gathered(total)
        priced = self._with_bias(number, centred(bias - flow.best))
        if priced.gap <= self.settings.tol:
            return priced
        plain = self._with_bias(number, bias)
        found = plain if plain.gap < priced.gap else priced
        self.better = found.bias
        return found

    def _flow(self, number: int) -> Flow | None:
        """Return the flow that makes the mixture sum to 0; None if no pairs can carry it.

        Also None where its capacities would be larger than anything else, and where only the pairs
        with the highest irrelevant labels count.
        """
        if not self.about["all_pairs"]:
            return None
        size = _BYTES_OF_CAPACITIES * self.capacity.size
        if size > max(self.point.weights.nbytes, _ALWAYS_ROOM):
            return None
        common = self._common(number, epochs=0)

        def look(bands: Matrix) -> Sums:
            return self.cluster.state_sums(repair.pairs_near_margin, common, self.model, bands)

        tolerated = self.settings.tol * abs(self.certified.primal)
        found = _rust.flow_of_parts(self.point.sum, self.capacity.sum(), tolerated, look)
        return None if found is None else Flow(**found)

    def _mixed(self, number: int, bias: Matrix) -> PartsFit | None:
        """Mix the dual rows with a flow that cancels their sum; None if there is none."""
        if self.point.sum.any():
            routing = _rust.route_label_sums(self.point.sum, self.capacity)
            if routing is None:
                return None
            eps, prices = routing
            self.cluster.replace(repair.mixed, self.point.step, prices, eps)
            self.point.step = 1.0
        self.gather()
        return self._with_bias(number, bias)

    def _with_bias(self, number: int, bias: Matrix) -> PartsFit:
        """Certify the dual rows, which bound the problem where they sum to 0, with a bias."""
        weights = self.point.weights
        common = replace(self._common(number, epochs=0), offset=bias)
        answer = self.cluster.state_sums(certify, common, self.model)
        quadratic = inner(weights, weights)
        primal, dual = 0.5 * quadratic + answer["loss"], answer["terms"] - 0.5 * quadratic
        rounding = self.rounding_at(answer, quadratic)
        even = np.abs(self.point.sum).sum() <= _UNEVEN * self.point.size
        if even and dual > self.bound:
            self.bound, self.rounding_of_bound = dual, rounding
        if self.certified.primal <= primal:
            # The bound also holds for the better point.
            best = replace(self.certified, rounds=number, dual=self.bound)
        else:
            found = "converged", number, primal, self.bound, 0.0
            best = PartsFit(weights, centred(bias), *found, {}, rounding)
        return replace(best, rounding=max(best.rounding, self.rounding_of_bound))

    def _move(self, answer: Sums) -> bool:
        still = super()._move(answer)
        if not still:
            self.sigma = max(self.least, self.sigma / _STILL_FACTOR)
        bias, self.better = self.better, None
        self.point.bias = centred(self.bias()) if bias is None else bias
        return still

    def _still(self, answer: Sums) -> str | None:
        if self.sigma >= _LARGEST_GROWTH * self.least:
            return super()._still(answer)
        # Nothing moves at these biases: increase the steps until something does.
        self.tolerated = 0.0
        self.sigma *= _STILL_FACTOR
        return None


def centred(bias: Matrix) -> Matrix:
    """Return a bias moved to a mean of 0, which changes no margin."""
    moved: Matrix = bias - bias.mean()
    return moved
