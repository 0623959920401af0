from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import load_debian_tags
from tests.support.data import DATA as DATASETS

PACKAGES = DATASETS / "debian-tags/debian-tags.jsonl.gz"
DATA = load_debian_tags()


def test_shape_and_names():
    assert sparse.issparse(DATA.X)
    assert (DATA.X.shape, DATA.Y.shape) == ((2335, 2849), (2335, 84))
    for names, count in (
        (DATA.sample_names, 2335),
        (DATA.feature_names, 2849),
        (DATA.label_names, 84),
    ):
        assert len(set(names)) == count
    assert {"use::editing", "works-with::image", "interface::commandline"} <= set(DATA.label_names)
    assert not [tag for tag in DATA.label_names if tag.startswith("role::") or "TODO" in tag]


def test_the_splits_divide_the_rows_and_hold_every_tag():
    train, test = DATA.splits["train"], DATA.splits["test"]
    assert (train.size, test.size) == (1556, 779)
    assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(2335))
    assert all(DATA.Y[rows].any(axis=0).all() for rows in (train, test))


@pytest.mark.skipif(not PACKAGES.is_file(), reason="the list of packages is not here")
def test_the_script_builds_the_same_file(tmp_path, monkeypatch):
    script = run_path(str(Path(__file__).parents[2] / "tools" / "build_debian_tags.py"))
    built = tmp_path / "built.npz"
    monkeypatch.setattr("sys.argv", ["build", str(PACKAGES), "-o", str(built)])
    script["main"]()
    with np.load(built) as found, np.load(script["TARGET"]) as shipped:
        assert sorted(found) == sorted(shipped)
        for key in shipped:
            assert_array_equal(found[key], shipped[key])
