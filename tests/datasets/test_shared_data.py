"""The official files, against the counts that their collection publishes."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import MultilabelData, load_arff
from tests.support.subsets import first_fast


def load_official(folder: Path, name: str) -> MultilabelData:
    train, test, xml = (
        folder / name / f"{name}{ending}" for ending in ("-train.arff", "-test.arff", ".xml")
    )
    for file in (train, test, xml):
        if not file.is_file():
            pytest.skip(f"no file {file}")
    return load_arff(train, xml, test=test)


# name, n train, n test, d, q, labels per row, pairs (train), rows without a label, sparse. One
# attribute of birds is nominal with twelve values, so that its 260 attributes give 271 features.
OFFICIAL = [
    ("emotions", 391, 202, 72, 6, 1.87, 2793, 0, False),
    ("yeast", 1500, 917, 103, 14, 4.24, 58248, 0, False),
    ("birds", 322, 323, 260 - 1 + 12, 19, 1.01, 5638, 294, False),
    ("enron", 1123, 579, 1001, 53, 3.38, 186018, 0, True),
    ("bibtex", 4880, 2515, 1836, 159, 2.40, 1806030, 0, True),
    ("delicious", 12920, 3185, 500, 983, 19.0, 236888754, 14, True),
]


@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "d", "q", "cardinality", "pairs", "label_less", "is_sparse"),
    first_fast(OFFICIAL, 4),
    ids=[row[0] for row in OFFICIAL],
)
def test_official_files(
    shared_data: Path,
    name: str,
    n_train: int,
    n_test: int,
    d: int,
    q: int,
    cardinality: float,
    pairs: int,
    label_less: int,
    is_sparse: bool,
) -> None:
    data = load_official(shared_data, name)
    assert data.name == name
    assert (len(data.splits["train"]), len(data.splits["test"])) == (n_train, n_test)
    assert (data.n_features, data.n_labels) == (d, q)
    assert sparse.issparse(data.X) is is_sparse
    n_relevant = data.Y.sum(axis=1, dtype=np.int64)
    # The published figures have two decimals, that of delicious one.
    assert abs(n_relevant.mean() - cardinality) < (0.05 if name == "delicious" else 0.005)
    n_relevant_train = n_relevant[data.splits["train"]]
    assert int((n_relevant_train * (q - n_relevant_train)).sum()) == pairs
    assert int((n_relevant == 0).sum()) == label_less


def test_birds_names_and_nominal_location(shared_data: Path) -> None:
    data = load_official(shared_data, "birds")
    assert "Swainson's Thrush" in data.label_names
    location = [i for i, n in enumerate(data.feature_names) if n.startswith("location=")]
    assert_array_equal(data.X[:, location].sum(axis=1), 1)


def test_enron_oddities(shared_data: Path) -> None:
    data = load_official(shared_data, "enron")
    assert int((np.diff(data.X.indptr) == 0).sum()) == 8
    assert int((data.split("train")[1].sum(axis=0) == 0).sum()) == 1
    assert_array_equal(data.X.data, 1)


@pytest.mark.slow
def test_delicious_stays_lean(shared_data: Path) -> None:
    folder = shared_data / "delicious"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    tracemalloc.start()
    try:
        load_arff(folder / "delicious-train.arff", folder / "delicious.xml")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 250e6
