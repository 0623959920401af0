"""Options of solvers that few users need, one object per family, passed as `options`.

They are parameters like others: ``model.set_params(options__ridge=0.03)`` and the grids of
`sklearn.model_selection.GridSearchCV` reach them where `options` is given.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.checks.parameters import check_flag, check_real
from multimargin.kernels import is_indefinite

Options = TypeVar("Options", "FrankWolfeOptions", "RelationshipOptions")


@dataclass(repr=False, eq=False)
class FrankWolfeOptions(BaseEstimator):  # type: ignore[misc]
    """Options of `RankCVM` with ``solver="frank-wolfe"``.

    Parameters
    ----------
    epsilon : float or None, default=None
        The published stopping rule instead of `tol`: an absolute bound on the distance of the
        objective to the optimum, positive. Xu 2013 has 1e-3, which is often more than the optimum
        itself. None stops at the relative gap `tol`.

    Examples
    --------
    >>> from multimargin import RankCVM
    >>> from multimargin.estimators import FrankWolfeOptions
    >>> published = FrankWolfeOptions(epsilon=1e-3)
    >>> model = RankCVM(solver="frank-wolfe", max_iter=50, options=published)
    >>> model.set_params(options__epsilon=1e-4).options
    FrankWolfeOptions(epsilon=0.0001)
    """

    epsilon: float | None = None

    def check(self) -> None:
        """Raise a ValueError that names an invalid option."""
        if self.epsilon is not None:
            check_real("options.epsilon", self.epsilon, above=0.0)


@dataclass(repr=False, eq=False)
class RelationshipOptions(BaseEstimator):  # type: ignore[misc]
    """Options of `MLRL` and `SSMLRL`.

    Parameters
    ----------
    fixed_covariance : array-like of shape (q, q) or None, default=None
        A symmetric positive semidefinite label covariance to use instead of learning one: problem
        (8), for `SSMLRL` problem (15).
    ridge : float, default=1e-3
        For ``solver="alternating"``: each sub-problem is solved with (1 - ridge) Omega +
        ridge I/q, so that a singular Omega stays usable. Between 0 and 1.
    keep_rows : bool, default=False
        With a linear kernel, keep the training rows of the expansion and the dual variables as well
        as the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin import MLRL
    >>> from multimargin.estimators import RelationshipOptions
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> q = Y.shape[1]
    >>> independent = RelationshipOptions(fixed_covariance=np.eye(q) / q)
    >>> MLRL(lam=0.001, options=independent).fit(X, Y).status_
    'converged'
    """

    fixed_covariance: Any = None
    ridge: float = 1e-3
    keep_rows: bool = False

    def check(self) -> None:
        """Raise a ValueError that names an option that is not as documented."""
        if check_real("options.ridge", self.ridge, at_least=0.0) > 1.0:
            raise ValueError(f"options.ridge is {self.ridge!r}; expected a number between 0 and 1.")
        check_flag("options.keep_rows", self.keep_rows)

    def covariance(self, q: int) -> NDArray[np.float64] | None:
        """Return the fixed covariance of q labels, checked; None if it is to be learned."""
        if self.fixed_covariance is None:
            return None
        try:
            covariance = np.array(self.fixed_covariance, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"options.fixed_covariance is {self.fixed_covariance!r}; expected None or a matrix "
                f"of shape ({q}, {q})."
            ) from error
        if covariance.shape != (q, q):
            raise ValueError(
                f"options.fixed_covariance has shape {covariance.shape}; expected ({q}, {q}), one "
                "row and column per label."
            )
        scale = float(np.abs(covariance).max())
        symmetric = np.isfinite(scale) and np.allclose(
            covariance, covariance.T, rtol=0.0, atol=1e-10 * scale
        )
        if not symmetric or is_indefinite(covariance) or scale == 0.0:
            raise ValueError(
                "options.fixed_covariance is not a nonzero symmetric positive semidefinite matrix; "
                "expected one, such as the label_covariance_ of a fitted model."
            )
        return covariance


def checked_options(options: Options | None, kind: type[Options]) -> Options:
    """Return the options of a constructor, checked; the defaults for None."""
    if options is None:
        return kind()
    if not isinstance(options, kind):
        raise ValueError(f"options is {options!r}; expected None or a {kind.__name__}.")
    options.check()
    return options
