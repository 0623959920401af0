"""Fits that end with a complete model: the new one, or after an error the previous one."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import BaseEstimator

from multimargin.notices import telling_once

_Fit = TypeVar("_Fit", bound=Callable[..., Any])

# Set until the fit has ended if a complete model is stored.
_WHOLE = "_stored_model_is_whole"


def whole_or_unchanged(fit: _Fit) -> _Fit:
    """Make a fit that raises leave its estimator unchanged, unless it has called `is_whole`.

    Attributes are restored, not copied: a fit assigns new arrays and does not write into old ones.
    A fit gives each warning once, whatever it fits inside.
    """

    @wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        before.pop(_WHOLE, None)
        vars(self).pop(_WHOLE, None)
        try:
            return telling_once(fit, self, *args, **kwargs)
        except BaseException:
            if _WHOLE not in vars(self):
                vars(self).clear()
                vars(self).update(before)
            raise
        finally:
            vars(self).pop(_WHOLE, None)

    return cast(_Fit, wrapped)


def is_whole(estimator: BaseEstimator) -> None:
    """Note that a fit has stored a complete model, which is kept even if the fit is interrupted."""
    vars(estimator)[_WHOLE] = True
