"""The rounds of a fit over parts: CoCoA+ (Smith et al. 2018) with exact block steps.

In each round every part improves its own dual rows as if the joint move were `growth` times its
own, and all go a common step along the sum of their moves: the best one, as the dual objective
along it follows from a few sums. So the dual objective, with a bias that of the augmented
Lagrangian, never decreases. The parts report the certificate of the point at which a round starts,
and the last certificate is computed afresh from the dual rows.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from multimargin.dask import parts
from multimargin.dask.parts import Common, Part, State, Sums, inner
from multimargin.estimators.fitting.certificate import relative_gap
from multimargin.estimators.fitting.progress import EpochCallback
from multimargin.estimators.pairwise.problem import Fit, Model
from multimargin.typing import Matrix, Vector

# The curvature's factor is this power of the number of parts at first, grows after steps shorter
# than this, and shrinks after whole ones.
_START = 0.25
_SHORT_STEP = 0.3
_GROWTH = 1.5
_SHRINKAGE = 1.3


# Rounds over which the pace of the gap is measured, and number of remaining rounds that counts as
# slow.
_PACE = 8
_PATIENCE = 20

# Relative gap above which weights and their changes are sent in single precision, and its rounding.
_SINGLE_TOL = 1e-5
_ROUNDING = 2.0**-24


# Terms that a compiled loop adds one after the other.
_CHUNK = 64


class PartsLost(Exception):
    """Dual rows were lost and replaced by older ones, so that sums have to be recomputed."""


class ClusterLostError(RuntimeError):
    """The scheduler or all workers are gone: the rounds end with their last result."""


class Cluster(Protocol):
    """Place of the parts: the workers of a dask cluster, or one process."""

    count: int

    @property
    def bytes_moved(self) -> int:
        """Bytes of the arrays that went to the parts and came back."""

    def described(self) -> Sums:
        """Return the sums of `parts.describe`."""

    def sums(
        self, function: Callable[..., object], *arguments: Any, combine: Callable[..., object] = ...
    ) -> Any:
        """Apply a function to all parts, and combine the results in the order of the parts."""

    def state_sums(self, function: Callable[..., object], *arguments: Any) -> Sums:
        """Apply a function to all parts and their states, and add the results."""

    def advance(self, function: Callable[..., object], *arguments: Any) -> Sums:
        """Replace all states by the first result of a function, and add the second ones."""

    def replace(self, function: Callable[..., object], *arguments: Any) -> None:
        """Replace all states by the result of a function."""

    def kept(self) -> Sequence[object]:
        """Return the states for `restore`."""

    def restore(self, states: Sequence[Any]) -> None:
        """Return to kept states."""

    def view(self, function: Callable[..., object], *arguments: Any) -> "Cluster":
        """Return the parts after a change of their data, at fresh states."""

    def mark(self, round_number: int, step: float) -> None:
        """Note the end of a round and its step length; backups are made here."""

    def interruptible(self) -> AbstractContextManager[None]:
        """Return a context in which Ctrl-C is raised at once, as nothing is in progress."""


@dataclass(frozen=True)
class Settings:
    """Settings of a solve."""

    tol: float  # Relative duality gap at which to stop
    max_rounds: int  # Largest number of rounds
    seed: int  # Seed of the random permutations
    threads: int  # Threads of each part
    callback: EpochCallback | None  # Called after each round as the loops of one machine do
    # Gap of the method's own problem, from a `Fit` and the sum of the pairs' dual variables; it
    # has to be within the tolerance, too
    own_gap: Callable[[Fit, float], float] | None = None
    # When to end, by `time.monotonic`; not before the first round has moved the rows
    deadline: float | None = None
    # Whether the model has to belong to the dual rows
    of_dual: bool = False
    # Weights and bias to start from, where the splitting can
    start: tuple[Matrix, Matrix] | None = None

    def last(self, number: int) -> str | None:
        """Return the status with which the rounds end after a number of them, None to go on."""
        if number >= self.max_rounds:
            return "max_iterations"
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return "time_limit" if late and number > 1 else None


@dataclass
class Point:
    """The common point and its properties.

    The weights are within `uncertainty` of those of the dual rows, in the norm. `seen` are the
    weights that the parts receive, to which the certificates belong.
    """

    weights: Matrix
    seen: NDArray[Any]
    sum: Matrix
    bias: Matrix
    step: float = 1.0
    uncertainty: float = 0.0
    size: float = 0.0  # Sum of all dual rows' absolute values, when they were last added


class History:
    """Columns of one entry per round."""

    NAMES = ("epoch", "seconds", "primal", "dual", "growth", "step", "bytes", "rho")

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.rows: list[tuple[float, ...]] = []

    def columns(self) -> dict[str, NDArray[np.generic]]:
        table = np.array(self.rows, dtype=float).reshape(-1, len(self.NAMES))
        columns = dict(zip(self.NAMES, table.T.copy(), strict=True))
        for name in ("epoch", "bytes"):
            columns[name] = columns[name].astype(int)
        return columns


def no_history() -> dict[str, NDArray[np.generic]]:
    """Return the columns of no rounds."""
    return History().columns()


@dataclass(frozen=True)
class PartsFit:
    """A fit over parts: a `Fit` without what belongs to single rows."""

    weights: Matrix
    bias: Matrix
    status: str
    rounds: int
    primal: float
    dual: float
    pairs: float
    history: dict[str, Any]
    rounding: float = 0.0  # A bound on the rounding error of their difference
    # The exception that ended the rounds early, to be raised when the solution is stored
    error: BaseException | None = None

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.primal, self.dual, self.rounding)

    def fit(self) -> Fit:
        """Return the solution as that of one machine, without rows."""
        q = self.bias.size
        return Fit(
            dual=np.zeros((0, q)),
            bias=self.bias,
            scores=np.zeros((0, q)),
            weights=self.weights,
            status=self.status,
            n_iter=self.rounds,
            primal=self.primal,
            dual_objective=self.dual if self.gap < np.inf else -np.inf,
            gap=self.gap,
            rounding=self.rounding,
            history=self.history,
            error=self.error,
        )


def rounds_left(
    primal: Sequence[float] | Vector, dual: Sequence[float] | Vector, tol: float
) -> float:
    """Predict the number of further rounds until the gap is within the tolerance.

    It follows from the pace of the given objectives, and is infinite if the gap does not fall.
    """
    if len(primal) < 2:
        return np.inf
    ends = [(float(primal[k]), float(dual[k])) for k in (0, -1)]
    gaps = [(p - d) / max(abs(p), 1e-300) for p, d in ends]
    first, last = np.log(np.maximum(gaps, tol) / tol)
    if last == 0.0:
        return 0.0
    return float(last * (len(primal) - 1) / (first - last)) if first > last else np.inf


class Rounds:
    """The rounds of a problem without a bias."""

    def __init__(
        self,
        cluster: Cluster,
        shape: tuple[int, int],
        model: Model,
        settings: Settings,
        about: Sums,
    ) -> None:
        self.cluster = cluster
        self.model = model
        self.settings = settings
        self.about = about
        self.single = settings.tol >= _SINGLE_TOL
        weights = np.zeros(shape)
        seen = self._seen(weights)
        self.point = Point(weights, seen, np.zeros(shape[1]), np.zeros(shape[1]))
        # The augmentation of a bias, and its minimum.
        self.least = self.sigma = self._least_augmentation(shape[1])
        self.growth = float(cluster.count**_START)
        additions = parts.roundings(cluster.count)
        # Of a sum of changes, relative to their lengths together.
        self.rounding_of_changes = _ROUNDING * additions
        # Of a sum over parts, relative to the sizes of its terms.
        self.rounding_of_sums = float(np.finfo(float).eps) * (shape[1] + _CHUNK + additions)
        # Of the last certificate
        self.rounding = 0.0
        # Of the previous round.
        self.last_step = 1.0
        self.history = History()
        self.tolerated = 0.0
        found = "interrupted", 0, np.inf, 0.0, 0.0
        self.certified = PartsFit(self.point.weights, self.point.bias, *found, {})

    def _least_augmentation(self, labels: int) -> float:
        """Return the initial augmentation: 0 without a bias."""
        return 0.0

    def run(self, *, may_split: bool = False) -> PartsFit:
        """Return the solution; an interruption gives the best point that has a certificate.

        With `may_split` the rounds end as "slow" where others are likely to need fewer.
        """
        self.may_split = may_split
        return self.ended_by(self._run)

    def ended_by(self, run: Callable[[], PartsFit]) -> PartsFit:
        """Return the solution of rounds, or the secured one after an interruption."""
        try:
            solution = run()
        except (KeyboardInterrupt, ClusterLostError) as error:
            there = not isinstance(error, ClusterLostError)
            solution = replace(self.secured(there=there), error=error)
        weights = np.asarray(solution.weights, dtype=np.float64)
        return replace(solution, weights=weights, history=self.history.columns())

    def _run(self) -> PartsFit:
        number = 0
        while True:
            number += 1
            try:
                answer = self._round(number)
                solution = self._certificate(number, answer)
                if solution is not None:
                    return solution
                still = self._move(answer)
                if still and (status := self._still(answer)) is not None:
                    return self._ended(number, status)
                self.cluster.mark(number, self.point.step)
                if self.may_split and self._slow():
                    return replace(self.certified, status="slow")
            except PartsLost:
                self.gather()

    # The certificate

    def secured(self, *, there: bool) -> PartsFit:
        """Return the best point with a certificate after an interruption.

        The parts may be gone, unless `there`.
        """
        return self.certified

    def _objectives(self, answer: Sums) -> tuple[float, float]:
        """Return primal and dual objective at the point where a round started."""
        quadratic, weights = self._quadratic(), self.point.weights
        exact = quadratic if weights is self.point.seen else inner(weights, weights)
        largest = (np.sqrt(exact) + self.point.uncertainty) ** 2
        self.rounding = self.rounding_at(answer, largest)
        return 0.5 * quadratic + answer["loss"], answer["terms"] - 0.5 * largest

    def rounding_at(self, answer: Sums, square: float) -> float:
        """Return the rounding of a certificate, of weights with such a sum of squares.

        The sizes of the terms bound that of losses and dual terms, and the sizes of dual rows times
        features that of the weights, as in the compiled loops.
        """
        of_weights = square + np.sqrt(square) * answer["size"]
        return float(answer["rounding"] + self.rounding_of_sums * of_weights)

    def _quadratic(self) -> float:
        return inner(self.point.seen, self.point.seen)

    def _certificate(self, number: int, answer: Sums) -> PartsFit | None:
        """Record the certificate of a round; return the solution when it is the end."""
        primal, dual = self._objectives(answer)
        self.record(number, primal, dual)
        self.tolerated = self.settings.tol * abs(primal)
        self.certified = self._solution("interrupted", number, primal, dual)
        if self.certified.gap <= self.settings.tol:
            primal, dual, pairs = self._afresh(number)
            solution = self._solution("converged", number, primal, dual, pairs)
            if self.reached(solution):
                self.correct(primal, dual)
                return solution
        stopped = self.tell(number, primal, dual, answer["active"])
        status = "interrupted" if stopped else self.settings.last(number)
        return None if status is None else self._ended(number, status)

    def reached(self, solution: PartsFit) -> bool:
        tol, own_gap = self.settings.tol, self.settings.own_gap
        if solution.gap > tol or own_gap is None:
            return solution.gap <= tol
        return own_gap(solution.fit(), solution.pairs) <= tol

    def _ended(self, number: int, status: str) -> PartsFit:
        primal, dual, pairs = self._afresh(number)
        self.correct(primal, dual)
        return self._solution(status, number, primal, dual, pairs)

    def _afresh(self, number: int) -> tuple[float, float, float]:
        """Return the objectives, with W recomputed from the dual rows, and their sum."""
        pairs = self.gather()
        answer = self.cluster.state_sums(certify, self._common(number, epochs=0), self.model)
        return *self._objectives(answer), pairs

    def gather(self) -> float:
        """Compute the common point from the dual rows."""
        while True:
            try:
                total = self.cluster.state_sums(parts.contribution, self.point.step)
                self.gathered(total)
                return float(total["pairs"])
            except PartsLost:
                continue

    def gathered(self, total: Sums) -> None:
        self.point.weights = self.point.seen = total["weights"]
        self.point.sum, self.point.size = total["sum"], total["size"]
        self.point.uncertainty = 0.0

    def bias(self) -> Matrix:
        return self.point.bias + self.sigma * self.point.sum

    def _solution(
        self, status: str, number: int, primal: float, dual: float, pairs: float = 0.0
    ) -> PartsFit:
        found = status, number, primal, dual, pairs
        return PartsFit(self.point.seen, self.bias(), *found, {}, self.rounding)

    def record(self, number: int, primal: float, dual: float, rho: float | None = None) -> None:
        """Add a round to the history: one of the other method where there is a penalty `rho`."""
        seconds = time.perf_counter() - self.history.start
        own = (self.growth, self.last_step) if rho is None else (np.nan, np.nan)
        moved, penalty = self.cluster.bytes_moved, np.nan if rho is None else rho
        self.history.rows.append((number, seconds, primal, dual, *own, moved, penalty))

    def correct(self, primal: float, dual: float) -> None:
        """Replace the last recorded certificate by the final one."""
        last = list(self.history.rows[-1])
        last[2:4] = primal, dual
        self.history.rows[-1] = tuple(last)

    def tell(self, number: int, primal: float, dual: float, active: int) -> bool:
        callback = self.settings.callback
        seconds = self.history.rows[-1][1]
        if callback is None:
            return False
        with self.cluster.interruptible():
            return callback(number, seconds, primal, dual, int(active))

    # The moves

    def _common(self, number: int, *, epochs: int) -> Common:
        return Common(
            weights=self.point.seen,
            offset=self.bias(),
            step=self.point.step,
            sigma=self.sigma,
            growth=self.growth,
            tolerated=self.tolerated,
            rows=self.about["rows"],
            epochs=epochs,
            seed=(self.settings.seed, number),
            threads=self.settings.threads,
            single=self.single,
        )

    def _round(self, number: int) -> Sums:
        answer = self.cluster.advance(parts.improve, self._common(number, epochs=1), self.model)
        self.point.step = 0.0
        return answer

    def _move(self, answer: Sums) -> bool:
        """Go along the sum of all moves; return whether nothing moved."""
        point = self.point
        change, change_of_sum = answer["weights"], answer["sum"]
        slope = answer["gained"] - inner(point.weights, change) - inner(self.bias(), change_of_sum)
        curvature = inner(change, change) + self.sigma * inner(change_of_sum, change_of_sum)
        if curvature == 0.0:
            point.step = self.last_step = 1.0
            return True
        point.step = self.last_step = min(max(slope / curvature, 0.0), 1.0)
        point.weights = parts.moved(point.weights, change, point.step)
        point.seen = self._seen(point.weights)
        if self.single:
            point.uncertainty += point.step * self.rounding_of_changes * answer["length"]
        point.sum = point.sum + point.step * change_of_sum
        if point.step < _SHORT_STEP:
            self.growth = min(self.growth * _GROWTH, float(self.cluster.count))
        elif point.step == 1.0:
            self.growth = max(self.growth / _SHRINKAGE, 1.0)
        return point.step == 0.0

    def _seen(self, weights: Matrix) -> NDArray[Any]:
        """Return weights in the precision in which they are sent."""
        return weights.astype(np.float32) if self.single else weights

    def _slow(self) -> bool:
        """Return whether the gap falls so slowly that the other rounds are likely fewer."""
        rows = self.history.rows[-_PACE:]
        primal, dual = zip(*(row[2:4] for row in rows), strict=True)
        return len(rows) == _PACE and rounds_left(primal, dual, self.settings.tol) > _PATIENCE

    def _still(self, answer: Sums) -> str | None:
        """Return the status after a round in which nothing moved, None to go on."""
        if answer["active"] < self.about["rows_with_pairs"] and self.tolerated > 0.0:
            self.tolerated = 0.0
            return None
        return "stalled"


def certify(part: Part, state: State, common: Common, model: Model) -> Sums:
    """Return the contribution of the rows to the certificate of the common point."""
    return parts.improve(part, state, common, model)[1]
