"""Data sets by name: the local folder, OpenML, and no network."""

import gzip
import json
import socket
from hashlib import md5
from pathlib import Path
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


@pytest.fixture(autouse=True)
def no_local_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MULTIMARGIN_DATA", raising=False)


def bunch(**changes: Any) -> Bunch:
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
def openml(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def fetch_openml(**arguments: Any) -> Bunch:
        calls.append(arguments)
        return bunch()

    monkeypatch.setattr(public, "fetch_openml", fetch_openml)
    return calls


def test_a_download_becomes_multilabel_data(openml: list[dict[str, Any]]) -> None:
    data = fetch("Emotions", data_home="here")
    assert (openml[0]["data_id"], openml[0]["data_home"]) == (40589, "here")
    assert data.name == "emotions"
    assert data.feature_names == ("loudness", "genre=rock", "genre=pop", "genre=folk")
    assert_array_equal(data.X[:4, 1:], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert data.label_names[0] == "mood 0"
    assert_array_equal(data.Y[:2], [[0, 1, 0, 1, 0, 1]] * 2)
    assert data.splits == {}
    assert load("emotions").n_labels == 6


def test_sparse_downloads_stay_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    csr = sparse.csr_matrix(np.eye(593, 4))
    replaced = bunch(data=csr, feature_names=list("abcd"), categories={})
    monkeypatch.setattr(public, "fetch_openml", lambda **_: replaced)
    data = fetch("emotions")
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), np.eye(593, 4))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"target": np.full((593, 5), "TRUE")},
            r"of shape \(593, 5\), expected 593 rows and 6 lab",
        ),
        ({"target": np.full((593, 6), "maybe")}, "labels with the value 'maybe'"),
        ({"target": np.full(593, "TRUE")}, r"of shape \(593,\), expected"),
    ],
)
def test_something_else_at_that_number(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr(public, "fetch_openml", lambda **_: bunch(**changes))
    with pytest.raises(ValueError, match=f"data set 40589 of OpenML.*{message}"):
        fetch("emotions")


def test_the_local_folder_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, openml: list[dict[str, Any]]
) -> None:
    monkeypatch.setenv("MULTIMARGIN_DATA", str(tmp_path))
    for name in ("emotions", "my own"):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "x.npz", X=[[1.0]], Y=[[1]])
    assert fetch("emotions").n_samples == 1
    assert load("my own").name == "my own"
    assert not openml
    assert "my own" in available()


def test_a_name_does_not_leave_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    np.savez(tmp_path / "x.npz", X=[[1.0]], Y=[[1]])
    monkeypatch.setenv("MULTIMARGIN_DATA", str(tmp_path / "inside"))
    for name in ("..", "../inside", "", "."):
        with pytest.raises(ValueError, match="there is no data set"):
            fetch(name)


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"no data set or file 'yest' \(did you mean 'yeast'\?\)"):
        fetch("yest")


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> Bunch:
        raise URLError("no route")

    monkeypatch.setattr(public, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"'yeast' is not in .*_DATA names \(None\)"):
        fetch("yeast")


@pytest.fixture
def closed_address(monkeypatch: pytest.MonkeyPatch) -> str:
    """Where nobody listens; scikit-learn looks for OpenML there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    if hasattr(_openml, "_OPENML_PREFIX"):  # scikit-learn before 1.9
        monkeypatch.setattr(_openml, "_OPENML_PREFIX", f"{address}/")
    else:
        monkeypatch.setattr(_openml, "_DATA_INFO", f"{address}/api/v1/json/data/{{}}")
    return address


def test_a_refused_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed_address: str
) -> None:
    monkeypatch.setattr(_openml, "time", SimpleNamespace(sleep=lambda seconds: None))
    # scikit-learn's warnings of its retries would be errors here.
    with pytest.raises(ConnectionError, match=r"from OpenML \(data set 40597\).*refused"):
        fetch("yeast", data_home=tmp_path)


def test_a_download_through_scikit_learn(tmp_path: Path, closed_address: str) -> None:
    """Through scikit-learn itself, from files where its cache would be."""
    arff = b"".join(
        [
            b"@relation emotions\n@attribute loud numeric\n",
            *(b"@attribute m%d {FALSE,TRUE}\n" % k for k in range(6)),
            b"@data\n",
            b"0.5,TRUE,FALSE,FALSE,FALSE,FALSE,TRUE\n" * 593,
        ]
    )
    targets = ",".join(f"m{k}" for k in range(6))
    features = [{"name": "loud", "data_type": "numeric", "is_target": "false", "index": "0"}] + [
        {
            "name": f"m{k}",
            "data_type": "nominal",
            "nominal_value": ["FALSE", "TRUE"],
            "is_target": "true",
            "index": str(k + 1),
        }
        for k in range(6)
    ]
    for feature in features:
        feature |= {"is_ignore": "false", "is_row_identifier": "false"}
        feature["number_of_missing_values"] = "0"

    description = {
        "id": "40589",
        "name": "emotions",
        "version": "3",
        "format": "ARFF",
        "status": "active",
        "file_id": "1",
        "url": f"{closed_address}/data/v1/download/1/emotions.arff",
        "default_target_attribute": targets,
        "md5_checksum": md5(arff).hexdigest(),
        "description": "x",
    }
    answers = {
        "api/v1/json/data/40589": {"data_set_description": description},
        "api/v1/json/data/features/40589": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/40589": {
            "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "593"}]}
        },
    }
    root = tmp_path / "openml" / "openml.org"
    for place, answer in answers.items():
        file = root / f"{place}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(json.dumps(answer).encode()))
    # By the number of the file before scikit-learn 1.7 or so, then by its name.
    for place in ("1.gz", "1/emotions.arff.gz"):
        file = root / "data" / "v1" / "download" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(arff))
    data = fetch("emotions", data_home=tmp_path)
    assert_array_equal(data.Y, [[1, 0, 0, 0, 0, 1]] * 593)
    assert_array_equal(data.X, [[0.5]] * 593)
