"""Settings of the pairwise methods from which the search selects."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator

from multimargin.blocks.by_name import MOST_FEATURES
from multimargin.checks.parameters import check_choice, check_integer, check_real
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.label_ranker.task import Task, has_many_pairs
from multimargin.estimators.mlodm import MLODM
from multimargin.estimators.pairwise.label_weights import check_class_weight, weights_of_labels
from multimargin.estimators.pairwise.pair_weights import check_top_k
from multimargin.estimators.rank_lsvm import RankLSVM
from multimargin.estimators.rank_svm import RankSVM
from multimargin.kernels import KernelFunction, make_kernel
from multimargin.typing import ClassWeight, Features, Matrix

# With this many labels, a relevant one is ranked against the few hardest ones.
_MANY_LABELS, _HARDEST = 100, 20
# With more rows the model is linear.
_MOST_ROWS = 20_000
_LOWEST_C, _HIGHEST_C = 0.1, 1000.0
# Widths of a kernel that is a function of distances, times gamma="scale".
_WIDTHS = (1.0, 0.25, 4.0)
# Operations per second, a lower bound used to estimate the time of an epoch.
_OPERATIONS = 4e9

# The method of each loss, and its parameters besides those of a setting.
LOSSES: dict[str, tuple[type[PairwiseClassifier], dict[str, Any]]] = {
    "hinge": (RankSVM, {"bias": "penalized", "threshold": 0.0}),
    "squared_hinge": (RankLSVM, {"threshold": 0.0}),
    "margin_distribution": (MLODM, {"threshold": 0.0}),
}
# The values of "auto", only the first if there are many labels or few of them apply.
_LOSSES, _CLASS_WEIGHTS = ("squared_hinge", "margin_distribution"), (None, "sqrt", "balanced")


@dataclass(frozen=True, eq=False)
class Setting:
    """Parameters of one fit."""

    loss: str  # A key of `LOSSES`
    kernel: Any
    gamma: Any
    class_weight: Any  # Weights of the labels
    top_k: Any  # Number of irrelevant labels a relevant one is ranked against
    C: float  # Weight of the loss

    def make(self, **further: Any) -> PairwiseClassifier:
        """Return an unfitted estimator, with further parameters."""
        method, fixed = LOSSES[self.loss]
        own = dict(vars(self))
        del own["loss"]
        if not takes_top_k(self.loss):
            del own["top_k"]
        return method(**own, **fixed, **further)

    def parameters(self) -> dict[str, object]:
        """Return the parameters by name."""
        return dict(vars(self))

    def __str__(self) -> str:
        parts = [f"C={self.C:g}", f"loss={self.loss}"]
        parts.append(f"kernel={self.kernel}")
        if takes_gamma(self.kernel):
            width = self.gamma if isinstance(self.gamma, str) else f"{self.gamma:.4g}"
            parts.append(f"gamma={width}")
        if self.class_weight is not None:
            named = isinstance(self.class_weight, str)
            parts.append(f"class_weight={self.class_weight if named else '...'}")
        if self.top_k is not None:
            parts.append(f"top_k={self.top_k:g}")
        return " ".join(parts)


@dataclass(frozen=True)
class Grid:
    """Values of each parameter, the starting value of the search first."""

    losses: tuple[str, ...]
    kernels: tuple[Any, ...]
    gammas: tuple[tuple[Any, ...], ...]  # Of each kernel
    class_weights: tuple[Any, ...]
    top_ks: tuple[Any, ...]
    Cs: tuple[float, ...]  # Values of C, increasing

    def first(self, loss: str, kernel: str | KernelFunction) -> Setting:
        """Return the setting with which the search of a loss and kernel starts."""
        start = Setting(
            loss,
            kernel,
            self._gammas(kernel)[0],
            self.class_weights[0],
            self.top_ks[0],
            self.Cs[len(self.Cs) // 2],
        )
        return start if takes_top_k(loss) else replace(start, top_k=None)

    def others(self, name: str, setting: Setting) -> list[Setting]:
        """Return the setting with each other value of a parameter."""
        values = {
            "gamma": self._gammas(setting.kernel) if takes_gamma(setting.kernel) else (),
            "class_weight": self.class_weights,
            "top_k": self.top_ks if takes_top_k(setting.loss) else (),
        }[name]
        own = getattr(setting, name)
        return [replace(setting, **{name: value}) for value in values if value is not own]

    def _gammas(self, kernel: str | KernelFunction) -> tuple[Any, ...]:
        """Return the coefficients of a kernel."""
        place = next(place for place, one in enumerate(self.kernels) if one is kernel)
        return self.gammas[place]

    @property
    def most(self) -> int:
        """The largest number of settings that a search tries."""
        # Parameters other than the loss are tried with the best loss.
        gammas = max(self.gammas, key=len)
        others = self.kernels, gammas, self.class_weights, self.top_ks
        return (len(self.losses) + sum(len(values) - 1 for values in others)) * len(self.Cs)


def grid_of(model: BaseEstimator, task: Task, X: Features, seconds: float) -> Grid:
    """Return the grid of a `LabelRankerCV` for a view, and the seconds of "rbf"."""
    n_labels = task.targets.indicator.shape[1]
    kernels = kernels_of(model.kernel, X, n_labels, seconds)
    return Grid(
        losses_of(model.loss, task),
        kernels,
        tuple(gammas_of(model.gamma, X, kernel, task.sample_weight) for kernel in kernels),
        class_weights_of(model.class_weight, task),
        top_ks_of(model.top_k, n_labels),
        Cs_of(model.Cs),
    )


def takes_gamma(kernel: str | KernelFunction) -> bool:
    """Return whether a kernel has a coefficient."""
    return isinstance(kernel, str) and kernel in ("rbf", "laplacian", "poly", "sigmoid")


def takes_top_k(loss: str) -> bool:
    """Return whether a loss can be restricted to the hardest labels of a row."""
    return loss in ("hinge", "squared_hinge")


def is_auto(value: object) -> bool:
    """Return whether a parameter is "auto"; arrays are not."""
    return isinstance(value, str) and value == "auto"


def check_losses(loss: object) -> tuple[str, ...]:
    """Return the losses named by a parameter, none for "auto"."""
    if is_auto(loss):
        return ()
    return tuple(check_choice("loss", name, LOSSES) for name in values_of("loss", loss))


def losses_of(loss: object, task: Task) -> tuple[str, ...]:
    """Return the losses of a parameter for the data of a fit."""
    one = has_many_pairs(task.targets) or task.is_mostly_empty
    return check_losses(loss) or (_LOSSES[:1] if one else _LOSSES)


def values_of(name: str, value: object) -> tuple[Any, ...]:
    """Return the values listed by a parameter, or its single value."""
    if not isinstance(value, list | tuple):
        return (value,)
    if not value:
        raise ValueError(f"{name} is empty; expected at least one value.")
    return tuple(value)


def kernels_of(
    kernel: str | KernelFunction, X: Features, n_labels: int, seconds: float
) -> tuple[str | KernelFunction, ...]:
    """Return the kernels of a parameter for features, and the seconds of a search."""
    if callable(kernel) or kernel != "auto":
        return (kernel,)
    n, d = X.shape
    # The first epochs on three folds and on all rows, which are not subject to a time limit.
    foretold = 2.4 * n**2 * (d + 2.0 * n_labels) / _OPERATIONS
    if sparse.issparse(X) or d > MOST_FEATURES or n > _MOST_ROWS or foretold > seconds:
        return ("linear",)
    return ("rbf", "laplacian", "linear")


def gammas_of(
    gamma: object, X: Features, kernel: str | KernelFunction, sample_weight: Matrix | None
) -> tuple[str | float, ...]:
    """Return the coefficients of a parameter for a kernel."""
    gammas: tuple[Any, ...] = ("scale",)
    if gamma is not None:
        gammas = values_of("gamma", gamma)
    elif kernel in ("rbf", "laplacian"):
        scale = make_kernel(kernel, X, gamma="scale", sample_weight=sample_weight).gamma
        gammas = tuple(width * scale for width in _WIDTHS)
    return gammas if takes_gamma(kernel) else gammas[:1]


def Cs_of(Cs: int | ArrayLike) -> tuple[float, ...]:
    """Return the values of C of a parameter, increasing."""
    if np.ndim(Cs) == 0 or not isinstance(Cs, Sequence | np.ndarray):
        number = check_integer("Cs", Cs, at_least=1, at_most=1000)
        return tuple(float(f"{C:.6g}") for C in np.geomspace(_LOWEST_C, _HIGHEST_C, number))
    if len(Cs) == 0:
        raise ValueError("Cs is empty; expected at least one number above 0.")
    return tuple(np.unique([check_real("Cs", C, above=0.0) for C in Cs]).tolist())


def class_weights_of(
    class_weight: ClassWeight | Sequence[ClassWeight], task: Task
) -> tuple[ClassWeight, ...]:
    """Return the label weights of a parameter, with their mean for an additional label."""
    if is_auto(class_weight):
        return _CLASS_WEIGHTS[:1] if task.is_mostly_empty else _CLASS_WEIGHTS
    found = []
    for value in values_of("class_weight", class_weight):
        one = value
        check_class_weight(one)
        named = one is None or isinstance(one, str)
        if not named:
            one = np.asarray(weights_of_labels(one, task.targets))
            one = np.append(one, one.mean()) if task.empty_label else one
        found.append(one)
    return tuple(found)


def top_ks_of(top_k: object, n_labels: int) -> tuple[float | None, ...]:
    """Return the numbers or shares of hardest labels of a parameter."""
    if is_auto(top_k):
        return (_HARDEST, 0.25) if n_labels >= _MANY_LABELS else (None, 0.25)
    values = values_of("top_k", top_k)
    for value in values:
        check_top_k(value)
    return values
