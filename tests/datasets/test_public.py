"""Data sets by name: the local folder, OpenML, and no network."""

import gzip
import json
import socket
from hashlib import md5
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import _openml
from sklearn.utils import Bunch

from multimargin.datasets import available, load, public
from multimargin.datasets.public import fetch


def bunch(**changes):
    """Stand in for emotions: 593 rows, 6 labels, as scikit-learn returns it."""
    random = np.random.default_rng(0)
    content = {
        "data": np.column_stack([random.normal(size=593), np.arange(593) % 3]),
        "target": np.where(np.arange(593 * 6).reshape(593, 6) % 2, "TRUE", "FALSE").astype(object),
        "feature_names": ["loudness", "genre"],
        "target_names": [f"mood {k}" for k in range(6)],
        "categories": {"genre": ["rock", "pop", "folk"]},
    }
    return Bunch(**{**content, **changes})


@pytest.fixture
def openml(monkeypatch):
    calls: list[dict[str, Any]] = []

    def fetch_openml(**arguments):
        calls.append(arguments)
        return bunch()

    monkeypatch.setattr(public, "fetch_openml", fetch_openml)
    return calls


def test_a_download_becomes_multilabel_data(openml):
    data = fetch("Emotions", data_home="here")
    assert (openml[0]["data_id"], openml[0]["data_home"]) == (40589, "here")
    assert data.name == "emotions"
    assert data.feature_names == ("loudness", "genre=rock", "genre=pop", "genre=folk")
    assert_array_equal(data.X[:4, 1:], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert data.label_names[0] == "mood 0"
    assert_array_equal(data.Y[:2], [[0, 1, 0, 1, 0, 1]] * 2)
    assert data.splits == {}
    assert load("emotions").n_labels == 6


def test_sparse_downloads_stay_sparse(monkeypatch):
    csr = sparse.csr_matrix(np.eye(593, 4))
    replaced = bunch(data=csr, feature_names=list("abcd"), categories={})
    monkeypatch.setattr(public, "fetch_openml", lambda **_: replaced)
    data = fetch("emotions")
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), np.eye(593, 4))


def test_something_else_at_that_number(monkeypatch):
    for target, message in (
        (np.full((593, 5), "TRUE"), r"of shape \(593, 5\); expected 593 rows and 6 lab"),
        (np.full((593, 6), "maybe"), "labels with the value 'maybe'"),
        (np.full(593, "TRUE"), r"of shape \(593,\); expected"),
    ):
        other = bunch(target=target)
        monkeypatch.setattr(public, "fetch_openml", lambda other=other, **_: other)
        with pytest.raises(ValueError, match=f"data set 40589 of OpenML.*{message}"):
            fetch("emotions")


def test_the_local_folder_goes_first(tmp_path, monkeypatch, openml):
    monkeypatch.setenv("MULTIMARGIN_DATA", str(tmp_path))
    for name in ("emotions", "my own"):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "x.npz", X=[[1.0]], Y=[[1]])
    assert fetch("emotions").n_samples == 1
    assert load("my own").name == "my own"
    assert not openml
    assert "my own" in available()


def test_a_name_does_not_leave_the_folder(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    np.savez(tmp_path / "x.npz", X=[[1.0]], Y=[[1]])
    monkeypatch.setenv("MULTIMARGIN_DATA", str(tmp_path / "inside"))
    for name in ("..", "../inside", "", "."):
        with pytest.raises(ValueError, match="there is no data set"):
            fetch(name)


def test_unknown_name_and_no_network(monkeypatch):
    with pytest.raises(ValueError, match=r"no data set or file 'yest' \(did you mean 'yeast'\?\)"):
        fetch("yest")

    def fail(**_):
        raise URLError("no route")

    monkeypatch.setattr(public, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"'yeast' is not in .*_DATA names \(None\)"):
        fetch("yeast")


@pytest.fixture
def closed_address(monkeypatch):
    """Where nobody listens; scikit-learn looks for OpenML there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    if hasattr(_openml, "_OPENML_PREFIX"):  # scikit-learn before 1.9
        monkeypatch.setattr(_openml, "_OPENML_PREFIX", f"{address}/")
    else:
        monkeypatch.setattr(_openml, "_DATA_INFO", f"{address}/api/v1/json/data/{{}}")
    return address


def test_a_refused_connection(tmp_path, monkeypatch, closed_address):
    monkeypatch.setattr(_openml, "time", SimpleNamespace(sleep=lambda seconds: None))
    # scikit-learn's warnings of its retries would be errors here.
    with pytest.raises(ConnectionError, match=r"from OpenML \(data set 40597\).*refused"):
        fetch("yeast", data_home=tmp_path)


def test_a_download_through_scikit_learn(tmp_path, closed_address):
    """Through scikit-learn itself, from files where its cache would be."""
    labels = [f"m{k}" for k in range(6)]
    declared = "".join(f"@attribute {label} {{FALSE,TRUE}}\n" for label in labels)
    rows = "0.5,TRUE,FALSE,FALSE,FALSE,FALSE,TRUE\n" * 593
    arff = f"@relation r\n@attribute loud numeric\n{declared}@data\n{rows}".encode()
    of_all = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
    kinds = [{"name": "loud", "data_type": "numeric", "is_target": "false"}]
    nominal = {"data_type": "nominal", "nominal_value": ["FALSE", "TRUE"], "is_target": "true"}
    kinds += [{"name": label, **nominal} for label in labels]
    features = [{**of_all, **kind, "index": str(k)} for k, kind in enumerate(kinds)]
    description = {"id": "40589", "name": "emotions", "version": "3", "format": "ARFF"}
    description |= {"file_id": "1", "status": "active", "description": "x"}
    description["url"] = f"{closed_address}/data/v1/download/1/emotions.arff"
    description["default_target_attribute"] = ",".join(labels)
    description["md5_checksum"] = md5(arff).hexdigest()
    quality = [{"name": "NumberOfInstances", "value": "593"}]
    contents = {
        "api/v1/json/data/40589": {"data_set_description": description},
        "api/v1/json/data/features/40589": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/40589": {"data_qualities": {"quality": quality}},
        # By the number of the file before scikit-learn 1.7 or so, then by its name.
        "data/v1/download/1": arff,
        "data/v1/download/1/emotions.arff": arff,
    }
    for place, content in contents.items():
        file = tmp_path / "openml" / "openml.org" / f"{place}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        file.write_bytes(gzip.compress(text))
    data = fetch("emotions", data_home=tmp_path)
    assert_array_equal(data.Y, [[1, 0, 0, 0, 0, 1]] * 593)
    assert_array_equal(data.X, [[0.5]] * 593)
