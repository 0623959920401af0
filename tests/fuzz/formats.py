"""Every format that the package reads: sound files of it, and what reads them."""

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import entry_points
import numpy as np
import pandas
import skops.io  # noqa: F401, for the children
from damage import damaged
from scipy import sparse

from multimargin.compare.results import Result
from multimargin.compare.results_file import read_results
from multimargin.dask.checkpoints import RowsFile
from multimargin.datasets import (
    MultilabelData,
    describe,
    load_arff,
    load_arff_features,
    load_npz,
    load_svmlight,
    load_table,
)
from multimargin.methods import METHODS
from multimargin.model_files import ModelInfo, load_model, read_info, save_model
from multimargin.scaling import with_scaler

_N, _D, _Q = 12, 5, 4


@dataclass(frozen=True)
class Format:
    """The end of file names, contents of sound files, what reads and uses one, what damages it."""

    suffix: str
    originals: tuple[bytes, ...]
    read: Callable[[Path], Any]
    damage: Callable[[bytes, bytes, np.random.Generator], bytes] = damaged


def _features_and_labels() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((_N, _D)) * (rng.random((_N, _D)) < 0.5), 3)
    return X, (rng.random((_N, _Q)) < 0.4).astype(int)


X, Y = _features_and_labels()


def _use(data: MultilabelData) -> None:
    repr(data)
    describe(data)
    list(data.label_names)
    data.feature_names[-1].encode()
    "".join(data.label_names).encode()


def _arff(*, in_sparse_format: bool, meka: bool) -> bytes:
    relation = f"'tiny: -C {_Q}'" if meka else "tiny"
    features = ["f0 numeric", "'f 1' real", "f2 {a,b,'c d'}", '"f\\"3" integer', "f4 {0,1}"]
    labels = [f"label{i} {{0,1}}" for i in range(_Q)]
    attributes = labels + features if meka else features + labels
    rows = []
    for values, relevant in zip(X, Y, strict=True):
        cells = [f"{values[0]:g}", f"{values[1]:g}", "'c d'" if values[2] else "a"]
        cells += [f"{values[3]:g}", str(int(values[4] > 0))]
        ones = [str(one) for one in relevant]
        cells = ones + cells if meka else cells + ones
        if in_sparse_format:
            kept = [f"{i} {cell}" for i, cell in enumerate(cells) if cell not in ("0", "a")]
            rows.append("{" + ",".join(kept) + "}")
        else:
            rows.append(",".join(cells))
    head = [f"@relation {relation}", "% a comment", *(f"@attribute {a}" for a in attributes)]
    return "\n".join([*head, "@data", *rows, ""]).encode()


def _xml() -> bytes:
    labels = "".join(f'<label name="label{i}"></label>\n' for i in range(_Q))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<labels xmlns="http://mulan.sourceforge.net/labels">\n{labels}</labels>\n'
    ).encode()


def _npz(*, compressed: bool, in_sparse_format: bool) -> bytes:
    stream = io.BytesIO()
    arrays: dict[str, Any] = {
        "Y": Y.astype(np.uint8),
        "train_idx": np.arange(8),
        "feature_names": np.array([f"f{i}" for i in range(_D)]),
        "label_names": np.array([f"l{i}" for i in range(_Q)]),
    }
    if in_sparse_format:
        matrix = sparse.csr_array(X)
        arrays |= {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
    else:
        arrays["X"] = X
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def _damaged_npz(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Damage an archive, or what is in it: its checksums would find all the rest first."""
    if rng.random() < 0.3:
        return damaged(content, other, rng)
    arrays, others = _members(content), _members(other)
    chosen = str(rng.choice(sorted(arrays)))
    arrays[chosen] = damaged(arrays[chosen], others.get(chosen, arrays[chosen]), rng)
    stream = io.BytesIO()
    kind = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, array in arrays.items():
            archive.writestr(name, array)
    return stream.getvalue()


def _models() -> tuple[bytes, ...]:
    """A small model of every method, and some with other thresholds, scalings and storage."""
    fitted = [(method.make(), "minmax", False) for method in METHODS.values()]
    fitted += [(METHODS[name].make(), "unit", True) for name in ("rank-svm", "mlodm", "llsf")]
    for threshold in ("features", "labels", "count", 0.5):
        linear = METHODS["rank-svm"].make(kernel="linear", threshold=threshold)
        fitted.append((linear, "standard", False))
    random = np.random.default_rng(0)
    X = random.random((24, 4)).round(3)
    scores = X @ random.standard_normal((4, 3))
    Y = (scores > np.median(scores, axis=0)).astype(int)
    contents = []
    with tempfile.TemporaryDirectory() as folder:
        for estimator, scaling, in_sparse_format in fitted:
            rows = sparse.csr_array(X) if in_sparse_format else X
            model = with_scaler(estimator, scaling, sparse=in_sparse_format).fit(rows, Y)
            names = [tuple(f"{kind}{k}" for k in range(n)) for kind, n in (("y", 3), ("x", 4))]
            info = ModelInfo("a", *names, sparse=in_sparse_format, data_name="d", split="train")
            save_model(model, Path(folder) / "model", info=info)
            contents.append((Path(folder) / "model").read_bytes())
    return tuple(contents)


def _damaged_model(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Damage the two lines at the head, or the archive behind them."""
    if rng.random() < 0.2:
        return damaged(content, other, rng)
    title, header, archive = content.split(b"\n", 2)
    if rng.random() < 0.3:
        return b"\n".join([title, damaged(header, other.split(b"\n", 2)[1], rng), archive])
    return b"\n".join([title, header, _damaged_npz(archive, other.split(b"\n", 2)[2], rng)])


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _svmlight() -> bytes:
    lines = []
    for values, relevant in zip(X, Y, strict=True):
        labels = ",".join(str(label + 1) for label in np.flatnonzero(relevant))
        cells = " ".join(f"{i + 1}:{value:g}" for i, value in enumerate(values) if value)
        lines.append(f"{labels} {cells} # {len(lines)}")
    return ("\n".join(lines) + "\n").encode()


def _table(separator: str) -> bytes:
    """Return numbers, a nominal column, texts, tags, and labels of 0 and 1, with empty cells."""
    names = ["id", "f0", "f 1", "kind", "text", "tags", *(f"l{i}" for i in range(_Q))]
    lines = [separator.join(names)]
    for values, relevant in zip(X, Y, strict=True):
        tags = "|".join(f"t{i}" for i in np.flatnonzero(relevant))
        cells = [f"r{len(lines)}", f"{values[0]:g}", f"{values[1]:g}" if values[1] else ""]
        cells += ["c d" if values[2] else "a", f'"a text{separator} quoted"', tags]
        lines.append(separator.join([*cells, *map(str, relevant)]))
    return "\n".join([*lines, ""]).encode()


def _parquet() -> bytes:
    stream = io.BytesIO()
    pandas.read_csv(io.BytesIO(_table(","))).to_parquet(stream)
    return stream.getvalue()


def _read_table(file: Path) -> None:
    columns = {"drop": "id,tags", "text": "text"}
    _use(load_table(file, labels="l*", **columns))


def _read_tags(file: Path) -> None:
    _use(load_table(file, tags_column="tags", separator="|", drop="id,l*"))


def _results() -> bytes:
    row = {
        "job": "0",
        "data": "tiny",
        "split": "fold 1",
        "method": "RankSVM",
        "scaling": "none",
        "seed": 0,
        "shape": {"n_train": 8, "n_test": 4, "n_features": _D, "n_labels": _Q},
        "fingerprint": "f",
        "label_names": [f"l{i}" for i in range(_Q)],
        "estimator": {"class": "RankSVM", "parameters": {"C": 1.0}},
        "measures": {"ranking_loss": 0.25, "one_error": 0.5},
        "label_counts": [[1, 1, 1, 1]] * _Q,
        "scores": "decision_function",
        "fit_seconds": 0.5,
        "predict_seconds": None,
        "certificate": {"status": "converged", "gap": 1e-9},
        "one_class_labels": [],
        "warnings": ["é"],
        "error": None,
        "environment": {"python": "3"},
        "finished": "2020-01-01T00:00:00+00:00",
    }
    return "".join(Result(**row | {"job": str(job)}).to_line() for job in range(4)).encode()


def _read_xml(file: Path) -> None:
    arff = file.with_name("sound.arff")
    if not arff.exists():
        arff.write_bytes(_arff(in_sparse_format=False, meka=False))
    _use(load_arff(arff, file))


def _read_arff(file: Path) -> None:
    _use(load_arff(file, -_Q))


def _read_model(file: Path) -> None:
    model = load_model(file)
    info = read_info(file)
    repr(info)
    # A model whose parameters were damaged may fail in any way that is an exception.
    with suppress(Exception):
        model.decision_function(np.ones((2, 4)))


def _read_meka(file: Path) -> None:
    _use(load_arff(file))


def _read_features(file: Path) -> None:
    load_arff_features(file, ["f0", "f 1", "f2=a"])


def _checkpoint() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = RowsFile(str(Path(folder) / "part.npz"), "a fit/part 3")
        file.write(X)
        return Path(file.path).read_bytes()


def _read_checkpoint(file: Path) -> None:
    assert np.isfinite(RowsFile(str(file), "a fit/part 3").read(X.shape)).all()


FORMATS = {
    "arff-dense": Format(".arff", (_arff(in_sparse_format=False, meka=False),), _read_arff),
    "arff-sparse": Format(".arff", (_arff(in_sparse_format=True, meka=False),), _read_arff),
    "arff-meka": Format(
        ".arff",
        tuple(_arff(in_sparse_format=dense, meka=True) for dense in (False, True)),
        _read_meka,
    ),
    "arff-features": Format(".arff", (_arff(in_sparse_format=False, meka=False),), _read_features),
    "xml": Format(".xml", (_xml(),), _read_xml),
    "npz": Format(
        ".npz",
        tuple(
            _npz(compressed=compressed, in_sparse_format=in_sparse_format)
            for compressed in (False, True)
            for in_sparse_format in (False, True)
        ),
        lambda file: _use(load_npz(file)),
        _damaged_npz,
    ),
    "csv": Format(".csv", (_table(","),), _read_table),
    "tsv": Format(".tsv", (_table("\t"),), _read_tags),
    "parquet": Format(".parquet", (_parquet(),), _read_table),
    "svmlight": Format(".svm", (_svmlight(),), lambda file: _use(load_svmlight(file))),
    "results": Format(
        ".jsonl", (_results(),), lambda file: json.dumps([vars(row) for row in read_results(file)])
    ),
    "checkpoint": Format(".npz", (_checkpoint(),), _read_checkpoint, _damaged_npz),
    "model": Format(".model", _models(), _read_model, _damaged_model),
    # No file but calls of the extension, each drawn by two numbers; those of the first one are
    # a kernel that overflows in the simplex loop.
    "calls": Format(".txt", (b"41 236",), entry_points.make, entry_points.drawn),
}
"""By name."""
