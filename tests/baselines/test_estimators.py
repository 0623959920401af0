"""What all baselines have in common."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin import baselines


@pytest.mark.parametrize(
    "model",
    [
        baselines.MLkNN(),
        baselines.LabelPowerset(),
    ],
    ids=repr,
)
def test_copies_of_the_labels_change_nothing(model):
    # These learn nothing of a label from its copies: what they predict, thresholds among it, does
    # not depend on how many labels there are.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    Y = (X[:, :3] + 0.5 * rng.standard_normal((80, 3)) > [0.0, 0.5, 1.0]).astype(int)
    X_test = rng.standard_normal((40, 4))
    alone = model.fit(X, Y).predict(X_test)
    among_many = model.fit(X, np.tile(Y, 30)).predict(X_test)
    assert_array_equal(among_many[:, :3], alone)
    assert alone.any()
