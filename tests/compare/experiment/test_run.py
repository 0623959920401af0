import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import ThreadingBackend
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import multilabel_confusion_matrix
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from multimargin import CalibratedClassifier, RankSVM, methods
from multimargin.compare import read_results, run_experiment
from multimargin.compare.experiment import parallel, progress
from multimargin.compare.measured import MEASURED
from multimargin.datasets import MultilabelData
from multimargin.measures import (
    all_measures,
    auc_macro,
    auc_micro,
    macro_average_precision,
    micro_average_precision,
    ndcg_at_k,
    precision_at_k,
)
from multimargin.methods import make_method
from tests.support.cases import case
from tests.support.subsets import first_fast

METHODS = ["rank-svm", "knn"]


class Ones(BaseEstimator):
    """Predicts every label."""

    def fit(self, X, y):
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.ones((len(X), self.n_labels_), dtype=int)


class Failing(Ones):
    """Raises at fit as long as there is no file `cure`."""

    def __init__(self, cure=""):
        self.cure = cure

    def fit(self, X, y):
        if not (self.cure and Path(self.cure).exists()):
            raise RuntimeError("no luck today")
        return super().fit(X, y)


class Counting(Ones):
    """Adds a line to a file for every fit; interrupts itself on the one numbered `interrupt`."""

    def __init__(self, log, interrupt=-1):
        self.log = log
        self.interrupt = interrupt

    def fit(self, X, y):
        with open(self.log, "a") as file:
            file.write("fit\n")
        if fits(self.log) == self.interrupt:
            raise KeyboardInterrupt
        return super().fit(X, y)


class Warning_(Ones):
    """Warns twice of the same, at fit."""

    def fit(self, X, y):
        for _ in range(2):
            warnings.warn("mind the gap", UserWarning, stacklevel=1)
        return super().fit(X, y)


def fits(log):
    return len(Path(log).read_text().splitlines()) if Path(log).exists() else 0


def result_of(data, method, **options):
    """The result of one method on the official split."""
    (result,) = run_experiment(data, {"m": method}, cv="official", **options)
    return result


class TestResults:
    def test_order_is_data_then_split_then_method(self, make_data):
        two = [make_data("a"), make_data("b", seed=1)]
        results = run_experiment(two, METHODS, cv=3)
        found = [(r.data, r.split[5], r.method) for r in results]
        assert found == [(d, f, m) for d in "ab" for f in "123" for m in METHODS]

    def test_measures_are_those_of_the_model(self, data):
        result = result_of(data, RankSVM(C=3.0), scaling="none")
        X, X_test, Y, Y_test = data.train_test()
        model = RankSVM(C=3.0, random_state=0).fit(X, Y)
        predicted, scores = model.predict(X_test), model.decision_function(X_test)
        expected = all_measures(Y_test, predicted, scores)
        across_rows = (macro_average_precision, micro_average_precision)
        for function in (precision_at_k, ndcg_at_k, auc_macro, auc_micro, *across_rows):
            expected[function.__name__.replace("_k", "_5")] = function(Y_test, scores)
        assert result.measures == pytest.approx(expected)
        counts = multilabel_confusion_matrix(Y_test, predicted).reshape(4, 4)
        np.testing.assert_array_equal(result.label_counts, counts)
        assert result.environment["python"] == ".".join(map(str, sys.version_info[:3]))
        assert result.finished.endswith("+00:00")
        assert set(result.measures) | {"fit_seconds", "predict_seconds"} == set(MEASURED)
        assert result.certificate["status"] == "converged"
        assert result.certificate["gap"] == pytest.approx(model.dual_gap_)
        assert result.shape == {"n_train": 30, "n_test": 30, "n_features": 5, "n_labels": 4}
        assert result.fit_seconds > 0

    def test_any_estimator_is_scored(self, data):
        for estimator, source in (
            (RankSVM(), "decision_function"),
            (RandomForestClassifier(n_estimators=5), "predict_proba"),
            (MultiOutputClassifier(DecisionTreeClassifier()), "predict_proba"),
            (Warning_(), "predict"),
        ):
            result = result_of(data, estimator)
            assert (result.error, result.scores) == (None, source)
        # Of which warnings are noted once.
        assert result.warnings == ["UserWarning: mind the gap"]

    def test_labels_and_rows_that_say_nothing(self, data):
        X = np.arange(8.0)[:, np.newaxis]
        Y = np.column_stack([np.arange(8) % 2, np.arange(8) > 3, np.zeros(8), np.ones(8)])
        Y[7, 2:] = 1, 0
        splits = {"train": np.arange(6), "test": [6, 7]}
        result = result_of(MultilabelData(X, Y, name="d", splits=splits), KNeighborsClassifier(1))
        assert result.error is None
        assert result.one_class_labels == ["y2", "y3"]
        # The row with the label unseen in training: y2 has probability 0, y3 probability 1.
        assert result.measures["ranking_loss"] > 0
        # Test rows without anything to rank.
        Y = [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [1, 1], [0, 0]]
        found = result_of(MultilabelData(X, Y, name="d", splits=splits), make_method("dummy"))
        assert "hamming_loss" in found.measures
        assert "ranking_loss" not in found.measures
        # A label without a relevant test row has no curve, and no warning for it in each split.
        Y = data.Y.copy()
        Y[data.splits["test"], 0] = 0
        result = result_of(replace(data, Y=Y), KNeighborsClassifier())
        assert 0.0 <= result.measures["auc_macro"] <= 1.0
        assert not any("AUC" in text or "curve" in text for text in result.warnings)

    def test_seed_reaches_the_methods(self, data):
        forest = RandomForestClassifier(n_estimators=3)
        result = result_of(data, forest, seed=7)
        assert result.estimator["parameters"]["random_state"] == 7
        assert forest.random_state is None
        assert result_of(data, forest, seed=7).measures == result.measures


class TestResuming:
    def test_whatever_decides_a_result_makes_a_new_job(self, make_data, results_file, tmp_path):
        log, data = str(tmp_path / "log"), make_data()
        plain = {"data": data, "cv": 3, "scaling": "none", "seed": 0, "interrupt": -1}
        done = 0
        for change in (
            {},
            {"data": make_data(seed=5)},
            {"data": MultilabelData(X=data.X, Y=1 - data.Y, name=data.name)},
            {"scaling": "unit"},
            {"seed": 1},
            {"cv": 4},
            {"interrupt": -2},
        ):
            options = {**plain, **change}
            done += options["cv"]
            methods = {"m": Counting(log, options.pop("interrupt"))}
            run_experiment(methods=methods, results_file=results_file, **options)
            assert fits(log) == done, change

    def test_an_interrupted_run_goes_on_and_runs_nothing_twice(self, data, results_file, tmp_path):
        log = str(tmp_path / "log")
        methods = {"m": Counting(log, interrupt=3)}
        with pytest.raises(KeyboardInterrupt):
            run_experiment(data, methods, cv=4, results_file=results_file)
        assert len(read_results(results_file)) == 2
        whole, again = (
            run_experiment(data, methods, cv=4, results_file=results_file) for _ in range(2)
        )
        assert whole == again == read_results(results_file)
        assert (len(whole), fits(log)) == (4, 5)

    def test_unwritable_file_is_refused_before_any_fit(self, data, tmp_path):
        log = str(tmp_path / "log")
        with pytest.raises(OSError, match=r"directory"):
            run_experiment(data, {"m": Counting(log)}, cv=2, results_file=tmp_path)
        assert fits(log) == 0


class TestFailures:
    def test_failure_is_recorded_and_not_fatal(self, data, results_file):
        # A regressor gives no labels.
        methods = {"bad": Failing(), "good": KNeighborsClassifier(), "other": LinearRegression()}
        bad, good, other = run_experiment(data, methods, cv="official", results_file=results_file)
        assert bad.failed
        assert bad.error["type"] == "RuntimeError"
        assert bad.error["message"] == "no luck today"
        assert "in fit" in bad.error["traceback"]
        assert bad.measures == {}
        assert (good.failed, other.failed) == (False, True)

    def test_failures_are_tried_again_only_when_asked(self, data, results_file, tmp_path):
        cure = tmp_path / "cure"
        bad = Failing(str(cure))
        assert result_of(data, bad, results_file=results_file).failed
        cure.touch()
        assert result_of(data, bad, results_file=results_file).failed
        assert not result_of(data, bad, results_file=results_file, retry_failed=True).failed
        assert not read_results(results_file)[0].failed

    def test_unknown_labels_in_all_rows(self, data):
        blank = data.Y.astype(float)
        blank[:30, 0] = np.nan
        result = result_of(replace(data, Y=blank), KNeighborsClassifier())
        assert "y has an unknown label in each of the 30 training rows" in result.error["message"]


class Waiting(ThreadingBackend):
    """A backend of joblib that returns nothing before all is done."""

    supports_return_generator = False


joblib.register_parallel_backend("waiting", Waiting)


@pytest.mark.parametrize(
    "backend", first_fast(["threading", "waiting", "loky", "multiprocessing"], 2)
)
def test_results_do_not_depend_on_the_backend(data, backend, results_file):
    with joblib.parallel_config(backend=backend):
        results = run_experiment(data, METHODS, cv=3, n_jobs=2, results_file=results_file)
    expected = [result.measures for result in run_experiment(data, METHODS, cv=3)]
    assert [result.measures for result in results] == expected
    assert {result.job: result for result in read_results(results_file)} == {
        result.job: result for result in results
    }


SCRIPT = """
import sys, time
from sklearn.dummy import DummyClassifier
from multimargin.compare import run_experiment
from multimargin.datasets import load_digit_attributes

class Slow(DummyClassifier):
    def fit(self, X, y):
        time.sleep(0.2)
        return super().fit(X, y)

if __name__ == "__main__":
    options = {"results_file": sys.argv[1], "n_jobs": int(sys.argv[2])}
    print(len(run_experiment(load_digit_attributes(), {"slow": Slow()}, cv=12, **options)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_killed_and_started_again(n_jobs, results_file, tmp_path, request):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(results_file), str(n_jobs)]
    # In a group of its own, with which its orphans are cleared away in the end.
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    request.addfinalizer(lambda: _kill_group(process.pid))
    while not results_file.exists() or results_file.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    kept = results_file.read_bytes()
    assert kept.count(b"\n") < 12
    # Its orphans neither write any more nor keep the file to themselves.
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "12\n"
    found = results_file.read_bytes()
    assert found.startswith(kept[: kept.rfind(b"\n") + 1])
    assert len({result.job for result in read_results(results_file)}) == found.count(b"\n") == 12


def _kill_group(group):
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


CRASHING_SCRIPT = """
import os, sys
import numpy as np
from sklearn.base import BaseEstimator
from multimargin.methods import make_method
from multimargin.compare import run_experiment
from multimargin.datasets import load_digit_attributes

class Crashing(BaseEstimator):
    def fit(self, X, Y):
        os._exit(3)

if __name__ == "__main__":
    methods = {"crashing": Crashing(), "dummy": make_method("dummy")}
    data = load_digit_attributes()
    results = run_experiment(data, methods, cv=2, n_jobs=2, results_file=sys.argv[1])
    print([result.error and result.error["type"] for result in results])
"""


@pytest.mark.slow
def test_processes_that_die_are_failures(results_file, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(CRASHING_SCRIPT)
    command = [sys.executable, str(script), str(results_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == f"{['TerminatedWorkerError', None] * 2}\n"
    assert len(read_results(results_file)) == 4


def test_malformed_arguments(data, make_data):
    for arguments, error, message in (
        ({"methods": ["rank-svn"]}, ValueError, r"'rank-svn' \(did you mean 'rank-svm'"),
        ({"methods": []}, ValueError, r"methods is empty"),
        ({"methods": "knn"}, TypeError, r"methods is the text 'knn'; expected a list"),
        ({"methods": ["knn", "knn"]}, ValueError, r"methods has 'knn' twice"),
        ({"methods": {"a": RankSVM}}, TypeError, r"methods\['a'\] is .*expected an unfitted"),
        ({"methods": {"a": "knn"}}, TypeError, r"methods\['a'\] is 'knn'"),
        ({"methods": [RankSVM()]}, TypeError, r"holds a RankSVM; expected names, or a map"),
        ({"methods": {"": RankSVM()}}, TypeError, r"has the name ''"),
        ({"data": []}, ValueError, r"data is empty"),
        ({"data": [np.eye(3)]}, TypeError, r"data\[0\] is a ndarray; expected MultilabelData"),
        ({"data": [data, make_data(seed=1)]}, ValueError, r"data has two sets named 'small'"),
        ({"data": make_data(name="")}, ValueError, r"data\[0\] has no name"),
        ({"data": make_data(q=1)}, ValueError, r"data 'small' has one label"),
        ({"cv": 0}, ValueError, r"cv is 0; expected an integer of at least 2"),
        ({"scaling": "max"}, ValueError, r"scaling is 'max'; expected one of"),
        ({"seed": -1}, ValueError, r"seed is -1; expected an integer of at least 0"),
        (
            {"seed": 2**32},
            ValueError,
            r"seed is 4294967296; expected an integer of at most 4294967295",
        ),
    ):
        with case(arguments), pytest.raises(error, match=message):
            run_experiment(**{"data": data, "methods": METHODS, "cv": 2, **arguments})


def test_jobs_after_a_death_run_one_at_a_time(data, monkeypatch):
    """Processes that die for real are in `test_processes_that_die_are_failures`; here none is."""
    pools = []

    class OnePlace:
        def __init__(self, max_workers):
            assert max_workers == 1
            pools.append(self)
            self.open = True

        def submit(self, function, X, Y, job):
            assert self.open
            future = Future()
            if job.blank.method == "bad":
                future.set_exception(TerminatedWorkerError("a worker\nwas killed"))
            else:
                future.set_result(function(X, Y, job))
            return future

        def shutdown(self, *, kill_workers):
            assert kill_workers
            self.open = False

    monkeypatch.setattr(parallel, "_through_joblib", Mock(side_effect=TerminatedWorkerError))
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", OnePlace)
    methods = {"bad": Failing(), "good": KNeighborsClassifier()}
    bad, good = run_experiment(data, methods, cv="official")
    said = dict.fromkeys(("message", "traceback"), "a worker was killed")
    assert bad.error == {"type": "TerminatedWorkerError", **said}
    assert not good.failed
    # The one that died is replaced, and none is left behind.
    assert len(pools) == 2
    assert not any(pool.open for pool in pools)


def test_progress_is_a_line_now_and_then_and_each_failure(data, capsys, monkeypatch):
    clock = iter([0.0, 4.0, 6.0, 6.0, 7.0, 8.0, 9.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    methods = {"a": KNeighborsClassifier(), "[bold]bad[/]": Failing(), "b": KNeighborsClassifier()}
    run_experiment(data, methods, cv=2, progress=True)
    failed = "failed: small, fold {} of 2, seed 0, [bold]bad[/]: RuntimeError: no luck today"
    assert capsys.readouterr().err.splitlines() == [
        failed.format(1),
        "3 of 6 results, the last is small, fold 1 of 2, seed 0, b",
        failed.format(2),
    ]
    run_experiment(data, methods, cv=2)
    assert capsys.readouterr().err == ""


def test_unknown_labels_are_given_to_all_that_are_inside(make_data):
    data = make_data(n=40)
    Y = data.Y.astype(float)
    Y[data.splits["train"][::4], 0] = np.nan
    ranker = RankSVM(kernel="linear", random_state=0)
    stacks = {
        "pipeline": CalibratedClassifier(make_pipeline(StandardScaler(), ranker)),
        "list": CalibratedClassifier([ranker, RankSVM(random_state=0)]),
        "pairs": CalibratedClassifier([("a", ranker), ("b", RankSVM(random_state=0))]),
    }
    for result in run_experiment(replace(data, Y=Y), stacks, cv="official"):
        assert (result.error, result.warnings) == (None, [])


@pytest.mark.parametrize("name", methods.METHODS)
def test_methods_that_take_unknown_labels_are_given_them(name, make_data):
    """Every method is fitted to all rows, or it refuses NaN and is told to leave rows out."""
    data = make_data(n=40)
    Y = data.Y.astype(float)
    Y[data.splits["train"][::4], 0] = np.nan
    options = {"stack": None, "Cs": [1.0], "cv": 2} if name == "label-ranker" else {}
    method = make_method(name, **options)
    (result,) = run_experiment(replace(data, Y=Y), {name: method}, cv="official")
    assert result.error is None
    left_out = any("rows: the others have unknown labels" in text for text in result.warnings)
    X, y = data.X[data.splits["train"]], Y[data.splits["train"]]
    refused = ""
    try:
        make_method(name, **options).fit(X, y)
    except ValueError as error:
        refused = str(error)
    assert left_out == ("NaN" in refused)
    assert left_out or not refused
