"""Fits of the pairwise family that are solved elsewhere, such as over parts of the rows."""

from dataclasses import dataclass

import numpy as np

from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.pairwise.problem import Fit, Model
from multimargin.kernels import Kernel
from multimargin.targets.reading import Targets
from multimargin.typing import Matrix


@dataclass(frozen=True)
class SolvedElsewhere:
    """A linear estimator that states its problem, and stores a given solution."""

    estimator: PairwiseClassifier

    def check_parameters(self) -> None:
        """Check the estimator's parameters, as its `fit` does."""
        self.estimator._check_parameters()

    @property
    def model(self) -> Model:
        """The loss and the bias."""
        return self.estimator._model()

    def own_fit(self, fit: Fit, pairs: float) -> Fit:
        """Return the method's own solution; `pairs` sums the dual variables of all label pairs."""
        return self.estimator._of_engine(fit, pairs)

    def own_gap(self, fit: Fit, pairs: float) -> float:
        """Return the relative duality gap of the method's own solution."""
        return self.estimator._gap(fit, pairs)

    def store(
        self, targets: Targets, n_features: int, fit: Fit, label_weights: Matrix | None
    ) -> None:
        """Store a fit without its training rows, and without dual rows for a warm start."""
        no_rows, kernel = np.zeros((0, n_features)), Kernel("linear")
        self.estimator._store(no_rows, targets, kernel, fit, label_weights)
        self.estimator._fit_shape = None
        self.estimator.n_features_in_ = n_features

    def warn_of_the_end(self, fit: Fit, rounds: str, advice: str) -> None:
        """Warn unless the fit converged; `rounds` names its iterations."""
        self.estimator._warn_of_the_end(fit, rounds, advice)
