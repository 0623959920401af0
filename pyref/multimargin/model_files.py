"""Fitted models in files, with the names of their features and labels.

A file has a line that says what it is, a line of JSON (the header), and what skops stores. The
header's "sha256" is that of the rest of the header and of all that follows it.
"""

import hashlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from importlib.metadata import version
from inspect import isfunction
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy import sparse
from sklearn import metrics
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from multimargin import __version__, measures
from multimargin.checks.arrays import check_readable
from multimargin.checks.names import quoted
from multimargin.checks.paths import MAGIC, check_model, existing_file
from multimargin.datasets.npz import check_size_of_array
from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.table_encoder import Places
from multimargin.datasets.table_kinds import KINDS, Kind
from multimargin.estimators import MajorityClass
from multimargin.files import path_to_write, replacing
from multimargin.inspection.names import label_names_of_model
from multimargin.inspection.steps import check_fitted, final_estimator
from multimargin.kernels import Kernel
from multimargin.measures.scorers import SCORERS
from multimargin.methods import METHODS
from multimargin.notices import silenced, warn
from multimargin.thresholds import Threshold


def _functions_of(module: ModuleType) -> set[str]:
    """Return the full names of the public functions of a module."""
    found = (getattr(module, name) for name in module.__all__)
    return {f"{one.__module__}.{one.__name__}" for one in found if isfunction(one)}


_FORMAT = 2
# Trees: scikit-learn follows their indices without a check, so that forged ones read foreign
# memory. skops leaves the decision on all but the last to the caller.
_REFUSED_TYPES = frozenset(
    {
        "sklearn.tree._tree.Tree",
        *(
            f"sklearn.neighbors._{kind}_tree.{name}"
            for kind, prefix in (("kd", "KD"), ("ball", "Ball"))
            for name in (f"{prefix}Tree", f"{prefix}Tree32", f"{prefix}Tree64")
        ),
        "sklearn.neighbors._quad_tree._QuadTree",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    }
)
_PACKAGE = "multimargin"
_OWN_TYPES = (
    BaseEstimator,
    BaseCrossValidator,
    Threshold,
    Kernel,
    MajorityClass,
    Places,
    *{type(scorer) for scorer in SCORERS.values()},
)
# What is safe only as skops itself stores it: a dtype as that of an empty array, which NumPy reads
# without a pickle, and a measure by which a search selects. A forged file could name another way to
# make one.
_LOADERS = {
    "numpy.dtype": "DTypeNode",
    **dict.fromkeys(_functions_of(measures) | _functions_of(metrics), "FunctionNode"),
}
_SPARSE_TYPES = frozenset(
    f"scipy.sparse.{name}" for name in ("_csr.csr_array", "_csr.csr_matrix", "_csc.csc_array")
)
# Maximum size of a header, enough for a million names.
_MAX_HEADER = 2**28
_SCHEMA = "schema.json"
# Compressed parts, descriptions and sparse matrices, grow about twenty times when unpacked: a file
# in which they grow more is made to fill the memory.
_MOST_UNPACKED, _ALWAYS_UNPACKED = 60, 200_000
# Of arrays in models; those of trees have fields.
_KINDS = "buifcmMUSV"


@dataclass(frozen=True)
class ModelInfo:
    """Description of the model in a file, readable without loading it.

    Parameters
    ----------
    method : str
        Name of the method, see `multimargin.methods`; of other models that of their class.
    label_names : tuple of str
        Names of the q labels, in the order of the model.
    feature_names : tuple of str, default=()
        Names of the d features, in the order of the model; empty if it has none.
    sparse : bool, default=False
        True if the features of the training rows were stored sparse.
    data_name, split : str, default=""
        Training data; empty if unknown.
    version : str, default=that of multimargin
        Version of multimargin that wrote the file.
    table : object or None, default=None
        Of a model that takes the columns of a table: `kinds`, what each of them holds and why,
        `decimal`, the mark of their numbers, `tags_column`, `one_tag_a_row` and `separator`, how
        the labels were listed, and `blank`, what an empty cell of a label is.
    row_hashes : tuple of int, default=()
        The smallest hashes of the rows that it was fitted to.
    """

    method: str
    label_names: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    sparse: bool = False
    data_name: str = ""
    split: str = ""
    version: str = __version__
    table: TableColumns | None = None
    row_hashes: tuple[int, ...] = ()


def save_model(
    model: BaseEstimator, path: str | os.PathLike[str], *, info: ModelInfo | None = None
) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        The fitted estimator, pipeline or search.
    path : str or path-like
        The file. An existing one is replaced when the new one is complete and on disk; a symbolic
        link stays and what it points to is replaced.
    info : ModelInfo or None, default=None
        Description of the model; None takes the model's own. The program reads from it which data a
        model takes.

    Raises
    ------
    NotFittedError
        If `info` is None and the model is not fitted.
    OSError
        If the file cannot be written, or is no regular file.
    ValueError
        If skops cannot store the model: one whose kernel is a function, say, which joblib stores.

    Examples
    --------
    >>> from multimargin import RankSVM, load_model, save_model
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> save_model(RankSVM().fit(X, y), "digits.model")  # doctest: +SKIP
    >>> load_model("digits.model").predict(X_test)  # doctest: +SKIP
    """
    file = path_to_write(path, "path")
    if info is None:
        check_fitted(model)
        info = _info_of(model)
    if not isinstance(info, ModelInfo):
        raise TypeError(f"info is {quoted(info)}; expected a ModelInfo or None.")
    content = _skops_content(model)
    header = {"format": _FORMAT, "scikit-learn": version("scikit-learn")} | asdict(info)
    header["sha256"] = _digest(header, content)
    with replacing(file, "wb") as stream:
        stream.write(MAGIC)
        stream.write(json.dumps(header).encode() + b"\n")
        stream.write(content)


def load_model(path: str | os.PathLike[str], *, trusted: Collection[str] = ()) -> BaseEstimator:
    """Read a fitted model from a file; no code of the file is run.

    Parameters
    ----------
    path : str or path-like
        A file that `save_model` wrote.
    trusted : collection of str, default=()
        Full names of types that may be loaded beside those of multimargin, scikit-learn and NumPy,
        and sparse matrices: of a transformer of your own in a pipeline, say, or
        "sklearn.tree._tree.Tree" or "sklearn.neighbors._kd_tree.KDTree", trees that scikit-learn
        follows without checking their indices.

    Returns
    -------
    estimator
        The fitted estimator, pipeline or search.

    Raises
    ------
    ValueError
        If it is not a model, is damaged or was edited, is of a format that this version does not
        know, or holds types that are not trusted; the message names the file.

    Warns
    -----
    UserWarning
        If it was written by another version of multimargin or scikit-learn.
    """
    return read_model(path, trusted=trusted)[0]


def read_model(
    path: str | os.PathLike[str], *, trusted: Collection[str] = ()
) -> tuple[BaseEstimator, ModelInfo]:
    """Read a fitted model, and what its file says about it, as `load_model` does."""
    named = isinstance(trusted, Collection) and not isinstance(trusted, str)
    if not (named and all(isinstance(name, str) for name in trusted)):
        raise TypeError(f"trusted is {quoted(trusted)}; expected a collection of names.")
    file = existing_file(path, "path")
    with file.open("rb") as stream:
        header, info = _read_header(stream, file)
        content = stream.read()
        if _digest(header, content) != header["sha256"]:
            raise ValueError(
                f"path: the model in {file} is damaged, cut short or was edited: what the file "
                "holds does not have the SHA-256 that its header names"
            )
        try:
            model = _from_skops(content, trusted)
            _check_names(model, info)
            _give_names(model, info)
            return model, info
        except _UntrustedError as error:
            raise ValueError(
                f"path: the model in {file} holds types that are not trusted: {error}; if you "
                "know them and trust the file, load it in Python, with trusted=[...] of their names"
            ) from error
        except ImportError as error:
            if error.name == "skops":
                raise
            raise _damaged(file, info, error) from error
        except Exception as error:  # a damaged file can raise anything
            raise _damaged(file, info, error) from error


def read_info(path: str | os.PathLike[str]) -> ModelInfo:
    """Read what a model file says about its model, without loading it.

    Parameters
    ----------
    path : str or path-like
        A file that `save_model` wrote.

    Returns
    -------
    ModelInfo
        Description of the model.

    Raises
    ------
    ValueError
        If it is not a model, its head is damaged, or of a format that this version does not know.
    """
    file = existing_file(path, "path")
    # Of another version: `load_model` says it.
    with file.open("rb") as stream, silenced(Warning):
        return _read_header(stream, file)[1]


def _digest(header: Mapping[str, Any], content: bytes) -> str:
    """Return the SHA-256 of a header, without its own entry, and of the content."""
    rest = {name: value for name, value in header.items() if name != "sha256"}
    found = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    found.update(content)
    return found.hexdigest()


def _info_of(model: Any) -> ModelInfo:
    """Return a fitted model's description of itself."""
    last = final_estimator(model)
    found = [name for name, method in METHODS.items() if method.estimator is type(last)]
    return ModelInfo(
        method=found[0] if found else type(last).__name__,
        label_names=tuple(map(str, label_names_of_model(model))),
        feature_names=tuple(map(str, getattr(model, "feature_names_in_", ()))),
    )


class _UntrustedError(Exception):
    """A file holds types that are not trusted."""


def _damaged(file: Path, info: ModelInfo, error: Exception) -> ValueError:
    return ValueError(
        f"path: the model in {file} cannot be loaded; it is damaged, or was written by multimargin "
        f"{info.version} with versions of libraries that do not fit those here: "
        f"{type(error).__name__}: {error}"
    )


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "model files need skops, which is not installed: pip install 'multimargin[models]'",
            name="skops",
        ) from error
    return skops.io


def _skops_content(model: Any) -> bytes:
    skops = _skops()
    try:
        content = _packed(skops.dumps(model))
        names = skops.get_untrusted_types(data=content)
    except Exception as error:  # skops raises whatever the inspected objects raise
        raise ValueError(
            f"model cannot be stored by skops ({type(error).__name__}: {error}); joblib.dump "
            "stores any model that pickle can, and whoever loads it runs what is in it."
        ) from error
    for name in names:
        # A lambda, say, or a class that a function defines: reading the file would fail.
        if _found(name) is None:
            raise ValueError(
                f"model cannot be stored by skops: it holds {name}, which cannot be imported by "
                "that name; joblib.dump stores any model that pickle can."
            )
    return content


def _from_skops(content: bytes, trusted: Collection[str]) -> Any:
    skops = _skops()
    _check_sizes(content)
    found = skops.get_untrusted_types(data=content)
    untrusted = {
        name
        for name in found
        if not (
            name in _SPARSE_TYPES or name in trusted or name in _LOADERS or _is_known_type(name)
        )
    }
    nodes = _nodes(content)
    untrusted |= _REFUSED_TYPES & {name for name, _ in nodes} - set(trusted)
    untrusted |= {name for name, loader in nodes if _LOADERS.get(name, loader) != loader}
    if untrusted:
        raise _UntrustedError(", ".join(sorted(untrusted)))
    model = skops.loads(content, trusted=found)
    _check_sparse_matrices(model)
    return model


def _check_sizes(content: bytes) -> None:
    """Check sizes before anything is unpacked."""
    with ZipFile(BytesIO(content)) as archive:
        stored = 0
        for entry in archive.infolist():
            if entry.filename == _SCHEMA:
                _check_unpacked(entry.filename, [entry])
                continue
            # Files written here: arrays are as large as in the file.
            stored += entry.file_size
            if entry.compress_type != ZIP_STORED or stored > len(content):
                raise ValueError(f"{entry.filename} claims {entry.file_size:,} bytes")
            if entry.filename.endswith(".npy"):
                check_size_of_array(archive, entry, _KINDS)
            elif entry.filename.endswith(".npz"):
                with ZipFile(BytesIO(archive.read(entry))) as matrix:
                    _check_unpacked(entry.filename, matrix.infolist())
                    for array in matrix.infolist():
                        check_size_of_array(matrix, array, _KINDS)


def _check_unpacked(name: str, entries: Sequence[ZipInfo]) -> None:
    found = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if found > _MOST_UNPACKED * packed + _ALWAYS_UNPACKED:
        raise ValueError(f"{name} claims {found:,} bytes in {packed:,} compressed ones")


def _check_names(model: Any, info: ModelInfo) -> None:
    """Check that a model has the features and labels that the header names."""
    nameless = info.table is not None or not info.feature_names
    features = None if nameless else getattr(model, "n_features_in_", None)
    labels = getattr(final_estimator(model), "classes_", None)
    for kind, names, count in (
        ("feature_names", info.feature_names, features),
        ("label_names", info.label_names, None if labels is None else len(labels)),
    ):
        if count is not None and count != len(names):
            raise ValueError(f"{kind} in the header are {len(names)}, the model has {count}")


def _give_names(model: Any, info: ModelInfo) -> None:
    """Give a model that was fitted to an indicator without names the names of the header."""
    last = final_estimator(model)
    if not getattr(last, "multilabel_", False) or hasattr(last, "label_names_in_"):
        return
    if list(info.label_names) != [str(number) for number in last.classes_]:
        last.label_names_in_ = np.array(info.label_names, dtype=object)


def _nodes(content: bytes) -> set[tuple[str, str]]:
    """Return the full names of all types in a file, trusted ones too, and skops's loaders."""
    nodes = set()

    def note(node: dict[str, Any]) -> None:
        nodes.add(
            (f"{node.get('__module__')}.{node.get('__class__')}", str(node.get("__loader__")))
        )

    with ZipFile(BytesIO(content)) as archive:
        json.loads(archive.read(_SCHEMA), object_hook=note)
    return nodes


def _check_sparse_matrices(model: Any) -> None:
    """Check the indices of every sparse matrix in a model: compiled loops follow them."""
    seen, waiting = set(), [model]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if sparse.issparse(value):
            check_readable(value, "a sparse matrix of the model")
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple | set):
            waiting += value
        elif isinstance(value, np.ndarray):
            waiting += value.flat if value.dtype.hasobject else []
        elif not isinstance(value, type):
            waiting += getattr(value, "__dict__", {}).values()


def _found(name: str) -> Any:
    """Return the object with this full name, None if there is none."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(import_module(module), last, None)
    except ImportError:
        return None


def _is_known_type(name: str) -> bool:
    """Return whether a name is that of a class of models of this package or of scikit-learn."""
    package = name.split(".")[0]
    # Importing __main__ would run the program.
    if package not in (_PACKAGE, "sklearn") or "__main__" in name or name in _REFUSED_TYPES:
        return False
    found = _found(name)
    # Modules also hold what they import, from `os` and from anywhere.
    if not isinstance(found, type) or found.__module__.split(".")[0] != package:
        return False
    return package == "sklearn" or issubclass(found, _OWN_TYPES)


def _packed(content: bytes) -> bytes:
    """Compress the description, which the words of a vocabulary make long; arrays stay as is."""
    written = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(written, "w", ZIP_STORED) as new:
        for entry in old.infolist():
            kind = ZIP_DEFLATED if entry.filename == _SCHEMA else ZIP_STORED
            new.writestr(entry.filename, old.read(entry), compress_type=kind)
    return written.getvalue()


def _read_header(stream: BinaryIO, file: Path) -> tuple[dict[str, Any], ModelInfo]:
    check_model(file, "path")
    stream.seek(len(MAGIC))
    try:
        header = json.loads(stream.readline(_MAX_HEADER))
        found = header["format"]
        if found == _FORMAT:
            info = _info(header)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"path: the header of {file} is damaged or cut short ({type(error).__name__}: {error})"
        ) from error
    if found != _FORMAT:
        raise ValueError(
            f"path: {file} has format {found}; expected {_FORMAT}: it was written by "
            f"multimargin {header.get('version')}, this is {version('multimargin')}"
        )
    if info.version != version("multimargin"):
        warn(f"{file} was written by multimargin {info.version}, this is {version('multimargin')}")
    return header, info


def _info(header: dict[str, Any]) -> ModelInfo:
    values: dict[str, Any] = {field.name: header[field.name] for field in fields(ModelInfo)}
    for kind, of in (("feature_names", str), ("label_names", str), ("row_hashes", int)):
        found = values[kind]
        if not (isinstance(found, list) and all(isinstance(one, of) for one in found)):
            raise TypeError(f"{kind} is not a list of {of.__name__}")
        values[kind] = tuple(found)
    for kind in ("method", "data_name", "split", "version", "sparse"):
        if not isinstance(values[kind], bool if kind == "sparse" else str):
            raise TypeError(f"{kind} is {values[kind]!r}")
    if not values["label_names"]:
        raise ValueError("label_names is empty")
    if not isinstance(header["sha256"], str):
        raise TypeError(f"sha256 is {header['sha256']!r}")
    if values["table"] is not None:
        values["table"] = _table(values["table"], len(values["feature_names"]))
    return ModelInfo(**values)


def _table(table: dict[str, Any], n_features: int) -> TableColumns:
    """Return the header's description of a table's columns."""
    kinds = {column: Kind(**kind) for column, kind in table["kinds"].items()}
    for kind in kinds.values():
        known = kind.name in (*KINDS, "date", "vector") and isinstance(kind.unit, str)
        if not (known and isinstance(kind.n_parts, int) and 0 <= kind.n_parts <= n_features):
            raise ValueError(f"{kind} is none of a table")
    names = ("tags_column", "one_tag_a_row", "separator", "blank", "decimal")
    told: dict[str, Any] = {name: table.get(name) for name in names}
    for name, value in told.items():
        if not isinstance(value, str | None):
            raise TypeError(f"{name} is {value!r}")
    return TableColumns(kinds=kinds, **told)
