"""LabelAffinityDisplay: the pictures are the cosines."""

import numpy as np
import pytest
from matplotlib import pyplot

from multimargin import LLSF
from multimargin.plots import LabelAffinityDisplay, affinity


def test_images_are_the_affinities(data):
    X, Y = data
    model = LLSF(beta=4.0).fit(X, Y)
    figure, axes = pyplot.subplots(1, 2)
    display = LabelAffinityDisplay.from_estimator(model, Y, axes=axes)
    labels, coefficients = (np.asarray(image.get_array()) for image in display.images_)
    a, b = Y[:, 0], Y[:, 1]
    assert labels[0, 1] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    np.testing.assert_allclose(coefficients, affinity(model.coef_.T))
    assert display.figure_ is figure


def test_zero_columns_have_no_affinity():
    np.testing.assert_array_equal(affinity(np.array([[0.0, 3.0], [0.0, 4.0]])), [[0, 0], [0, 1]])


def test_input_is_checked(data):
    X, Y = data
    with pytest.raises(ValueError, match="y has 3 labels; expected 4"):
        LabelAffinityDisplay.from_estimator(LLSF().fit(X, Y), Y[:, :3])
    with pytest.raises(ValueError, match=r"coefficient_affinity has shape \(3, 3\)"):
        LabelAffinityDisplay(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="two matplotlib Axes"):
        LabelAffinityDisplay(np.eye(2), np.eye(2)).plot(axes=[None])
