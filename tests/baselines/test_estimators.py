"""What all baselines have in common."""

import pytest

from multimargin import baselines
from tests.support.scikit_learn_checks import all_checks_of

SUPERVISED = [
    baselines.MLkNN(),
    baselines.BRkNN(),
    baselines.BRkNN(n_neighbors=10, balanced=False),
    baselines.BPMLL(n_epochs=20, random_state=0),
    baselines.LIFT(random_state=0),
    baselines.LEAD(),
    baselines.ADTree(n_rounds=5),
    baselines.CalibratedLabelRanking(),
    baselines.RAkEL(random_state=0),
    baselines.LabelPowerset(),
]
TRANSDUCTIVE = [baselines.MLGRF(), baselines.MLLGC(), baselines.CNMF()]


def exempt(estimator):
    """Name the check that takes -1 for a class, as scikit-learn does for its own estimators."""
    marks = isinstance(estimator, tuple(type(model) for model in TRANSDUCTIVE))
    return {"check_classifiers_classes": "-1 in y marks an unlabelled row"} if marks else {}


@all_checks_of(
    [model for model in SUPERVISED + TRANSDUCTIVE if getattr(model, "balanced", True)],
    expected_failed_checks=exempt,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
