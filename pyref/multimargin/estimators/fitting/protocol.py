"""The protocol of a fit that Ctrl-C may end: the model reached is kept with its certificate."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from sklearn.base import BaseEstimator

from multimargin.estimators.fitting.progress import Progress
from multimargin.estimators.fitting.report import SomeReport
from multimargin.whole_fits import is_whole


def kept_fit(
    estimator: BaseEstimator,
    progress: Progress,
    *,
    solve: Callable[[], SomeReport],
    keep: Callable[[SomeReport], SomeReport],
    learn: Callable[[SomeReport, bool], None] | None = None,
    learning: Callable[[], AbstractContextManager[object]] | None = None,
    ends: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
) -> SomeReport:
    """Solve a problem, keep its model and learn the threshold; return the report of the model kept.

    `learn` is told whether it has to be quick, without data, after an interrupt. It runs in the
    context `learning`, by default one that lets Ctrl-C through. An exception that ends the fit
    early, one of `ends`, is raised once the model is kept.
    """
    interrupts = progress.interrupts
    with interrupts.held():
        fit = solve()
        error = fit.error
        if error is None and fit.status == "interrupted" and not progress.stop_requested:
            error = KeyboardInterrupt()
            if fit.n_iter == 0:
                # Nothing has been reached yet: a previous model stays as it is.
                raise error
        fit = keep(fit)
        if learn is not None:
            try:
                with (interrupts.allowed if learning is None else learning)():
                    learn(fit, error is not None)
            except ends as interruption:
                # The model is kept with its certificate, as if the loop had been interrupted.
                error, estimator.status_ = interruption, "interrupted"
                learn(fit, True)
        is_whole(estimator)
    progress.finish()
    if error is not None:
        raise error
    return fit
