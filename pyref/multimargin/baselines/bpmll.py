"""BP-MLL: a neural network with one hidden layer and a pairwise exponential loss.

Source: Zhang & Zhou 2006. The decay, which the paper does not spell out, is that of the authors'
program (BPMLL_train, cost parameter 0.1).

Problem: minimise over the weights of c(x) = tanh(V^T tanh(U^T x + u) + v)

    sum_i 1 / (|Y_i| |not Y_i|) sum_{k in Y_i, l not in Y_i} exp(-(c_k(x_i) - c_l(x_i)))
    + decay (||U||^2 + ||u||^2 + ||V||^2 + ||v||^2)

by gradient steps of a fixed length, one training row after the other. The threshold is linear in
the scores.

Defaults of the paper: hidden units 20 % of the features, learning rate 0.05, 100 epochs, decay 0.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from multimargin.baselines.base import BaselineClassifier
from multimargin.blas import with_one_blas_thread
from multimargin.checks.parameters import check_integer, check_real, check_seed
from multimargin.targets.indicator import check_pairs
from multimargin.targets.reading import Targets
from multimargin.thresholds import ScoresThreshold
from multimargin.thresholds.base import spread
from multimargin.typing import Features, Matrix

_LEAST_HIDDEN = 4
# A smaller number before U is multiplied out.
_LEAST_SCALE = 1e-3


@dataclass(repr=False, eq=False)
class BPMLL(BaselineClassifier):
    """BP-MLL: a neural network trained to rank relevant above irrelevant labels.

    Parameters
    ----------
    hidden : float, default=0.2
        Number of hidden units as a fraction of the number of features, rounded up; positive. There
        are at least 4: the paper's data have 100 features and more.
    learning_rate : float, default=0.05
        Length of the gradient steps, positive.
    n_epochs : int, default=100
        Passes over the training rows.
    decay : float, default=0.1
        Weight of the squared parameters, at least 0. Each row bears its share of it.
    random_state : int, RandomState instance or None, default=0
        Draws the first weights and biases, uniformly between -1/2 and 1/2. None draws
        anew in each fit.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    coefs_ : list of ndarray, of shapes (d, n_hidden) and (n_hidden, q)
        U and V.
    intercepts_ : list of ndarray, of shapes (n_hidden,) and (q,)
        u and v.
    loss_curve_ : ndarray of shape (n_epochs,)
        Sum of the losses of the rows in each epoch, each before its step; without the decay.
    threshold_ : Threshold
        The fitted threshold, linear in the scores.

    Notes
    -----
    Zhang & Zhou 2006. Rows without labels, or with all, have no pair: their loss is 0, their
    step is that of the decay alone. tanh saturates for large features: scale them.

    Examples
    --------
    >>> from multimargin.baselines import BPMLL
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> BPMLL(n_epochs=5, random_state=0).fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    hidden: float = 0.2
    learning_rate: float = 0.05
    n_epochs: int = 100
    decay: float = 0.1
    random_state: int | np.random.RandomState | None = 0

    def _check_parameters(self) -> None:
        check_real("hidden", self.hidden, above=0.0)
        check_real("learning_rate", self.learning_rate, above=0.0)
        check_integer("n_epochs", self.n_epochs, at_least=1)
        check_real("decay", self.decay, at_least=0.0)
        check_seed(self.random_state)

    @with_one_blas_thread
    def _fit(self, X: Features, targets: Targets) -> None:
        check_pairs(targets.indicator)
        (n, d), q = X.shape, targets.indicator.shape[1]
        n_hidden = max(_LEAST_HIDDEN, int(np.ceil(self.hidden * d)))
        draw = check_random_state(self.random_state).uniform
        first, second = (draw(-0.5, 0.5, shape) for shape in ((d, n_hidden), (n_hidden, q)))
        biases = [draw(-0.5, 0.5, n_hidden), draw(-0.5, 0.5, q)]
        self.coefs_, self.intercepts_ = [first, second], biases
        rate = float(self.learning_rate)
        descent = _Descent([first, second], biases, rate, 1.0 - rate * 2.0 * float(self.decay) / n)
        rows = list(zip(_entries(X), targets.indicator.astype(bool), strict=True))
        self.loss_curve_ = np.zeros(int(self.n_epochs))
        for epoch in range(int(self.n_epochs)):
            for (places, values), relevant in rows:
                self.loss_curve_[epoch] += descent.step(places, values, relevant)
            descent.settle()
        scores = self._label_scores(X)
        unit = spread(scores)
        self.threshold_ = ScoresThreshold().fit(scores / unit, targets.indicator).rescale(unit)

    @with_one_blas_thread
    def _label_scores(self, X: Features) -> Matrix:
        (U, V), (u, v) = self.coefs_, self.intercepts_
        return np.asarray(np.tanh(np.tanh(X @ U + u) @ V + v))


class _Descent:
    """Gradient steps, which change the parameters in place.

    The decay shrinks all of U in each step. U is a matrix times a number, so that a step writes
    only the rows of that matrix at which x is not 0: in text, one in a hundred.
    """

    def __init__(
        self, coefs: list[Matrix], intercepts: list[Matrix], rate: float, shrink: float
    ) -> None:
        self._coefs, self._intercepts = coefs, intercepts
        self._rate, self._shrink = rate, shrink
        self._scale = 1.0

    def step(self, places: Any, values: Matrix, relevant: NDArray[np.bool_]) -> float:
        """Take the step of one row, and return its loss before the step."""
        (U, V), (u, v) = self._coefs, self._intercepts
        hidden = np.tanh(self._scale * (values @ U[places]) + u)
        scores = np.tanh(hidden @ V + v)
        loss, slope = pairwise_exponential(scores, relevant)
        output_error = self._rate * slope * (1.0 - scores * scores)
        hidden_error = (V @ output_error) * (1.0 - hidden * hidden)
        for parameters, gradient in (
            (u, hidden_error),
            (V, hidden[:, None] * output_error),
            (v, output_error),
        ):
            parameters *= self._shrink
            parameters -= gradient
        self._scale *= self._shrink
        if abs(self._scale) < _LEAST_SCALE:
            self.settle()
        U[places] -= values[:, None] * (hidden_error / self._scale)
        return loss

    def settle(self) -> None:
        """Multiply U out."""
        self._coefs[0] *= self._scale
        self._scale = 1.0


def _entries(X: Any) -> Iterator[tuple[Any, Matrix]]:
    """Yield the places and values of each row, of sparse ones without their zeros."""
    if not sparse.issparse(X):
        for x in X:
            yield slice(None), x
        return
    for start, end in pairwise(X.indptr):
        yield X.indices[start:end], X.data[start:end]


def pairwise_exponential(scores: Matrix, relevant: NDArray[np.bool_]) -> tuple[float, Matrix]:
    """Return the loss of one row and its derivative with respect to the scores."""
    n_relevant = int(np.count_nonzero(relevant))
    n_pairs = n_relevant * (relevant.size - n_relevant)
    if n_pairs == 0:
        return 0.0, np.zeros_like(scores)
    powers = np.exp(np.where(relevant, -scores, scores))
    of_relevant = float(powers[relevant].sum())
    of_irrelevant = float(powers[~relevant].sum())
    slope = np.where(relevant, -powers * of_irrelevant, powers * of_relevant) / n_pairs
    return of_relevant * of_irrelevant / n_pairs, slope
