"""What belongs to the whole process is afterwards as it was, though threads were at work."""

import gc
import locale
import re
import signal
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController, threadpool_info

import multimargin
from multimargin import (
    LLSF,
    MLRL,
    CalibratedClassifier,
    LabelRankerCV,
    RankLSVM,
    RankSVM,
    ThresholdedClassifier,
    explain,
    predict_names,
)
from multimargin.blas import one_blas_thread
from multimargin.notices import filters_put_back, silenced, warn
from multimargin.tuning import LazySearchCV
from tests.support.problems import noisy_linear_problem

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = noisy_linear_problem(0, 90, 5, 4, cut=0.3)
UNKNOWN = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, np.nan, Y)
inner = RankLSVM(kernel="linear", random_state=0)
RANKER = LabelRankerCV([1.0, 10.0], gamma="scale", cv=2, n_jobs=3, random_state=0)
RANKER.set_params(loss="squared_hinge", class_weight=None, top_k=None)

CALLS = {
    "label ranker": lambda: RANKER.fit(X, Y).predict_proba(X),
    "unknown labels": lambda: RANKER.fit(X, UNKNOWN).predict(X),
    "calibrated": lambda: CalibratedClassifier(inner, n_jobs=3).fit(X, Y).predict_proba(X),
    "thresholded": lambda: ThresholdedClassifier(inner, n_jobs=3).fit(X, UNKNOWN).predict(X),
    "search": lambda: LazySearchCV(inner, {"C": [1.0, 2.0]}, n_jobs=3).fit(X, Y),
    "rbf": lambda: RankSVM(n_jobs=2, random_state=0).fit(X, Y).predict(X),
    "relationships": lambda: MLRL(n_jobs=2).fit(X, Y).predict(X),
    "features of labels": lambda: LLSF(n_jobs=2).fit(X, Y).predict(X),
    "reasons": lambda: explain(inner.fit(X, Y), X[:2]),
    "names": lambda: predict_names(inner, X[:2]),
}


def threads_of_blas():
    return {
        one["filepath"]: one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }


def state():
    return list(warnings.filters), threads_of_blas(), locale.setlocale(locale.LC_ALL)


@pytest.mark.parametrize("name", CALLS)
def test_filters_threads_and_locale(name):
    with ThreadpoolController().limit(limits=2, user_api="blas"), parallel_config("threading"):
        before = state()
        for _ in range(2):
            CALLS[name]()
            assert state() == before


def test_calls_from_several_threads():
    """The user's own threads, each with a call of its own."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = state()
        for _ in range(2):
            threads = [threading.Thread(target=CALLS[name]) for name in ("label ranker", "rbf")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert state() == before


def test_fits_that_do_not_converge_say_so_after_threads():
    RANKER.fit(X, Y)
    with pytest.warns(ConvergenceWarning):
        RankSVM(max_iter=1, tol=1e-12, random_state=0).fit(X, Y)


def test_the_last_thread_lifts_the_limit():
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            leave.wait()

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = threads_of_blas()
        thread = threading.Thread(target=stay)
        with one_blas_thread():
            thread.start()
            inside.wait()
        assert set(threads_of_blas().values()) == {1}
        leave.set()
        thread.join()
        assert threads_of_blas() == before


def test_the_last_thread_puts_the_filters_back():
    before, inside, leave = list(warnings.filters), threading.Event(), threading.Event()

    def stay():
        with filters_put_back():
            warnings.simplefilter("ignore", FutureWarning)
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    with filters_put_back():
        thread.start()
        inside.wait()
    # To be put back while the other thread is at work would be a race.
    assert list(warnings.filters) != before
    leave.set()
    thread.join()
    assert list(warnings.filters) == before


# Where the filters of the process may be changed, and why.
CHANGING_FILTERS = {
    "notices.py": "puts back what threads of scikit-learn leave",
    "cli/run.py": "the command has the process to itself",
    "compare/experiment/evaluate.py": "in the main thread alone",
    "reference/interior_point.py": "CVXPY warns of what its status says, too",
    "workers.py": "in the main thread of another process alone",
}


def test_warnings_are_not_silenced_for_other_threads():
    package = Path(multimargin.__file__).parent
    changing = re.compile(r"warnings\.(?:catch_warnings|filters\b|showwarning)")
    found = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if changing.search(file.read_text(encoding="utf-8"))
    }
    assert found == {*CHANGING_FILTERS}


def test_what_is_silenced_is_so_in_its_thread_alone():
    heard = []

    def speak():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn("said")
        heard.append(len(caught))

    with silenced(UserWarning):
        thread = threading.Thread(target=speak)
        thread.start()
        thread.join()
        speak()
        with silenced(DeprecationWarning):
            speak()
    speak()
    assert heard == [1, 0, 0, 1]


def test_threads_that_enter_and_leave_at_once():
    def enter_and_leave():
        for _ in range(20):
            with one_blas_thread():
                pass

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadpoolController().limit(limits=2, user_api="blas"):
            before = threads_of_blas()
            for _ in range(50):
                threads = [threading.Thread(target=enter_and_leave) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert threads_of_blas() == before
    finally:
        sys.setswitchinterval(interval)


def test_an_interrupt_after_any_call_does_not_leave_the_limit():
    """Python looks for signals as a function begins, and after each call of one written in C."""
    places, at = [0], [0]

    def profile(frame, event, argument):
        file = frame.f_code.co_filename
        if file.endswith(("multimargin/blas.py", "multimargin/whole_process.py")) and event in (
            "call",
            "c_return",
        ):
            places[0] += 1
            if places[0] == at[0]:
                signal.raise_signal(signal.SIGINT)

    def enter_and_leave():
        sys.setprofile(profile)
        try:
            with one_blas_thread():
                pass
        finally:
            sys.setprofile(None)

    # What was there before is not looked through for each place.
    gc.freeze()
    try:
        with ThreadpoolController().limit(limits=2, user_api="blas"):
            before = threads_of_blas()
            # The first time, libraries are looked for.
            enter_and_leave()
            places[0] = 0
            enter_and_leave()
            assert places[0] > 5
            for place in range(1, places[0] + 1):
                places[0], at[0] = 0, place
                with pytest.raises(KeyboardInterrupt):
                    enter_and_leave()
                gc.collect()
                with one_blas_thread():
                    assert set(threads_of_blas().values()) == {1}
                assert threads_of_blas() == before, place
    finally:
        gc.unfreeze()
