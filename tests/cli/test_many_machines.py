"""``fit --dask``: folders of parts, on processes of this machine or a running scheduler."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from multimargin.cli import many_machines
from multimargin.cli.many_machines import OVER_PARTS, with_address
from multimargin.datasets import MultilabelData, dump_svmlight
from multimargin.methods import make_method
from multimargin.model_files import load_model, read_info

pytest.importorskip("distributed")


@pytest.fixture
def parts(small: MultilabelData, tmp_path: Path) -> Path:
    """`small` in three parts."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(130), 3)):
        np.savez(folder / f"{k}.npz", X=small.X[rows], Y=small.Y[rows])
    return folder


@pytest.fixture
def tables(small: MultilabelData, tmp_path: Path) -> Path:
    """`small` in three tables, whose columns are in different orders."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = tmp_path / "tables"
    folder.mkdir()
    names = [*small.feature_names, *(f"tag:{k}" for k in range(small.n_labels))]
    frame = pd.DataFrame(np.hstack([small.X, small.Y]), columns=names)
    for k, rows in enumerate(np.array_split(np.arange(130), 3)):
        frame.iloc[rows][names[::-1] if k == 1 else names].to_parquet(folder / f"{k}.parquet")
    return folder


@pytest.fixture
def texts(small: MultilabelData, tmp_path: Path) -> Path:
    """`small` in svmlight files; labels are counted from 0."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(130), 3)):
        part = MultilabelData(X=sparse.csr_array(small.X[rows]), Y=small.Y[rows])
        dump_svmlight(part, folder / f"{k}.svm", labels_zero_based=True)
    return folder


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask.system.CPU_COUNT", 2)


def optimum(small: MultilabelData, method: str = "rank-lsvm") -> Any:
    return make_method(method, kernel="linear", C=0.1, tol=1e-6).fit(small.X, small.Y).objective_


@pytest.mark.slow
def test_processes_of_this_machine(
    command, tables: Path, small: MultilabelData, two_cores, tmp_path: Path
) -> None:
    file = tmp_path / "a.model"
    answer = command(
        "fit", "--dask", tables, "-m", "rank-lsvm", "--C", "0.1", "--labels", "tag:*", "--json",
        "-o", file,
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert found["parameters"]["kernel"] == "linear"
    assert (found["n_parts"], found["n_workers"], found["scale"]) == (3, 2, "none")
    assert (found["n_features"], found["n_labels"]) == (32, 7)
    assert found["certificate"]["status"] == "converged"
    assert found["certificate"]["objective"] == pytest.approx(optimum(small), rel=1.1e-3)
    info = read_info(file)
    assert info.label_names == tuple(f"tag:{k}" for k in range(7))
    # Part 1 has its columns in another order.
    predicted = command("predict", file, tables / "1.parquet", "--format", "labels")
    assert (predicted.code, predicted.err) == (0, "")
    written = np.loadtxt(predicted.out.splitlines()[1:], delimiter=",")[:, 1:]
    alone = make_method("rank-lsvm", kernel="linear", C=0.1).fit(small.X, small.Y)
    expected = alone.predict(small.X[np.array_split(np.arange(130), 3)[1]])
    assert np.mean(written != expected) < 0.02


def test_a_dask_option_without_an_address_is_this_machine() -> None:
    for arguments, expected in (
        ([], []),
        (["fit", "a/", "--dask"], ["fit", "a/", "--dask=local"]),
        (["fit", "--dask", "a/"], ["fit", "--dask=local", "a/"]),
        (["fit", "--dask", "--C", "2"], ["fit", "--dask=local", "--C", "2"]),
        (["fit", "--dask", "tcp://host:8786"], ["fit", "--dask", "tcp://host:8786"]),
        (["fit", "--dask", "host:8786", "a/"], ["fit", "--dask", "host:8786", "a/"]),
        (["fit", "--dask=host:8786", "a/"], ["fit", "--dask=host:8786", "a/"]),
    ):
        assert with_address(arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--kernel", "rbf"], 2, "--kernel is 'rbf'; expected linear with --dask"),
        (["-m", "mlrl"], 2, "--method is 'mlrl'; expected one of rank-svm, rank-svmz,"),
        (["--scale", "minmax"], 2, "--scale is 'minmax'; expected none with --dask"),
        (["--split", "train"], 2, "--split is 'train'; expected all with --dask"),
        (["--labels", "2"], 2, "--labels is given for parts that hold their labels"),
        (["--text", "a"], 2, "--text is given; expected no such option with --dask"),
        (["--n-labels", "7"], 2, "--n-features, --n-labels and --zero-based are for svmlight"),
        (["--n-labels", "0"], 2, "Invalid value for '--n-labels'"),
        (["--dask=no"], 2, "--dask is 'no'; expected no value, or a scheduler such as tcp:"),
        (["--solver", "dcd"], 1, "solver is 'dcd'; expected 'bcd'."),
        (["--C", "-1"], 1, "C is -1.0; expected a finite number above 0 "),
        (["-o", "no/where"], 1, "--output: there is no folder 'no'"),
    ],
)
def test_errors_come_before_any_worker(
    command, parts: Path, arguments: list[str], code: int, message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delattr("distributed.LocalCluster")
    answer = command("fit", parts, "--dask", *arguments, "--json")
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith(f"multimargin fit: {message}")
    assert answer.err.count("\n") == 1


def test_other_parts_say_what_they_need(command, tables: Path, texts: Path) -> None:
    for arguments, message in (
        ([tables], "--labels is not given; expected the label columns of the parquet files"),
        ([tables, "--labels", "x:*"], "--labels: there is no column 'x:*'"),
        ([texts, "--n-labels", "7"], "--n-features and --n-labels are not both given"),
        ([texts, "--n-features", "9", "--n-labels", "7", "--zero-based", "x"], "--zero-based is"),
        ([tables.parent], "has no file that ends in .npz"),
        ([tables / "0.parquet"], "there is no folder"),
    ):
        answer = command("fit", *arguments, "--dask")
        assert answer.code in (1, 2)
        assert message in answer.err
        assert answer.err.count("\n") == 1


def test_options_of_parts_need_dask(command, folder: Path) -> None:
    for option in ("--checkpoint", "--n-features", "--n-labels", "--zero-based"):
        answer = command("fit", folder, option, "1")
        assert answer.code == 2
        assert answer.err.startswith(f"multimargin fit: {option} is given without --dask")


def test_the_methods_are_those_of_the_library() -> None:
    from multimargin.dask.fitting import check_estimator
    from multimargin.methods import METHODS

    taken = []
    for name in METHODS:
        try:
            method = make_method(name)
            linear = {"kernel": "linear"} if "kernel" in method.get_params() else {}
            check_estimator(method.set_params(**linear))
        except (TypeError, ValueError):
            continue
        taken.append(name)
    assert sorted(taken) == sorted(OVER_PARTS)


def test_a_scheduler_that_is_not_there(
    command, parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_machines, "_SECONDS_TO_CONNECT", "1s")
    answer = command("fit", parts, "--dask", "tcp://127.0.0.1:1")
    assert answer.code == 1
    assert answer.err.startswith(
        "multimargin fit: --dask: there is no scheduler at tcp://127.0.0.1:1"
    )
    assert answer.err.count("\n") == 1


@pytest.mark.slow
def test_a_running_scheduler(
    command, texts: Path, parts: Path, small: MultilabelData, tmp_path: Path
) -> None:
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        fit = ["--dask", cluster.scheduler_address, "-m", "rank-lsvm", "--C"]
        counts = ["--n-features", "32", "--n-labels", "7", "--zero-based", "labels"]
        state = tmp_path / "state"
        found = [
            command("fit", texts, *fit, "0.1", *counts, "--json"),
            command("fit", parts, *fit, "0.1", "--checkpoint", state, "--json"),
        ]
        for answer in found:
            assert (answer.code, answer.err) == (0, "")
            objective = answer.json["certificate"]["objective"]
            assert objective == pytest.approx(optimum(small), rel=1.1e-3)
        assert (state / "problem.json").is_file()
        other = command("fit", parts, *fit, "1", "--checkpoint", state)
        assert (other.code, other.err.count("\n")) == (1, 1)
        assert "holds another problem" in other.err
        np.savez(parts / "3.npz", X=np.full((2, 32), np.nan), Y=small.Y[:2])
        damaged = command("fit", parts, *fit, "0.1")
        assert (damaged.code, damaged.out, damaged.err.count("\n")) == (1, "", 1)
        assert "NaN" in damaged.err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such signals")
def test_interrupted_from_the_keyboard(parts: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.model"
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "multimargin", "fit", parts, "--dask", "--C", "1000",
         "--tol", "1e-15", "--max-iter", "1000000", "--verbose", "1", "-o", file],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "epoch    3" in line:
            break
    # As a terminal does: to the command and to all workers.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "interrupted" in out
    assert err.splitlines()[-1] == "multimargin: interrupted"
    assert "Traceback" not in err
    assert load_model(file)[-1].status_ == "interrupted"


def test_a_scheduler_in_this_process(command, parts: Path, small: MultilabelData) -> None:
    import distributed

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        options = ["--dask", cluster.scheduler_address, "--C", "0.1"]
        fitted = command("fit", parts, *options, "-m", "rank-lsvm", "--json")
        selected = command("fit", parts, *options[:2], "-m", "llsf", "--json")
    for answer in (fitted, selected):
        assert (answer.code, answer.err) == (0, "")
        found = answer.json
        assert (found["n_rows"], found["n_parts"], found["n_workers"]) == (None, 3, 1)
        assert found["certificate"]["status"] == "converged"
    assert fitted.json["certificate"]["objective"] == pytest.approx(optimum(small), rel=1.1e-3)
    assert "kernel" not in selected.json["parameters"]


def test_names_of_numbered_parts() -> None:
    for zero_based, features, labels in (
        (None, ["1", "2", "3"], ["1", "2"]),
        ("labels", ["1", "2", "3"], ["0", "1"]),
        ("features", ["0", "1", "2"], ["1", "2"]),
        ("both", ["0", "1", "2"], ["0", "1"]),
    ):
        options = many_machines.PartOptions(n_features=3, n_labels=2, zero_based=zero_based)
        names, read = many_machines._numbers_of(options)
        assert ([*names[0]], [*names[1]]) == (features, labels)
        assert read["zero_based"] == (features[0] == "0")
        assert read["labels_zero_based"] == (labels[0] == "0")


def test_workers_that_see_another_folder(tables: Path) -> None:
    model = make_method("rank-lsvm", kernel="linear").fit(np.eye(3), np.eye(3, dtype=int))
    folder = many_machines.PartsFolder(
        str(tables), 3, SimpleNamespace(feature_names=("a", "b"), label_names=("x",)), None, None
    )
    with pytest.raises(RuntimeError, match=r"found 3 features and 3 labels in .*machine 2 and 1;"):
        folder.check_names(model)


def test_parts_of_several_kinds(command, parts: Path) -> None:
    (parts / "a.svm").write_text("1 1:1\n")
    answer = command("fit", parts, "--dask")
    assert (answer.code, answer.out) == (1, "")
    assert "has parts of several kinds (.npz, .svm), expected one" in answer.err


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such signals")
def test_what_starts_meanwhile_does_not_see_ctrl_c() -> None:
    def held_back() -> bool:
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert not held_back()
    with many_machines._interrupts_held_back():
        assert held_back()
    assert not held_back()
