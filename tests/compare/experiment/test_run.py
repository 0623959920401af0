import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import ThreadingBackend
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from multimargin import RankSVM
from multimargin.compare import read_results, run_experiment
from multimargin.compare.experiment import parallel, progress
from multimargin.compare.measured import MEASURED
from multimargin.datasets import MultilabelData
from multimargin.measures import all_measures, auc_macro, auc_micro, ndcg_at_k, precision_at_k
from tests.support.subsets import first_fast

METHODS = ["rank-svm", "knn"]


class Failing(BaseEstimator):
    """Raises at fit as long as there is no file `cure`."""

    def __init__(self, cure: str = "") -> None:
        self.cure = cure

    def fit(self, X: Any, y: Any) -> Self:
        if not (self.cure and Path(self.cure).exists()):
            raise RuntimeError("no luck today")
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        return np.ones((len(X), self.n_labels_), dtype=int)


class Counting(BaseEstimator):
    """Adds a line to a file for every fit; interrupts itself on the one numbered `interrupt`."""

    def __init__(self, log: str, interrupt: int = -1) -> None:
        self.log = log
        self.interrupt = interrupt

    def fit(self, X: Any, y: Any) -> Self:
        with open(self.log, "a") as file:
            file.write("fit\n")
        if fits(self.log) == self.interrupt:
            raise KeyboardInterrupt
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        return np.ones((len(X), self.n_labels_), dtype=int)


class Warning_(Failing):
    """Warns twice of the same, at fit."""

    def fit(self, X: Any, y: Any) -> Self:
        for _ in range(2):
            warnings.warn("mind the gap", UserWarning, stacklevel=1)
        self.n_labels_ = y.shape[1]
        return self


def fits(log: str) -> int:
    return len(Path(log).read_text().splitlines()) if Path(log).exists() else 0


class TestResults:
    def test_order_is_data_then_split_then_method(self, make_data: Callable[..., Any]) -> None:
        two = [make_data("a"), make_data("b", seed=1)]
        results = run_experiment(two, METHODS, cv=3)
        found = [(r.data, r.split[5], r.method) for r in results]
        assert found == [(d, f, m) for d in "ab" for f in "123" for m in METHODS]

    def test_measures_are_those_of_the_model(self, data: MultilabelData) -> None:
        (result,) = run_experiment(data, {"mine": RankSVM(C=3.0)}, cv="official", scaling="none")
        X, X_test, Y, Y_test = data.train_test()
        model = RankSVM(C=3.0, random_state=0).fit(X, Y)
        scores = model.decision_function(X_test)
        expected = all_measures(Y_test, model.predict(X_test), scores)
        for function in (precision_at_k, ndcg_at_k, auc_macro, auc_micro):
            name = function.__name__.replace("_k", "_5")
            expected[name] = function(Y_test, scores)
        assert result.measures == pytest.approx(expected)
        assert result.environment["python"] == ".".join(map(str, sys.version_info[:3]))
        assert result.finished.endswith("+00:00")
        assert set(result.measures) | {"fit_seconds", "predict_seconds"} == set(MEASURED)
        assert result.certificate is not None
        assert result.certificate["status"] == "converged"
        assert result.certificate["gap"] == pytest.approx(model.dual_gap_)
        assert result.shape == {"n_train": 30, "n_test": 30, "n_features": 5, "n_labels": 4}
        assert result.fit_seconds is not None
        assert result.fit_seconds > 0

    def test_label_counts(self, data: MultilabelData) -> None:
        (result,) = run_experiment(data, {"mine": RankSVM()}, cv="official", scaling="none")
        X, X_test, Y, Y_test = data.train_test()
        model = RankSVM(random_state=0).fit(X, Y)
        predicted = model.predict(X_test)
        for label, (tn, fp, fn, tp) in enumerate(result.label_counts):
            true, found = Y_test[:, label].tolist(), predicted[:, label].tolist()
            pairs = Counter(zip(true, found, strict=True))
            assert (tn, fp, fn, tp) == (pairs[0, 0], pairs[0, 1], pairs[1, 0], pairs[1, 1])

    @pytest.mark.parametrize(
        ("estimator", "source"),
        [
            (RankSVM(), "decision_function"),
            (RandomForestClassifier(n_estimators=5), "predict_proba"),
            (KNeighborsClassifier(), "predict_proba"),
            (MultiOutputClassifier(DecisionTreeClassifier()), "predict_proba"),
            (Warning_(), "predict"),
        ],
    )
    def test_any_estimator_is_scored(
        self, data: MultilabelData, estimator: Any, source: str
    ) -> None:
        (result,) = run_experiment(data, {"mine": estimator}, cv="official")
        assert result.error is None
        assert result.scores == source

    def test_probability_of_a_label_that_the_training_rows_lack(self) -> None:
        X = np.arange(8.0)[:, np.newaxis]
        Y = np.column_stack([np.arange(8) % 2, np.arange(8) > 3, np.zeros(8), np.ones(8)])
        Y[7, 2:] = 1, 0
        splits = {"train": np.arange(6), "test": [6, 7]}
        data = MultilabelData(X=X, Y=Y, name="d", splits=splits)
        (result,) = run_experiment(data, {"knn": KNeighborsClassifier(1)}, cv="official")
        assert result.error is None
        assert result.one_class_labels == ["y2", "y3"]
        # The row with the label unseen in training: y2 has probability 0, y3 probability 1.
        assert result.measures["ranking_loss"] > 0

    def test_rows_without_anything_to_rank(self) -> None:
        data = MultilabelData(
            X=np.arange(6.0)[:, np.newaxis],
            Y=np.array([[0, 1], [1, 0], [0, 1], [1, 0], [1, 1], [0, 0]]),
            name="d",
            splits={"train": np.arange(4), "test": [4, 5]},
        )
        (result,) = run_experiment(data, ["dummy"], cv="official")
        assert "hamming_loss" in result.measures
        assert "ranking_loss" not in result.measures

    def test_seed_reaches_the_methods(self, data: MultilabelData) -> None:
        forest = {"forest": RandomForestClassifier(n_estimators=3)}
        (result,) = run_experiment(data, forest, cv="official", seed=7)
        assert result.estimator["parameters"]["random_state"] == 7
        assert forest["forest"].random_state is None
        (again,) = run_experiment(data, forest, cv="official", seed=7)
        assert again.measures == result.measures

    def test_warnings_are_noted_once(self, data: MultilabelData) -> None:
        (result,) = run_experiment(data, {"mine": Warning_()}, cv="official")
        assert result.warnings == ["UserWarning: mind the gap"]


class TestResuming:
    def test_nothing_is_run_twice(
        self, data: MultilabelData, results_file: Path, tmp_path: Path
    ) -> None:
        log = str(tmp_path / "log")
        methods = {"counting": Counting(log)}
        first = run_experiment(data, methods, cv=3, results_file=results_file)
        again = run_experiment(data, methods, cv=3, results_file=results_file)
        assert fits(log) == 3
        assert again == first == read_results(results_file)

    @pytest.mark.parametrize("change", ["data", "labels", "scaling", "seed", "cv", "parameter"])
    def test_whatever_decides_a_result_makes_a_new_job(
        self, make_data: Callable[..., Any], change: str, results_file: Path, tmp_path: Path
    ) -> None:
        log = str(tmp_path / "log")
        data, options, interrupt = make_data(), {"cv": 3, "scaling": "none", "seed": 0}, -1
        run_experiment(data, {"m": Counting(log)}, results_file=results_file, **options)
        if change == "data":
            data = make_data(seed=5)
        elif change == "labels":
            data = MultilabelData(X=data.X, Y=1 - data.Y, name=data.name)
        elif change == "parameter":
            interrupt = -2
        else:
            options[change] = {"scaling": "unit", "seed": 1, "cv": 4}[change]
        methods = {"m": Counting(log, interrupt)}
        run_experiment(data, methods, results_file=results_file, **options)
        assert fits(log) == 3 + options["cv"]

    def test_new_methods_and_data_join(
        self, make_data: Callable[..., Any], results_file: Path
    ) -> None:
        run_experiment(make_data("a"), ["knn"], cv=2, results_file=results_file)
        both = [make_data("a"), make_data("b", seed=1)]
        assert len(run_experiment(both, METHODS, cv=2, results_file=results_file)) == 8
        # Two were there already.
        assert results_file.read_text().count("\n") == 8

    def test_interrupt_leaves_a_file_to_go_on_from(
        self, data: MultilabelData, results_file: Path, tmp_path: Path
    ) -> None:
        log = str(tmp_path / "log")
        methods = {"m": Counting(log, interrupt=3)}
        with pytest.raises(KeyboardInterrupt):
            run_experiment(data, methods, cv=4, results_file=results_file)
        assert len(read_results(results_file)) == 2
        assert len(run_experiment(data, methods, cv=4, results_file=results_file)) == 4
        assert fits(log) == 5

    def test_unwritable_file_is_refused_before_any_fit(
        self, data: MultilabelData, tmp_path: Path
    ) -> None:
        log = str(tmp_path / "log")
        with pytest.raises(OSError, match=r"directory"):
            run_experiment(data, {"m": Counting(log)}, cv=2, results_file=tmp_path)
        assert fits(log) == 0


class TestFailures:
    def test_failure_is_recorded_and_not_fatal(
        self, data: MultilabelData, results_file: Path
    ) -> None:
        methods = {"bad": Failing(), "good": KNeighborsClassifier()}
        bad, good = run_experiment(data, methods, cv="official", results_file=results_file)
        assert bad.failed
        assert bad.error is not None
        assert bad.error["type"] == "RuntimeError"
        assert bad.error["message"] == "no luck today"
        assert "in fit" in bad.error["traceback"]
        assert bad.measures == {}
        assert not good.failed

    def test_failures_are_tried_again_only_when_asked(
        self, data: MultilabelData, results_file: Path, tmp_path: Path
    ) -> None:
        cure = tmp_path / "cure"
        methods = {"bad": Failing(str(cure))}
        options: dict[str, Any] = {"cv": "official", "results_file": results_file}
        assert run_experiment(data, methods, **options)[0].failed
        cure.touch()
        assert run_experiment(data, methods, **options)[0].failed
        assert not run_experiment(data, methods, retry_failed=True, **options)[0].failed
        assert not read_results(results_file)[0].failed

    def test_malformed_predictions_are_failures(self, data: MultilabelData) -> None:
        # A tree of one output per label gives lists; a regressor gives no labels.
        from sklearn.linear_model import LinearRegression

        (result,) = run_experiment(data, {"regression": LinearRegression()}, cv="official")
        assert result.failed


class TestBackends:
    def expected(self, data: MultilabelData) -> list[dict[str, float]]:
        return [result.measures for result in run_experiment(data, METHODS, cv=3)]

    @pytest.mark.parametrize("backend", first_fast(["threading", "loky", "multiprocessing"], 1))
    def test_results_do_not_depend_on_the_backend(
        self, data: MultilabelData, backend: str, results_file: Path
    ) -> None:
        with joblib.parallel_config(backend=backend):
            results = run_experiment(data, METHODS, cv=3, n_jobs=2, results_file=results_file)
        assert [result.measures for result in results] == self.expected(data)
        key = lambda result: result.job  # noqa: E731
        assert sorted(read_results(results_file), key=key) == sorted(results, key=key)


SCRIPT = """
import os, sys, time
import numpy as np
from sklearn.base import BaseEstimator
from multimargin.compare import run_experiment
from multimargin.datasets import MultilabelData

class Slow(BaseEstimator):
    def __init__(self, log, number):
        self.log = log
        self.number = number

    def fit(self, X, Y):
        log = self.log + os.environ["RUN"]
        with open(log, "a") as file:
            file.write(f"{self.number}, {X[0, 0]}\\n")
        # After some fits it waits to be killed, unless it may go on.
        while sum(1 for _ in open(log)) > 5 and not os.path.exists(self.log + ".go on"):
            time.sleep(0.01)
        return self

    def predict(self, X):
        return np.ones((len(X), 2), dtype=int)

if __name__ == "__main__":
    X = np.arange(12.0)[:, np.newaxis]
    Y = np.column_stack([np.arange(12) % 2, np.arange(12) % 3 == 0])
    data = MultilabelData(X=X, Y=Y, name="d")
    methods = {f"slow {number}": Slow(sys.argv[2], number) for number in range(6)}
    n_jobs = int(sys.argv[3])
    results = run_experiment(data, methods, cv=2, results_file=sys.argv[1], n_jobs=n_jobs)
    print(len(results))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_killed_and_started_again(
    n_jobs: int,
    results_file: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(SCRIPT)
    # Each run has a log of its own: orphans of the first one still write to theirs.
    monkeypatch.setenv("RUN", "1")
    command = [sys.executable, str(script), str(results_file), str(log), str(n_jobs)]
    # In a group of its own, with which its orphans are cleared away in the end.
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    request.addfinalizer(lambda: _kill_group(process.pid))
    deadline = time.monotonic() + 300
    while not results_file.exists() or results_file.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()

    kept = results_file.read_bytes()
    before = len(read_results(results_file))
    assert 3 <= before < 12
    log.with_suffix(".go on").touch()
    monkeypatch.setenv("RUN", "2")
    with results_file.open("ab") as file:  # A crash in the middle of a line.
        file.write(kept[: kept.index(b"\n") // 2])
    # What the orphans of the killed process still do is never written.
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "12\n"
    assert results_file.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    jobs = Counter(result.job for result in read_results(results_file))
    assert len(jobs) == 12
    assert results_file.read_bytes().count(b"\n") == 12
    # What was written is not done again, and nothing twice.
    assert (tmp_path / "log2").read_text().count("\n") == 12 - before


def _kill_group(group: int) -> None:
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
def test_processes_that_die_are_failures(results_file: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(CRASHING_SCRIPT)
    command = [sys.executable, str(script), str(results_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == f"{['TerminatedWorkerError', None] * 2}\n"
    assert len(read_results(results_file)) == 4


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
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
            ({"cv": 0}, ValueError, r"cv is 0; expected an integer of at least 2"),
            ({"scaling": "max"}, ValueError, r"scaling is 'max'; expected one of"),
            ({"seed": -1}, ValueError, r"seed is -1; expected an integer of at least 0"),
        ],
    )
    def test_malformed(
        self,
        data: MultilabelData,
        arguments: dict[str, Any],
        error: type[Exception],
        message: str,
    ) -> None:
        with pytest.raises(error, match=message):
            run_experiment(**{"data": data, "methods": METHODS, "cv": 2, **arguments})

    def test_malformed_data_sets(self, make_data: Callable[..., Any]) -> None:
        with pytest.raises(ValueError, match=r"data has two sets named 'small'"):
            run_experiment([make_data(), make_data(seed=1)], METHODS)
        with pytest.raises(ValueError, match=r"data\[0\] has no name"):
            run_experiment(make_data(name=""), METHODS)
        with pytest.raises(ValueError, match=r"data 'small' has one label"):
            run_experiment(make_data(q=1), METHODS)


def test_a_label_without_a_relevant_test_row(data: MultilabelData) -> None:
    # It has no curve, and no warning for it in each split.
    Y = data.Y.copy()
    Y[data.splits["test"], 0] = 0
    (result,) = run_experiment(replace(data, Y=Y), ["knn"], cv="official")
    assert 0.0 <= result.measures["auc_macro"] <= 1.0
    assert not any("AUC" in text or "curve" in text for text in result.warnings)


def test_jobs_after_a_death_run_one_at_a_time(
    data: MultilabelData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that die for real are in `test_processes_that_die_are_failures`; here none is."""
    pools: list[Any] = []

    class OnePlace:
        def __init__(self, max_workers: int) -> None:
            assert max_workers == 1
            pools.append(self)
            self.open = True

        def submit(self, function: Any, X: Any, Y: Any, job: Any) -> Future[Any]:
            assert self.open
            future: Future[Any] = Future()
            if job.blank.method == "bad":
                future.set_exception(TerminatedWorkerError("a worker\nwas killed"))
            else:
                future.set_result(function(X, Y, job))
            return future

        def shutdown(self, *, kill_workers: bool) -> None:
            assert kill_workers
            self.open = False

    def died(*_: object, **__: object) -> Any:
        raise TerminatedWorkerError

    monkeypatch.setattr(parallel, "_through_joblib", died)
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", OnePlace)
    methods = {"bad": Failing(), "good": KNeighborsClassifier()}
    bad, good = run_experiment(data, methods, cv="official")
    assert bad.error == {
        "type": "TerminatedWorkerError",
        "message": "a worker was killed",
        "traceback": "a worker was killed",
    }
    assert not good.failed
    # The one that died is replaced, and none is left behind.
    assert len(pools) == 2
    assert not any(pool.open for pool in pools)


def test_unknown_labels_in_all_rows_are_a_failure(data: MultilabelData) -> None:
    blank = data.Y.astype(float)
    blank[:30, 0] = np.nan
    unknown = replace(data, Y=blank)
    (result,) = run_experiment(unknown, ["knn"], cv="official")
    assert result.error is not None
    assert "y has an unknown label in each of the 30 training rows" in result.error["message"]


class Waiting(ThreadingBackend):
    """A backend of joblib that returns nothing before all is done."""

    supports_return_generator = False


def test_backends_that_return_all_at_once(data: MultilabelData) -> None:
    joblib.register_parallel_backend("waiting", Waiting)
    with joblib.parallel_config(backend="waiting", n_jobs=2):
        found = run_experiment(data, METHODS, cv=2)
    assert [r.measures for r in found] == [r.measures for r in run_experiment(data, METHODS, cv=2)]


def test_progress_is_a_line_now_and_then_and_each_failure(
    data: MultilabelData, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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
