"""The bar of a fit."""

import io
import pickle
import re

import pytest
from rich.console import Console
from sklearn.linear_model import LogisticRegression

from multimargin import RankSVM
from multimargin.cli.progress import Lines, closed_part, new_progress, shown_fit
from multimargin.datasets import load_digit_attributes


@pytest.mark.parametrize(
    ("gap", "tol", "part"),
    [
        (1.0, 1e-4, 0.0),
        (1e-1, 1e-4, 0.25),
        (1e-4, 1e-4, 1.0),
        (0.0, 1e-4, 1.0),
        (5.0, 1e-4, 0.0),
        (float("inf"), 1e-4, 0.0),
        (float("nan"), 1e-4, 0.0),
        (2.0, 1.0, 0.0),
        (0.5, 3.0, 1.0),
    ],
)
def test_closed_part(gap: float, tol: float, part: float) -> None:
    assert closed_part(gap, tol) == pytest.approx(part)


def test_each_epoch_is_shown_and_the_model_can_be_pickled() -> None:
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    X, _, Y, _ = load_digit_attributes().train_test()
    output = io.StringIO()
    model = RankSVM(random_state=0)
    console = Console(file=output, width=100, force_terminal=True)
    with new_progress(console, transient=True) as progress, shown_fit(progress, "fitting", model):
        model.fit(X[:100], Y[:100])
    assert re.search(r"epoch \d+, duality gap", output.getvalue())
    pickle.dumps(model)


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    output = io.StringIO()
    with (
        new_progress(Console(file=output), transient=True) as progress,
        shown_fit(progress, "fitting", LogisticRegression()),
    ):
        pass
    assert output.getvalue() == ""


def test_a_line_every_ten_seconds_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 4.0, 11.0, 12.0, 13.0, 25.0, 25.0])
    monkeypatch.setattr("multimargin.cli.progress.monotonic", lambda: next(clock))
    with new_progress(Console(file=io.StringIO()), transient=True) as progress:
        lines = Lines(progress, progress.add_task("fitting", note=""))
        for number in range(4):
            print(f"setting {number}", file=lines)
    assert capsys.readouterr().err == "setting 1\nsetting 3\n"
