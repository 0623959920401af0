"""Whatever an argument of a public function is given, it is taken or named in the message."""

from functools import partial
from inspect import isfunction, signature

import numpy as np
import pytest
from scipy import sparse

import multimargin
from multimargin import RankSVM, measures
from multimargin.tuning import MultilabelStratifiedKFold, stratified_train_test_split

pd = pytest.importorskip("pandas")
compare = pytest.importorskip("multimargin.compare")

N = 12
X = np.random.default_rng(0).random((N, 3))
Y = (np.median(X, axis=0) < X).astype(int)
SCORES = X - 0.5
MODEL = RankSVM(kernel="linear", random_state=0).fit(X, Y)
TABLE = pd.DataFrame(X[:6], index=list("ABCDEF"), columns=list("abc"))
NONSENSE = {
    "none": None,
    "text": "nonsense",
    "number": -1.5,
    "nan": np.nan,
    "huge": 10**30,
    "complex": 1j,
    "flag": True,
    "list": [1, 2],
    "dict": {"a": 1},
    "set": {1, 2},
    "object": object(),
    "function": len,
    "class": RankSVM,
    "array": np.zeros(4),
    "cube": np.zeros((2, 2, 2)),
    "nothing": np.zeros((0, 3)),
    "texts": np.full((N, 3), "a"),
    "too few": np.zeros((N - 1, 3)),
    "sparse": sparse.csr_array(np.eye(2)),
    "frame": pd.DataFrame({"a": ["x"] * N}),
    "dates": np.full(N, "2020-01-01", dtype="datetime64[D]"),
    "masked": np.ma.masked_equal(np.ones((N, 3)), 1.0),
}
KNOWN = {
    "Y_true": Y,
    "Y_train": Y,
    "scores": SCORES,
    "Y_pred": Y,
    "sample_weight": np.ones(N),
    "propensities": np.ones(3),
    "k": 2,
    "name": "micro_f1",
}


def folds(X, y, random_state):
    return list(MultilabelStratifiedKFold(2, random_state=random_state).split(X, y))


def calls(tmp_path):
    """Yield public functions with arguments that they take."""
    for name in measures.__all__:
        function = getattr(measures, name)
        if isfunction(function):
            taken = signature(function).parameters
            yield function, {key: KNOWN.get(key, taken[key].default) for key in taken}
    of_rows = {"model": MODEL, "X": X}
    yield multimargin.predict_names, of_rows | {"k": 2}
    yield multimargin.predict_top, of_rows | {"k": 2}
    yield multimargin.predict_sparse, of_rows
    yield multimargin.predict_frame, of_rows | {"response": "predict", "library": "pandas"}
    yield multimargin.explain, of_rows | {"label": 0, "k": 2}
    file = tmp_path / "a.model"
    multimargin.save_model(MODEL, file)
    yield partial(multimargin.save_model, path=tmp_path / "b"), {"model": MODEL, "info": None}
    yield partial(multimargin.load_model, file), {"trusted": ()}
    of_table = {"table": TABLE, "larger_is_better": True, "alpha": 0.05}
    yield compare.friedman_test, of_table
    yield compare.nemenyi_test, of_table
    yield partial(compare.wilcoxon_tests, reference="a"), of_table
    yield stratified_train_test_split, {"X": X, "y": Y, "test_size": 0.5, "random_state": 0}
    yield folds, {"X": X, "y": Y, "random_state": 0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("nonsense", NONSENSE)
def test_an_argument_is_taken_or_named(tmp_path, nonsense):
    unnamed = []
    for function, arguments in calls(tmp_path):
        for name in arguments:
            try:
                function(**arguments | {name: NONSENSE[nonsense]})
            except (TypeError, ValueError) as error:
                # The other of two that should be of one shape may be named.
                if not any(one in str(error) for one in (name, "scores", "y has")):
                    unnamed.append((function, name, str(error)))
    assert not unnamed


@pytest.mark.parametrize("flag", [None, "False", 0])
def test_what_is_better_is_not_guessed(flag):
    table = TABLE.set_axis(pd.MultiIndex.from_product([["A", "B"], range(3)]), axis=0)
    table.index.names = ["data", "split"]
    for test in (
        partial(compare.friedman_test, TABLE),
        partial(compare.nemenyi_test, TABLE),
        partial(compare.wilcoxon_tests, TABLE, "a"),
        partial(compare.win_tie_loss, table, "a"),
    ):
        with pytest.raises(TypeError, match=r"larger_is_better is .*; expected True or False"):
            test(larger_is_better=flag)
