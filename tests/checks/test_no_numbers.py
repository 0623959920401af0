"""Dates, durations and complex numbers are refused wherever numbers come in, with their column."""

import datetime

import numpy as np
import pandas as pd
import pytest

from multimargin import CalibratedClassifier, RankSVM
from multimargin.baselines import WithOneClassLabels
from multimargin.methods import BASELINES, METHODS
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 30, 2, 3, noise=0.0, cut=0.0)
HOURS = pd.to_timedelta(np.arange(1, 31), unit="h")
MODELS = [method.make() for method in (METHODS | BASELINES).values()]
NOT_NUMBERS = [
    (HOURS, "durations", "seconds"),
    (pd.Timestamp("2020-01-01") + HOURS, "dates or times", "weekday"),
    ((pd.Timestamp("2020-01-01") + HOURS).tz_localize("Europe/Berlin"), "dates or times", "year"),
    (pd.period_range("2020", periods=30, freq="M"), "periods", "month"),
    (pd.interval_range(0, 30), "intervals", "ends"),
    (np.array([datetime.date(2020, 1, k + 1) for k in range(30)], dtype=object), "dates", "year"),
]


@pytest.mark.parametrize(
    ("cells", "found", "advice"), NOT_NUMBERS, ids=lambda given: str(given)[:9]
)
def test_a_column_is_named_with_what_it_holds(cells, found, advice):
    message = rf"^X holds {found}.* in column 'when'.*; expected numbers: .*{advice}"
    for frame in (
        pd.DataFrame({"when": cells}),
        pd.DataFrame({"a": X[:, 0], "when": cells, "b": X[:, 1] > 0}),
    ):
        with pytest.raises(TypeError, match=message):
            RankSVM(kernel="linear").fit(frame, Y)
        with pytest.raises(TypeError, match=rf"^X holds {found}"):
            RankSVM(kernel="linear").fit(frame.to_numpy(), Y)


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifier(RankSVM(kernel="linear")),
        # Other people's classifiers may be pipelines that make numbers of such columns.
        *(model for model in MODELS if not isinstance(model, WithOneClassLabels)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_arrays_of_durations_are_no_nanoseconds(model):
    hours = np.column_stack([HOURS, HOURS]).astype("m8[ns]")
    for wrong in (hours, pd.DataFrame(hours)):
        with pytest.raises(TypeError, match=r"^X holds durations"):
            model.fit(wrong, Y)


def test_weights_and_predictions_are_refused_too():
    with pytest.raises(TypeError, match=r"^sample_weight holds durations; expected numbers"):
        RankSVM(kernel="linear").fit(X, Y, sample_weight=HOURS)
    with pytest.raises(ValueError, match=r"^sample_weight holds complex numbers"):
        RankSVM(kernel="linear").fit(X, Y, sample_weight=np.full(30, 1 + 1j))
    model = RankSVM(kernel="linear", max_iter=1, tol=1.0).fit(X, Y)
    with pytest.raises(TypeError, match=r"^X holds durations in column 0"):
        model.predict(pd.DataFrame({0: HOURS, 1: HOURS}))


def test_frames_of_polars_and_tables_of_arrow():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": X[:, 0].tolist(), "when": [datetime.timedelta(hours=k) for k in range(30)]}
    for frame in (polars.DataFrame(columns), pyarrow.table(columns)):
        with pytest.raises(TypeError, match=r"^X holds durations in column 'when'"):
            RankSVM(kernel="linear").fit(frame, Y)


def test_other_objects_that_are_numbers_are_taken():
    whole = pd.DataFrame({"a": np.arange(30), "b": np.arange(30) % 7})
    expected = RankSVM(kernel="linear", random_state=0).fit(whole.astype(float), Y).coef_
    for kind in ("Int64", "object", "category"):
        found = RankSVM(kernel="linear", random_state=0).fit(whole.astype(kind), Y).coef_
        np.testing.assert_array_equal(found, expected)


def test_missing_values_of_pandas_are_called_so():
    truth = pd.DataFrame({"a": X[:, 0], "b": pd.array([True, False, None] * 10, dtype="boolean")})
    for features in (truth, truth.to_numpy()):
        with pytest.raises(
            (TypeError, ValueError), match=r"Fill .*in.* first, with .*SimpleImputer"
        ):
            RankSVM(kernel="linear").fit(features, Y)
