"""Progress of a fit: printed lines, and scikit-learn's callbacks if it has them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.base import BaseEstimator

from multimargin.interrupts import Interrupts

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # pragma: no cover  # scikit-learn before 1.9, as make test-oldest has it

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method, called from one more frame as there: warnings count frames."""

        @wraps(method)
        def called(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        return called


__all__ = ["CallbackSupportMixin", "EpochCallback", "Progress", "with_callbacks"]

EpochCallback = Callable[[int, float, float, float, int], bool]


class Progress:
    """Reports each epoch of a fit to the user, or to the user's callbacks.

    Each epoch is a task of scikit-learn's callback protocol. A callback whose `on_fit_task_end`
    takes the keyword `metadata` gets a dict with "epoch", "seconds", "primal", "dual", the relative
    "gap" and "active", the number of instances that the next epoch visits.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        max_epochs: int,
        verbose: int,
        interrupts: Interrupts | None = None,
    ) -> None:
        self._estimator = estimator
        self._verbose = verbose
        self._context = None
        self.stop_requested = False
        self.interrupts = Interrupts() if interrupts is None else interrupts
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=max_epochs)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def epoch_callback(self) -> EpochCallback | None:
        """Return the function to call after each epoch, None when there is no callback."""
        return self._told if self._verbose or self._context is not None else None

    def finish(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)

    def _told(self, *record: Any) -> bool:
        """Call a user's function such that Ctrl-C ends it, and the loop with it."""
        try:
            with self.interrupts.allowed():
                return self._epoch(*record)
        except KeyboardInterrupt:
            self.interrupts.note()
            raise

    def _epoch(self, epoch: int, seconds: float, primal: float, dual: float, active: int) -> bool:
        gap = (primal - dual) / abs(primal) if primal else 0.0
        if self._verbose:
            print(
                f"[{type(self._estimator).__name__}] epoch {epoch:4d}  {seconds:8.2f} s  "
                f"primal {primal:.8g}  dual {dual:.8g}  gap {gap:.2e}  active {active}"
            )
        if self._context is not None:
            task = self._context.subcontext(task_name="epoch")
            task.call_on_fit_task_begin(estimator=self._estimator)
            stop = task.call_on_fit_task_end(
                estimator=self._estimator,
                metadata={
                    "epoch": epoch,
                    "seconds": seconds,
                    "primal": primal,
                    "dual": dual,
                    "gap": gap,
                    "active": active,
                },
            )
            self.stop_requested = self.stop_requested or bool(stop)
        return self.stop_requested
