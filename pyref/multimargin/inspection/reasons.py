"""Features that support or oppose a label, according to the weights of a linear model."""

from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from multimargin.calibration import CalibratedClassifier, ShortlistClassifier
from multimargin.calibration.held_out import HeldOutClassifier
from multimargin.checks.names import did_you_mean, listed, quoted
from multimargin.checks.parameters import check_integer
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.inspection.names import (
    check_rows,
    count_rows,
    label_names_of_model,
    predicted_labels,
)
from multimargin.inspection.steps import check_fitted, final_estimator, fitted_inside, steps_of
from multimargin.scikit_learn import num_samples
from multimargin.typing import MatrixLike, Name


@dataclass(frozen=True, eq=False)
class Reasons:
    """Features that support or oppose a label, in a row or in general.

    Parameters
    ----------
    label : object
        The name of the label.
    features : tuple of str
        Names of features, the strongest for the label first, the strongest against it last.
    contributions : ndarray of shape (len(features),)
        Contribution of each to the score of the label, less that to the score of the mean label.
    others : float
        The sum over all other features, and the intercept.
    blocks : tuple of (str, float), default=()
        Of a stack, what each of its classifiers adds to the logarithm of the odds of the label in
        the row. The features are those of the ranker, or of several the first that is linear.
    """

    label: Any
    features: tuple[str, ...]
    contributions: NDArray[np.float64]
    others: float
    blocks: tuple[tuple[str, float], ...] = ()

    @property
    def total(self) -> float:
        """The score of the label less the mean score of all labels."""
        return float(self.contributions.sum() + self.others)

    def __str__(self) -> str:
        parts = zip(self.features, self.contributions, strict=True)
        named = [f"{name} {value:+.3g}" for name, value in parts]
        shown = f"{self.label}: {', '.join([*named, f'others {self.others:+.3g}'])}"
        blocks = ", ".join(f"{name} {share:+.3g}" for name, share in self.blocks)
        return f"{shown} (log odds: {blocks})" if blocks else shown


@overload
def explain(model: BaseEstimator, X: None, label: Name, *, k: int = 10) -> Reasons: ...


@overload
def explain(model: BaseEstimator, X: MatrixLike, label: Name, *, k: int = 10) -> list[Reasons]: ...


@overload
def explain(
    model: BaseEstimator, X: MatrixLike, label: None = None, *, k: int = 10
) -> list[list[Reasons]]: ...


def explain(
    model: BaseEstimator, X: MatrixLike | None, label: Name | None = None, *, k: int = 10
) -> Reasons | list[Reasons] | list[list[Reasons]]:
    """Return the features that support or oppose a label, by a linear model.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package with a linear kernel, alone or at the end of a pipeline or
        search, calibrated or with a threshold around it or not.
    X : array-like, sparse matrix, data frame, sequence of n rows or None
        Rows, as the model takes them. None asks for the label in general: for its weights.
    label : object, default=None
        The name of a label, or its number where labels have no names. None explains the labels that
        are predicted for each row.
    k : int, default=10
        Largest number of features to name, those with the largest contributions of either sign.

    Returns
    -------
    list of n Reasons, list of n lists of Reasons, or Reasons
        For each row; for each predicted label of each row, the most probable first, if `label` is
        None; or in general if `X` is None.

    Raises
    ------
    ValueError
        If there is no such label, or another argument is malformed.

    Notes
    -----
    A ranking only depends on differences of scores. A feature j of a row x contributes
    (w_kj - mean_m w_mj) x_j to label k: what it adds to the label's score less what it adds to that
    of the mean label. All contributions and the intercept sum to f_k(x) - mean_m f_m(x), of scores
    before any calibration.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from multimargin import RankSVM, explain
    >>> texts = ["plays audio", "edits audio", "edits photos", "shows photos"]
    >>> tags = [["sound"], ["sound", "editor"], ["image", "editor"], ["image"]]
    >>> tagger = make_pipeline(TfidfVectorizer(), RankSVM(kernel="linear", random_state=0))
    >>> explain(tagger.fit(texts, tags), None, "sound", k=3).features
    ('audio', 'plays', 'photos')
    """
    check_fitted(model)
    check_integer("k", k, at_least=1)
    names = label_names_of_model(model).tolist()
    of_predicted = label is None and None not in names
    if of_predicted and X is None:
        raise ValueError(f"X and label are both None; expected rows, or one of {listed(names)}.")
    if not of_predicted and (getattr(label, "ndim", 0) > 0 or label not in names):
        meant = did_you_mean(label, names) if isinstance(label, str) else ""
        raise ValueError(f"label is {quoted(label)}{meant}; expected one of {listed(names)}.")
    if X is not None:
        count_rows(X)
    given, (model, X, features) = X, _last_step(model, X, None)
    if X is not None:
        check_rows(given, num_samples(X))
    if of_predicted:
        return _of_predicted(model, X, features, names, k)
    place = names.index(label)
    if X is None:
        _, features, linear, _ = _linear_part(model, None, features)
        weights = linear.coef_[: len(names)]
        difference = weights[place] - weights.mean(axis=0, dtype=np.float64)
        places = np.arange(difference.size)
        named = places if features is None else features
        return _reasons(label, named, places, difference, 0.0, k)
    rows = _Rows.of(model, X, features, len(names))
    return [rows.reasons(row, place, label, k) for row in range(rows.X.shape[0])]


def _last_step(model: Any, X: MatrixLike | None, features: Any) -> tuple[Any, Any, Any]:
    """Return the last step of pipelines and searches, its input, and the names of its features."""
    *transformers, last = steps_of(model)
    for transformer in transformers:
        X = None if X is None else transformer.transform(X)
        features = transformer.get_feature_names_out(features)
    return last, X, features


def _of_predicted(
    model: Any, X: MatrixLike, features: Any, names: list[Any], k: int
) -> list[list[Reasons]]:
    """Return the reasons of the labels that are predicted for each row, the best label first."""
    rows = _Rows.of(model, X, features, len(names))
    labels, _ = predicted_labels(model, X)
    return [
        [rows.reasons(row, int(place), names[place], k) for place in best]
        for row, best in enumerate(labels)
    ]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in the form that a linear estimator takes, and the weights of its labels."""

    X: Any  # (n, d), CSR
    features: Any  # Names of the d features
    weights: Any  # (q, d)
    mean: NDArray[np.float64]  # (d,): Mean of the weights over the labels
    intercept: NDArray[np.float64]  # (q,), less its mean
    shares: dict[str, Any]  # (n, q): Logarithms of odds from each classifier of a stack

    @classmethod
    def of(cls, model: Any, X: MatrixLike, features: Any, q: int) -> "_Rows":
        """Return the rows for a model of q labels; a label beyond these marks rows without any."""
        rows, features, linear, shares = _linear_part(model, X, features)
        rows, weights = sparse.csr_array(rows), linear.coef_[:q]
        check_rows(X, rows.shape[0])
        intercept = np.asarray(getattr(linear, "intercept_", np.zeros(q)))[:q]
        return cls(
            rows,
            np.arange(weights.shape[1]) if features is None else features,
            weights,
            weights.mean(axis=0, dtype=np.float64),
            intercept - intercept.mean(),
            shares,
        )

    def reasons(self, row: int, place: int, label: Any, k: int) -> Reasons:
        """Return the reasons of a label in a row."""
        entries = slice(self.X.indptr[row], self.X.indptr[row + 1])
        places = self.X.indices[entries]
        differences = self.weights[place][places] - self.mean[places]
        contributions = self.X.data[entries] * differences
        found = _reasons(
            label, self.features, places, contributions, float(self.intercept[place]), k
        )
        shares = ((name, float(of[row, place])) for name, of in self.shares.items())
        return replace(found, blocks=tuple(shares))


def _reasons(
    label: Any, features: Any, places: Any, contributions: Any, constant: float, k: int
) -> Reasons:
    strongest = np.argsort(-np.abs(contributions), kind="stable")[:k]
    strongest = strongest[contributions[strongest] != 0.0]
    strongest = strongest[np.argsort(-contributions[strongest], kind="stable")]
    chosen = contributions[strongest]
    return Reasons(
        label,
        tuple(str(features[place]) for place in places[strongest]),
        chosen,
        float(contributions.sum() - chosen.sum()) + constant,
    )


def _first_linear(model: Any) -> Any:
    """Return the first linear ranker in a calibrated stack, None if there is none."""
    # Others have estimators without names, of each label say.
    is_stack = isinstance(model, CalibratedClassifier | ShortlistClassifier)
    for _, ranker in model.estimators_ if is_stack else ():
        last = final_estimator(ranker)
        if isinstance(last, LabelScoringClassifier) and hasattr(last, "coef_"):
            return ranker
    return None


def _linear_part(model: Any, X: MatrixLike, features: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Return the rows and features of a linear estimator inside a model, and the estimator.

    The last value is what each classifier of an enclosing stack adds to the log odds.
    """
    inner, shares = model, {}
    while inner is not None:
        model, X, features = _last_step(inner, X, features)
        if features is None:
            features = getattr(model, "feature_names_in_", None)
        # What others fit inside themselves scores something else, such as label sets.
        wraps = isinstance(model, HeldOutClassifier) or hasattr(model, "best_estimator_")
        inner = _first_linear(model) or (fitted_inside(model) if wraps else None)
        if X is not None and inner is None and hasattr(model, "_checked_features"):
            X = model._checked_features(X, reset=False)
        if X is not None and isinstance(model, CalibratedClassifier) and len(model.estimators_) > 1:
            shares = model.shares(X)
    if not (isinstance(model, LabelScoringClassifier) and hasattr(model, "coef_")):
        kernel = getattr(model, "kernel", None)
        kind = type(model).__name__ + ("" if kernel is None else f" with kernel={kernel!r}")
        raise TypeError(
            f"model is {kind}, whose features have no weights for each label; expected a linear "
            "model of multimargin, with `coef_`, such as one with kernel='linear'"
        )
    return X, features, model, shares
