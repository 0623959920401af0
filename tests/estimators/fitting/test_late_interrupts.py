"""Ctrl-C after the loop, at any line: the model and its certificate are kept."""

import signal
import sys
import threading
from contextlib import redirect_stdout
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from multimargin import LLSF, MLRL, SSMLRL, RankCVM, RankSVM
from multimargin.interrupts import Interrupts
from tests.support.ctrl_c import PressesCtrlC
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(3, 24, 4, 3, noise=0.5)
LOOPS = ("solve_pairwise", "solve_mlrl", "solve_label_features", "solve_simplex")

MODELS = [
    *(method() for method in PAIRWISE),
    RankSVM(kernel="linear", bias="penalized", threshold=0.0),
    RankCVM(solver="frank-wolfe", tol=0.1),
    MLRL(lam=0.05),
    SSMLRL(),
    LLSF(alpha=0.5),
]


class PressedAt:
    """Presses Ctrl-C at a line of this package, the `place`-th after the loop has returned."""

    def __init__(self, place: int | None) -> None:
        self.place, self.lines, self.ended = place, 0, False

    def __enter__(self) -> "PressedAt":
        sys.setprofile(self._profile)
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)
        sys.setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_return" and getattr(argument, "__name__", None) in LOOPS:
            self.ended = True

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        # How many lines of these are run depends on what else is in the context. Python looks for
        # signals after calls: not, as here, before the line that releases a lock.
        if "/multimargin/" not in file or file.endswith(("blas.py", "whole_process.py")):
            return None
        if event == "line" and self.ended:
            self.lines += 1
            if self.lines == self.place:
                signal.raise_signal(signal.SIGINT)
        return self._trace


def labels_for(model: Any) -> Any:
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return np.where(np.arange(24)[:, None] < 20, Y, -1) if isinstance(model, SSMLRL) else Y


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_line_after_the_loop_loses_the_model(model: Any) -> None:
    y = labels_for(model)
    whole = clone(model).fit(X, y)
    with PressedAt(None) as counted:
        clone(model).fit(X, y)
    assert counted.lines > 20
    places = np.unique(np.linspace(1, counted.lines, 40).astype(int))
    for place in [1, 2, 3, 4, 5, *places]:
        found = clone(model)
        try:
            with PressedAt(int(place)):
                found.fit(X, y)
        except KeyboardInterrupt:
            pass
        else:
            # The last lines are those of what called the fit.
            assert place > counted.lines - 5
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert found.dual_gap_ == whole.dual_gap_, place
        assert found.status_ in ("converged", "interrupted")
        assert found.predict(X).shape == Y.shape


@pytest.mark.parametrize("replaced", [False, True], ids=["python", "own-handler"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_press_is_lost_at_the_end_of_a_loop(model: Any, replaced: bool) -> None:
    # The epoch after which Ctrl-C is pressed may be the one that ends the loop anyhow.
    y = labels_for(model)
    model.set_params(verbose=1)
    with redirect_stdout(PressesCtrlC(0)) as counted:
        clone(model).fit(X, y)

    def raises(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if replaced:
        signal.signal(signal.SIGINT, raises)
    try:
        for line in {1, max(1, counted.lines - 1), counted.lines}:
            found = clone(model)
            with redirect_stdout(PressesCtrlC(line)), pytest.raises(KeyboardInterrupt):
                found.fit(X, y)
            assert found.status_ in ("interrupted", "converged")
            assert found.predict(X).shape == Y.shape
    finally:
        signal.signal(signal.SIGINT, before)


def test_only_a_loop_that_looks_for_signals_raises() -> None:
    interrupts = Interrupts()

    def loop() -> str:
        signal.raise_signal(signal.SIGINT)
        return "reached"

    def held_at_the_end() -> None:
        with interrupts.held():
            assert interrupts.reached_by(loop) == "reached"
            with pytest.raises(KeyboardInterrupt):
                interrupts.reached_by(loop)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        held_at_the_end()
    with interrupts.held(), interrupts.allowed(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_another_handler_or_thread_is_left_alone() -> None:
    def other(number: int, frame: FrameType | None) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGINT, other)
    try:
        with Interrupts().held():
            assert signal.getsignal(signal.SIGINT) is other
    finally:
        signal.signal(signal.SIGINT, before)
    threads = [threading.Thread(target=lambda: Interrupts().held().__enter__())]
    threads[0].start()
    threads[0].join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
