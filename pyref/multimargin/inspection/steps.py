"""The steps inside pipelines and searches."""

from collections.abc import Iterator

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.names import quoted
from multimargin.checks.parameters import is_estimator
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier


def steps_of(model: BaseEstimator) -> Iterator[BaseEstimator]:
    """Yield the transformers of pipelines and searches, nested ones too, then the last step.

    Fitted or not; a model that is neither is its only step.
    """
    if hasattr(model, "steps"):
        for _, step in model.steps:
            yield from steps_of(step)
    elif hasattr(model, "best_estimator_") and not isinstance(model, LabelScoringClassifier):
        yield from steps_of(model.best_estimator_)
    elif not (model is None or isinstance(model, str)):
        # None or "passthrough" does nothing.
        yield model


def check_fitted(model: object) -> None:
    """Refuse a model that is no estimator, or is not fitted."""
    if not is_estimator(model):
        raise TypeError(
            f"model is {quoted(model)}; expected a fitted estimator, pipeline or search."
        )
    check_is_fitted(model)


def fitted_inside(classifier: BaseEstimator) -> BaseEstimator:
    """Return the estimator that a classifier has fitted inside itself, None if there is none."""
    return getattr(classifier, "best_estimator_", getattr(classifier, "estimator_", None))


def final_estimator(model: BaseEstimator) -> BaseEstimator:
    """Return the estimator that a pipeline or a search ends with, fitted or not."""
    for last in steps_of(model):
        model = last
    return model
