"""Models in files: what is kept, and what is refused."""

import json
import os
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from multimargin import RankSVM, ThresholdedClassifier, __version__, model_files, predict_names
from multimargin.cli.model_data import features_of, labels_of
from multimargin.datasets import MultilabelData, load_digit_attributes
from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.table_encoder import make_encoder
from multimargin.datasets.table_kinds import Kind
from multimargin.datasets.tables import Table
from multimargin.measures import SCORERS, get_scorer
from multimargin.methods import BASELINES, METHODS, make_method
from multimargin.model_files import ModelInfo, _is_known_type, load_model, read_info, save_model
from multimargin.scaling import with_scaler
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold
from tests.support.cases import case
from tests.support.files import signed
from tests.support.subsets import first_fast

pd = pytest.importorskip("pandas")

DATA = load_digit_attributes()
INFO = ModelInfo(
    method="rank-svm",
    feature_names=tuple(DATA.feature_names),
    label_names=tuple(DATA.label_names),
    sparse=False,
    data_name=DATA.name,
    split="train",
    version=__version__,
)
TABLE = TableColumns(
    tags_column="tags",
    separator=";",
    decimal=",",
    kinds={"a": Kind("number", "amounts", unit="$"), "b": Kind("date", "dates", 4)},
)
NUMBER = {"name": "number", "reason": "numbers"}


def comes_back(model: Any, X: Any, Y: Any, X_test: Any, file: Path, **named: Any) -> None:
    save_model(model.fit(X, Y), file, info=INFO)
    found = load_model(file, **named)
    assert_array_equal(found.decision_function(X_test), model.decision_function(X_test))


@pytest.mark.parametrize("name", [*METHODS, *BASELINES])
def test_every_method_comes_back(tmp_path: Path, name: str) -> None:
    X, X_test, Y, _ = DATA.train_test()
    # skops leaves trees to the caller: a forged one can read memory that is not its own.
    boosted = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
    trees = {"random-forest": "sklearn.tree._tree.Tree", "ovr-boosting": boosted}
    trusted = [trees[name]] if name in trees else []
    file = tmp_path / "a model"
    model = with_scaler(make_method(name), "standard")
    if name in trees:
        size = next(key for key in model.get_params() if key.endswith(("n_estimators", "max_iter")))
        model.set_params(**{size: 3})
    comes_back(model, X[:60], Y[:60], X_test[:20], file, trusted=trusted)
    assert read_info(file) == INFO
    assert [path.name for path in tmp_path.iterdir()] == ["a model"]
    if name in METHODS:
        model = with_scaler(make_method(name), "minmax", sparse=True)
        comes_back(model, sparse.csr_array(X[:60]), Y[:60], sparse.csr_array(X_test[:20]), file)


def test_the_columns_of_a_table_come_back(tmp_path: Path) -> None:
    info = replace(INFO, table=TABLE)
    save_model(RankSVM().fit(*DATA.split("train")), tmp_path / "a", info=info)
    assert read_info(tmp_path / "a") == info


def test_every_threshold_comes_back(tmp_path: Path) -> None:
    X, X_test, Y, _ = DATA.train_test()
    inner = KNeighborsClassifier(algorithm="brute")
    for threshold in ("scores", "features", "macro", "count", "micro", "samples", 0.25):
        model = ThresholdedClassifier(inner, threshold=threshold, cv=2)
        with case(threshold):
            comes_back(model, X[:60], Y[:60], X_test, tmp_path / "a")


def test_features_and_labels_are_found_by_name() -> None:
    info = replace(INFO, feature_names=("a", "b", "c"), label_names=("p", "q"))
    data = MultilabelData(
        [[3.0, 0.0, 1.0, 2.0]], [[0, 1]], ["c", "other", "a", "b"], ["q", "p"], name="new"
    )
    assert_array_equal(features_of(info, data), [[1.0, 2.0, 3.0]])
    assert_array_equal(labels_of(info, data), [[1, 0]])
    stored = features_of(replace(info, sparse=True), data)
    assert isinstance(stored, sparse.csr_array)
    by_rows = MultilabelData(stored, [[0, 1]], ["a", "b", "c"], ["q", "p"], name="new")
    assert_array_equal(features_of(info, by_rows), [[1.0, 2.0, 3.0]])


def test_what_is_missing_is_named() -> None:
    info = replace(INFO, feature_names=("a", "b"), label_names=("p", "q"))
    data = MultilabelData([[1.0]], [[1]], ["a"], ["p"], name="new")
    with pytest.raises(ValueError, match="new lacks 1 of the 2 features of the model: 'b'"):
        features_of(info, data)
    with pytest.raises(ValueError, match="new lacks 1 of the 2 labels of the model: 'q'"):
        labels_of(info, data)
    with pytest.raises(ValueError, match=r"1 label\(s\) that the model does not know: 'z'"):
        labels_of(info, replace(data, label_names=("z",)))


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)

    folder: Path


def test_foreign_pickles_are_not_even_opened(tmp_path: Path) -> None:
    trap = Trap()
    trap.folder = tmp_path / "sprung"
    file = tmp_path / "foreign"
    file.write_bytes(pickle.dumps(trap))
    with pytest.raises(ValueError, match=r"foreign is not a multimargin model; expected a file"):
        load_model(file)
    assert not trap.folder.exists()
    for content in (b"", b"PK\x03\x04", b"multimargin mod"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is not a multimargin model"):
            load_model(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    save_model({"any": np.arange(1000)}, path, info=INFO)
    return path


@pytest.fixture
def fitted_file(tmp_path: Path) -> Path:
    X, Y = DATA.X[:40], DATA.Y[:40]
    save_model(RankSVM(kernel="linear").fit(X, Y), tmp_path / "model", info=INFO)
    return tmp_path / "model"


def test_cut_short(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:60])
    with pytest.raises(ValueError, match=r"the header of .* is damaged or cut short"):
        load_model(file)
    file.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"the model in .* is damaged, cut short or was edited"):
        load_model(file)


def test_an_edited_file_is_refused(fitted_file: Path) -> None:
    """Also where what was written is sound: the model would predict something else."""
    with_entries(fitted_file, lambda name, part: [(name, part, ZIP_STORED)])
    load_model(fitted_file)
    content = fitted_file.read_bytes()
    for old, new in ((b"rank-svm", b"rank-cvm"), (b"linear", b"cosine"), (content[-1:], b"")):
        edited = content.replace(old, new)
        assert edited != content
        fitted_file.write_bytes(edited)
        with pytest.raises(ValueError, match=rf"{fitted_file} is damaged, cut short or was edited"):
            load_model(fitted_file)


def change_header(file: Path, **changes: Any) -> None:
    magic, header, rest = file.read_bytes().split(b"\n", 2)
    changed = json.dumps(json.loads(header) | changes).encode()
    file.write_bytes(signed(b"\n".join([magic, changed, rest])))


def test_a_later_format(file: Path) -> None:
    change_header(file, format=3, version="9.9")
    with pytest.raises(ValueError, match=r"has format 3; expected 2: .* by multimargin 9"):
        load_model(file)


def test_another_version_is_told(file: Path) -> None:
    change_header(file, version="0.0.1")
    with pytest.warns(UserWarning, match=r"was written by multimargin 0\.0\.1, this is"):
        load_model(file)
    assert read_info(file).version == "0.0.1"


def test_a_damaged_header(file: Path) -> None:
    content = file.read_bytes()
    magic, header, rest = content.split(b"\n", 2)
    unsigned = header.replace(b'"sha256": "', b'"sha256": 1, "sha": "')
    without = header.replace(b'"sparse"', b'"dense"')
    for broken in (b"[]", b"{}", b'{"format": 2}', without, unsigned):
        file.write_bytes(b"\n".join([magic, broken, rest]))
        with case(broken), pytest.raises(ValueError, match=r"the header of .* is damaged"):
            load_model(file)
    for changes in (
        {"feature_names": "abc"},
        {"table": {"kinds": ["number"]}},
        {"table": {"kinds": {"a": "number"}}},
        {"table": {"kinds": {"a": {"name": "picture", "reason": ""}}}},
        {"table": {"kinds": {"a": {**NUMBER, "unit": 3}}}},
        {"table": {"kinds": {"a": {**NUMBER, "name": "vector", "n_parts": 10**12}}}},
        {"table": {"kinds": {"a": {**NUMBER, "name": "vector", "n_parts": "2"}}}},
        {"table": {"kinds": {"a": {**NUMBER, "of": "x"}}}},
        {"label_names": []},
        {"label_names": ["a", 2]},
        {"sparse": "yes"},
        {"sparse": 0},
        {"method": None},
        {"split": ["train"]},
        {"table": {"kinds": {"a": NUMBER}, "separator": 3}},
        {"table": {"kinds": {"a": NUMBER}, "tags_column": ["tags"]}},
        {"table": {"kinds": {"a": NUMBER}, "decimal": 0}},
        {"table": {"kinds": {"a": NUMBER}, "blank": {}}},
        {"table": ["a"]},
    ):
        file.write_bytes(content)
        change_header(file, **changes)
        with case(changes), pytest.raises(ValueError, match=r"the header of .* is damaged or cut"):
            load_model(file)


def test_a_failure_leaves_nothing_behind(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be stored by skops: .*<lambda>.*joblib"):
        save_model(lambda: None, file, info=INFO)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["model"]


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer that is none of ours."""

    def fit(self, X: Any, y: Any = None) -> "Doubled":
        return self

    def transform(self, X: Any) -> Any:
        return 2 * X


def test_foreign_types_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests are imported under a name that nothing else can import.
    monkeypatch.setitem(sys.modules, Doubled.__module__, sys.modules[__name__])
    X, X_test, Y, _ = DATA.train_test()
    model = make_pipeline(Doubled(), METHODS["rank-svm"].make(kernel="linear")).fit(X[:50], Y[:50])
    save_model(model, tmp_path / "own", info=INFO)
    name = f"{Doubled.__module__}.Doubled"
    with pytest.raises(ValueError, match=rf"own holds types that are not trusted: {name}; if"):
        load_model(tmp_path / "own")
    found = load_model(tmp_path / "own", trusted=[name])
    assert_array_equal(found.predict(X_test), model.predict(X_test))
    with pytest.raises(TypeError, match=r"trusted is .*; expected a collection of names"):
        load_model(tmp_path / "own", trusted=name)


KD_TREE = "sklearn.neighbors._kd_tree.KDTree"


@pytest.mark.parametrize(
    ("model", "name"),
    first_fast(
        [
            (RandomForestClassifier(2), "sklearn.tree._tree.Tree"),
            (KNeighborsClassifier(algorithm="kd_tree"), KD_TREE),
            (KNeighborsClassifier(algorithm="ball_tree"), "sklearn.neighbors._ball_tree.BallTree"),
            (
                OneVsRestClassifier(HistGradientBoostingClassifier(max_iter=2)),
                "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
            ),
        ],
        3,
    ),
    ids=["forest", "KD tree", "ball tree", "boosting"],
)
def test_trees_that_are_followed_unchecked_are_trusted_by_name(
    tmp_path: Path, model: Any, name: str
) -> None:
    model.fit(DATA.X[:60], DATA.Y[:60])
    save_model(model, tmp_path / "a", info=INFO)
    with pytest.raises(ValueError, match=rf"not trusted: {re.escape(name)}; if"):
        load_model(tmp_path / "a")
    found = load_model(tmp_path / "a", trusted=[name])
    assert_array_equal(found.predict(DATA.X[60:70]), model.predict(DATA.X[60:70]))


@pytest.mark.parametrize("damaged", ["indices", "indptr"])
def test_sparse_matrices_in_a_model_are_checked(tmp_path: Path, damaged: str) -> None:
    X = sparse.csr_array(DATA.X[:40])
    model = make_pipeline(METHODS["rank-svm"].make()).fit(X, DATA.Y[:40])
    getattr(model[-1].support_vectors_, damaged)[-1] = 10**6
    save_model(model, tmp_path / "a", info=INFO)
    with pytest.raises(ValueError, match="a cannot be loaded; it is damaged"):
        load_model(tmp_path / "a")


def with_entries(file: Path, change: Callable[[str, bytes], list[tuple[str, bytes, int]]]) -> None:
    """Write the entries of a model file anew, each as those that `change` makes of it."""
    header, _, content = file.read_bytes().partition(b"PK\x03\x04")
    forged = BytesIO()
    with ZipFile(BytesIO(b"PK\x03\x04" + content)) as old, ZipFile(forged, "w") as new:
        for entry in old.infolist():
            for name, part, kind in change(entry.filename, old.read(entry)):
                new.writestr(name, part, compress_type=kind)
    file.write_bytes(signed(header + forged.getvalue()))


def test_a_dtype_is_read_only_as_skops_stores_it(tmp_path: Path) -> None:
    """Another loader would call whatever the file says with arguments of its own."""
    from sklearn.impute import SimpleImputer

    X, Y = np.array([[1.0], [np.nan], [0.0]]), np.array([[1, 0], [0, 1], [0, 1]])
    model = make_pipeline(SimpleImputer(), RankSVM()).fit(X, Y)
    file = tmp_path / "a.model"
    info = ModelInfo("rank-svm", ("a", "b"), ("x",), False, "few", "all")
    save_model(model, file, info=info)
    loaded = load_model(file)
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))

    def forged(name: str, part: bytes) -> list[tuple[str, bytes, int]]:
        assert name != "schema.json" or b'"DTypeNode"' in part
        return [(name, part.replace(b'"DTypeNode"', b'"ObjectNode"'), ZIP_STORED)]

    with_entries(file, forged)
    with pytest.raises(ValueError, match=r"types that are not trusted: numpy\.dtype"):
        load_model(file)


def test_searches_with_all_that_the_package_offers_them_come_back(tmp_path: Path) -> None:
    fitted = RankSVM(kernel="linear").fit(DATA.X[:60], DATA.Y[:60])
    splitter = MultilabelStratifiedKFold(2, random_state=3)
    scoring = {**SCORERS, "f1": make_scorer(f1_score, average="macro")}
    search = LazySearchCV(fitted, {"C": [1.0]}, scoring=scoring, cv=splitter, refit="f1")
    search.best_estimator_ = fitted
    save_model(search, tmp_path / "a.model", info=INFO)
    found = load_model(tmp_path / "a.model")
    assert_array_equal(found.predict(DATA.X), fitted.predict(DATA.X))
    assert repr(found.cv) == repr(splitter)
    assert found.scoring.keys() == scoring.keys()


def test_a_measure_is_read_only_as_skops_stores_it(tmp_path: Path) -> None:
    fitted = RankSVM(kernel="linear").fit(DATA.X[:60], DATA.Y[:60])
    search = GridSearchCV(fitted, {"C": [1.0]}, scoring=get_scorer("micro_f1"))
    search.best_estimator_ = fitted
    save_model(search, tmp_path / "a.model", info=INFO)

    def forged(name: str, part: bytes) -> list[tuple[str, bytes, int]]:
        assert name != "schema.json" or b'"FunctionNode"' in part
        return [(name, part.replace(b'"FunctionNode"', b'"ObjectNode"'), ZIP_STORED)]

    with_entries(tmp_path / "a.model", forged)
    with pytest.raises(ValueError, match=r"not trusted: multimargin\.measures\..*micro_f1"):
        load_model(tmp_path / "a.model")


@pytest.mark.parametrize("kind", ["feature_names", "label_names"])
def test_a_header_with_other_names_than_the_model(fitted_file: Path, kind: str) -> None:
    file = fitted_file
    names = getattr(read_info(file), kind)
    for other in (names[:-1], (*names, "more")):
        change_header(file, **{kind: list(other)})
        message = rf"cannot be loaded.*{kind} in the header are {len(other)}, the model has"
        with pytest.raises(ValueError, match=message):
            load_model(file)


def a_long_schema(name: str, part: bytes) -> list[tuple[str, bytes, int]]:
    return [(name, part + b" " * 10**7 if name == "schema.json" else part, ZIP_DEFLATED)]


def a_compressed_array(name: str, part: bytes) -> list[tuple[str, bytes, int]]:
    return [(name, part, ZIP_DEFLATED if name.endswith(".npy") else ZIP_STORED)]


def an_array_of_a_large_shape(name: str, part: bytes) -> list[tuple[str, bytes, int]]:
    if name.endswith(".npy"):
        written = BytesIO()
        np.lib.format.write_array_header_1_0(
            written, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        )
        part = written.getvalue() + part[-64:]
    return [(name, part, ZIP_STORED)]


@pytest.mark.parametrize("change", [a_long_schema, a_compressed_array, an_array_of_a_large_shape])
def test_nothing_is_unpacked_that_the_file_cannot_need(
    fitted_file: Path, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    file = fitted_file
    with_entries(file, lambda name, part: [(name, part, ZIP_STORED)])
    load_model(file)
    with_entries(file, change)
    monkeypatch.setattr(model_files, "_nodes", lambda content: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match=r"cannot be loaded; it is damaged.*bytes"):
        load_model(file)


def test_tables_and_other_files_are_told_apart() -> None:
    Y = np.zeros((1, 2), dtype=np.uint8)
    table = Table(np.zeros((1, 1)), Y, ("b", "c"), TABLE, "new")
    with pytest.raises(ValueError, match="new is a table; expected the kind of file that the mod"):
        features_of(INFO, table)
    info = replace(INFO, table=TABLE)
    with pytest.raises(ValueError, match="is another kind of file; expected a table, as the mode"):
        features_of(info, DATA)


class Unstorable(RankSVM):
    """A model with something in it that looks like no object."""

    def __getstate__(self) -> Any:
        raise RuntimeError("not today")


def test_what_skops_cannot_store(tmp_path: Path) -> None:
    message = r"model cannot be stored by skops \(RuntimeError: not today\); joblib\.dump"
    with pytest.raises(ValueError, match=message):
        save_model(Unstorable(), tmp_path / "a", info=INFO)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("missing", "expected"), [("skops", ImportError), ("another", ValueError)])
def test_a_package_that_a_model_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, expected: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise ImportError(f"No module named {missing!r}", name=missing)

    save_model(RankSVM(), tmp_path / "a", info=INFO)
    monkeypatch.setattr("multimargin.model_files._from_skops", fail)
    with pytest.raises(expected, match=f"No module named '{missing}'"):
        load_model(tmp_path / "a")


def test_the_encoder_of_a_table_is_kept_with_its_model(file: Path) -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "kind": ["a", "b", "a", "b"]})
    encoder = make_encoder({"x": "number", "kind": "nominal"}, scaling="minmax", n_rows=4)
    model = make_pipeline(encoder, RankSVM(random_state=0))
    model.fit(frame, np.array([[0, 1], [1, 0], [0, 1], [1, 0]]))
    save_model(model, file, info=replace(INFO, feature_names=("x", "kind"), label_names=("a", "b")))
    kept = load_model(file)
    assert_array_equal(kept.decision_function(frame), model.decision_function(frame))


def test_a_model_alone_says_what_it_is(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    model = make_pipeline(RankSVM(kernel="linear"))
    names = [["a"], ["a", "b"], ["b"], []]
    with pytest.raises(NotFittedError):
        save_model(model, tmp_path / "model")
    save_model(model.fit(frame, names), tmp_path / "model")
    info = read_info(tmp_path / "model")
    assert info == ModelInfo("rank-svm", ("a", "b"), ("x",))
    found = load_model(tmp_path / "model")
    assert_array_equal(found.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="saved from Python and does not describe the data"):
        features_of(info, DATA)
    save_model(RankSVM().fit(frame.to_numpy(), [0, 1, 2, 1]), tmp_path / "model")
    assert read_info(tmp_path / "model") == ModelInfo("rank-svm", ("0", "1", "2"))
    assert load_model(tmp_path / "model").predict([[0.0]]).shape == (1,)


def test_names_of_nothing_are_no_known_types() -> None:
    assert not _is_known_type("multimargin.no_module.Thing")
    assert not _is_known_type("sklearn.base.os")
    assert _is_known_type("multimargin.RankSVM")


def test_a_model_has_the_names_of_its_file(tmp_path: Path) -> None:
    X, X_test, Y, _ = DATA.train_test()
    model = with_scaler(RankSVM(kernel="linear", random_state=0), "minmax").fit(X, Y)
    save_model(model, tmp_path / "digits.model", info=INFO)
    found = load_model(tmp_path / "digits.model")
    names = [[DATA.label_names[k] for k in row] for row in predict_names(model, X_test[:9])]
    assert predict_names(found, X_test[:9]) == names
    # Numbers are no names.
    save_model(model, tmp_path / "numbers.model")
    assert not hasattr(load_model(tmp_path / "numbers.model")[-1], "label_names_in_")
