"""Damaged files of every format are read, or refused by a ValueError that names the file."""

import bz2
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from multimargin import RankSVM, save_model
from multimargin.compare import read_results
from multimargin.compare.results import Result
from multimargin.datasets import load, load_arff, load_npz, load_svmlight, load_table
from multimargin.datasets.feature_columns import UndecidedColumns
from multimargin.model_files import load_model, read_info
from tests.support.files import signed
from tests.support.subsets import first_fast

X = np.array([[0.5, 0.0, 1.0], [0.0, -2.0, 0.0], [1.5, 0.0, 0.25], [0.0, 0.0, 3.0]])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 1]])
# What headers, numbers and names may be damaged to.
TOKENS = (
    *(b"{", b"'", b'"', b"\\", b"%", b",", b":", b"?", b"\n", b"\r", b"\t", b"\0", b"\xff", b" "),
    *(b"-1", b"1e999", b"nan", b"inf", b"4000000000", b"9" * 30, b"@data", b"@attribute", b"<"),
)


def _arff(folder: Path, rows: str = "1.5,x,0,1\n?,'y z',1,0\n0,w,1,?\n") -> Path:
    head = "@relation 'r: -C -2'\n@attribute a numeric\n@attribute 'b c' {x,'y z',w}\n"
    head += "@attribute p {0,1}\n@attribute q {0,1}\n@data\n"
    (folder / "a.arff").write_text(head + rows)
    return folder / "a.arff"


def _xml(folder: Path) -> Path:
    _arff(folder)
    (folder / "a.xml").write_text('<labels><label name="p"/><label name="q"></label></labels>')
    return folder / "a.xml"


def _npz(folder: Path) -> Path:
    np.savez(folder / "a.npz", X=X, Y=Y, train_idx=[0, 1], label_names=["p", "q"])
    return folder / "a.npz"


def _svmlight(folder: Path) -> Path:
    dump_svmlight_file(X, Y, str(folder / "a.svm"), multilabel=True)
    return folder / "a.svm"


def _table(folder: Path) -> Path:
    table = {"f": X[:, 0], "kind": ["a", "b", None, "a"], "text": "some text", "l0": Y[:, 0]}
    pd.DataFrame({**table, "l1": Y[:, 1]}).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


def _lines(folder: Path) -> Path:
    lines = [{"f": 0.5, "tags": ["a", "b"]}, {"f": 1, "tags": []}, {"f": None, "tags": ["b"]}]
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "a.jsonl"


def _xc(folder: Path) -> Path:
    (folder / "a.txt").write_text("3 4 2\n0,1 0:.5 3:2\n 1:1e-3\n1 2:4 3:1\n")
    return folder / "a.txt"


def _compressed(file: Path, open_file: Callable[..., Any], ending: str) -> Path:
    with open_file(file.with_name(file.name + ending), "wb") as stream:
        stream.write(file.read_bytes())
    return file.with_name(file.name + ending)


def _parquet(folder: Path) -> Path:
    pd.read_csv(_table(folder)).to_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def _results(folder: Path) -> Path:
    shape = {"n_train": 2, "n_test": 2, "n_features": 3, "n_labels": 2}
    names: dict[str, Any] = dict.fromkeys(("job", "data", "split", "method", "scaling"), "a")
    result = Result(**names, seed=0, shape=shape, fingerprint="f", label_names=["p", "q"],
                    estimator={"class": "A"}, one_class_labels=[], measures={"one_error": 0.5},
                    warnings=["é"])  # fmt: skip
    (folder / "a.jsonl").write_text(2 * result.to_line())
    return folder / "a.jsonl"


def _model(folder: Path) -> Path:
    save_model(RankSVM(kernel="linear", tol=0.1).fit(X, Y), folder / "a.model")
    return folder / "a.model"


def _use_model(file: Path) -> None:
    load_model(file).decision_function(X)
    repr(read_info(file))


def _use_forged_model(file: Path) -> None:
    with suppress(ValueError):
        file.write_bytes(signed(file.read_bytes()))
    model = load_model(file)
    repr(read_info(file))
    # What its writer made of the parameters may fail in any way that is an exception.
    with suppress(Exception):
        model.decision_function(X)


FORMATS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any]]] = {
    "arff": (_arff, load_arff),
    "arff-sparse": (lambda folder: _arff(folder, "{0 2,2 1}\n{1 w,3 1}\n"), load_arff),
    "xml": (_xml, lambda file: load_arff(file.with_name("a.arff"), file)),
    "npz": (_npz, load_npz),
    "svmlight": (_svmlight, load_svmlight),
    "csv": (_table, lambda file: load_table(file, labels="l*", text="text")),
    "parquet": (_parquet, lambda file: load_table(file, labels="l*", text="text")),
    "csv.gz": (
        lambda folder: _compressed(_table(folder), gzip.open, ".gz"),
        lambda file: load_table(file, labels="l*", text="text"),
    ),
    "svmlight.bz2": (lambda folder: _compressed(_svmlight(folder), bz2.open, ".bz2"), load),
    "json lines": (_lines, lambda file: load_table(file, tags_column="tags")),
    "extreme": (_xc, load),
    "results": (_results, lambda file: json.dumps([vars(row) for row in read_results(file)])),
    "model": (_model, _use_model),
    "model-forged": (_model, _use_forged_model),
}
PIECES = st.one_of(st.sampled_from(TOKENS), st.binary(max_size=4))
PLACES = st.tuples(st.integers(0, 2000), st.integers(0, 8), PIECES)


def damaged(content: bytes, place: int, removed: int, inserted: bytes) -> bytes:
    place %= max(len(content), 1)
    return content[:place] + inserted + content[place + removed :] or b"\0"


def damaged_inside(content: bytes, member: int, *damage: Any) -> bytes:
    """Damage one file of an archive, whose checksums would find all else first."""
    head = content[: content.index(b"PK\x03\x04")]
    with zipfile.ZipFile(io.BytesIO(content[len(head) :])) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(files)[member % len(files)]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for other, found in files.items():
            archive.writestr(other, damaged(found, *damage) if other == name else found)
    return head + stream.getvalue()


# A damaged model may warn of versions.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", first_fast([60, 150], 1))
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_refused(
    name: str, count: int, tmp_path: Path, one_gigabyte: None
) -> None:
    write, read = FORMATS[name]
    file = write(tmp_path)
    read(file)
    sound = file.read_bytes()

    @settings(max_examples=count, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(damage=PLACES, member=st.integers(0, 9))
    def check(damage: tuple[int, int, bytes], member: int) -> None:
        archive = b"PK\x03\x04" in sound and member < 7
        file.write_bytes(
            damaged_inside(sound, member, *damage) if archive else damaged(sound, *damage)
        )
        try:
            read(file)
        except ValueError as error:
            if type(error) not in (ValueError, UndecidedColumns) or str(file) not in str(error):
                raise AssertionError(f"{error!r} does not name the file") from error

    check()
