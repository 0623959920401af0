"""Calls in workers of joblib: what is set where a fit is called holds wherever its parts run."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, parallel_config
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multimargin
from multimargin import CalibratedClassifier, RankSVM
from multimargin.workers import delayed
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 40, 3, 3, cut=0.5)


def caught():
    with warnings.catch_warnings(record=True) as found:
        warnings.warn("unwanted", UserWarning, stacklevel=1)
        warnings.warn("wanted", UserWarning, stacklevel=1)
    return [str(one.message) for one in found]


def test_processes_have_the_warning_filters_of_the_caller():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "unwanted")
        found = Parallel(n_jobs=2)(delayed(caught)() for _ in range(2))
    assert found == [["wanted"], ["wanted"]]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_weights_are_routed_whatever_the_number_of_jobs(backend):
    def learned(n_jobs):
        with config_context(enable_metadata_routing=True):
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            ranker = RankSVM(kernel="linear", random_state=0).set_fit_request(sample_weight=True)
            model = CalibratedClassifier(make_pipeline(scaler, ranker), n_jobs=n_jobs)
            return model.fit(X, Y, sample_weight=np.arange(1.0, 41.0)).label_scores(X)

    with parallel_config(backend):
        np.testing.assert_array_equal(learned(2), learned(None))


def test_all_calls_in_workers_are_such():
    package = Path(multimargin.__file__).parent
    texts = {file: file.read_text("utf-8") for file in package.rglob("*.py")}
    others = texts.keys() - {package / "workers.py"}
    assert {
        file for file in others if re.search(r"joblib(\.| import .*)delayed", texts[file])
    } == set()
