import csv
import io
import json
from typing import NamedTuple

import numpy as np
import pytest

from multimargin.cli import progress
from multimargin.cli.run import run
from multimargin.datasets import MultilabelData, load_digit_attributes
from tests.support.files import write_arff


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output, which must be one JSON object and nothing else."""
        return json.loads(self.out)

    @property
    def rows(self):
        """Standard output as CSV, a mapping for each row."""
        return list(csv.DictReader(io.StringIO(self.out)))


@pytest.fixture
def command(capsys, monkeypatch):
    """Run a command in this process."""
    monkeypatch.setenv("COLUMNS", "100")
    # Lines of progress that only a slow machine prints.
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", np.inf)

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def small():
    """A part of the digits, with splits of 90 and 40 rows and a name that needs quotes."""
    data = load_digit_attributes()
    return MultilabelData(
        X=data.X[:130, 16:48],
        Y=data.Y[:130],
        feature_names=data.feature_names[16:48],
        label_names=[name.replace("even", "even, [odd]") for name in data.label_names],
        name="small",
        splits={"train": np.arange(90), "test": np.arange(90, 130)},
    )


@pytest.fixture(scope="session")
def folder(small, tmp_path_factory):
    """`small` in MULAN's layout."""
    path = tmp_path_factory.mktemp("data") / "small"
    path.mkdir()
    for part in ("train", "test"):
        write_arff(small, path / f"small-{part}.arff", split=part)
    return path


@pytest.fixture
def model(command, folder, tmp_path):
    """A model that was fitted to the training part of `small`."""
    file = tmp_path / "a.model"
    assert command("fit", folder, "-m", "mlodm", "--set", "C=2", "-o", file).code == 0
    return file
