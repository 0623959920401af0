"""Small data."""

import numpy as np
import pytest

from multimargin.datasets import MultilabelData


def _make_data(name="small", seed=0, n=60, q=4):
    """Labels that are noisy thresholds of single features; train and test halves."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    Y = (X[:, np.arange(q) % 5] + 0.3 * random.standard_normal((n, q)) > 0.2).astype(np.uint8)
    names = [f"label {index}" for index in range(q)]
    rows = np.arange(n)
    splits = {"train": rows[: n // 2], "test": rows[n // 2 :]}
    return MultilabelData(X=X, Y=Y, label_names=names, name=name, splits=splits)


@pytest.fixture(scope="session")
def make_data():
    return _make_data


@pytest.fixture
def data():
    return _make_data()


@pytest.fixture
def results_file(tmp_path):
    return tmp_path / "results.jsonl"
