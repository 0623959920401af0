"""Pictures are drawn without a screen, closed after each test, and leave matplotlib as it was."""

import matplotlib
import pytest

from multimargin import MLODM, RankSVM

matplotlib.use("Agg")

from matplotlib import pyplot

from tests.support.problems import noisy_linear_problem


@pytest.fixture(autouse=True)
def closed_figures(monkeypatch):
    def show(*args, **kwargs):
        raise AssertionError("a display opened a window")

    monkeypatch.setattr(pyplot, "show", show)
    settings = dict(matplotlib.rcParams)
    yield
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    for figure in figures:
        # Drawing finds what only shows when a picture is saved: fonts, layouts, warnings.
        figure.canvas.draw()
    assert dict(matplotlib.rcParams) == settings


@pytest.fixture(scope="package")
def data():
    return noisy_linear_problem(0, 40, 3, 4, noise=0.0, cut=0.0)


@pytest.fixture(scope="package")
def rank_svm(data):
    return RankSVM(C=1.0, random_state=0).fit(*data)


@pytest.fixture(scope="package")
def mlodm(data):
    return MLODM(C=1.0, random_state=0).fit(*data)
