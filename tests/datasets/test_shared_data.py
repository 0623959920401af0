"""The official files, against the counts that their collection publishes."""

import tracemalloc
from collections import namedtuple

import numpy as np
import pytest
from scipy import sparse

from multimargin.datasets import load_arff
from tests.support.subsets import first_fast


def load_official(folder, name):
    train, test, xml = (
        folder / name / f"{name}{ending}" for ending in ("-train.arff", "-test.arff", ".xml")
    )
    for file in (train, test, xml):
        if not file.is_file():
            pytest.skip(f"no file {file}")
    return load_arff(train, xml, test=test)


Official = namedtuple("Official", "name n_train n_test d q cardinality pairs label_less is_sparse")
# Labels per row, label pairs of the training part, rows without a label. One attribute of birds is
# nominal with twelve values, so that its 260 attributes give 271 features.
OFFICIAL = [
    Official("emotions", 391, 202, 72, 6, 1.87, 2793, 0, False),
    Official("yeast", 1500, 917, 103, 14, 4.24, 58248, 0, False),
    Official("birds", 322, 323, 260 - 1 + 12, 19, 1.01, 5638, 294, False),
    Official("enron", 1123, 579, 1001, 53, 3.38, 186018, 0, True),
    Official("bibtex", 4880, 2515, 1836, 159, 2.40, 1806030, 0, True),
    Official("delicious", 12920, 3185, 500, 983, 19.0, 236888754, 14, True),
]


@pytest.mark.parametrize("of", first_fast(OFFICIAL, 4), ids=lambda of: of.name)
def test_official_files(shared_data, of):
    data = load_official(shared_data, of.name)
    assert data.name == of.name
    assert (len(data.splits["train"]), len(data.splits["test"])) == (of.n_train, of.n_test)
    assert (data.n_features, data.n_labels) == (of.d, of.q)
    assert sparse.issparse(data.X) is of.is_sparse
    n_relevant = data.Y.sum(axis=1, dtype=np.int64)
    # The published figures have two decimals, that of delicious one.
    assert abs(n_relevant.mean() - of.cardinality) < (0.05 if of.name == "delicious" else 0.005)
    n_relevant_train = n_relevant[data.splits["train"]]
    assert int((n_relevant_train * (of.q - n_relevant_train)).sum()) == of.pairs
    assert int((n_relevant == 0).sum()) == of.label_less


@pytest.mark.slow
def test_delicious_stays_lean(shared_data):
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
