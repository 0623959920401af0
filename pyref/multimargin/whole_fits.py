"""Fits that end with a whole model: the new one, or after an error the one that was there."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import BaseEstimator

from multimargin.notices import telling_once

_Fit = TypeVar("_Fit", bound=Callable[..., Any])

# Until the fit has ended: what is stored is a whole model.
_WHOLE = "_stored_model_is_whole"


def whole_or_unchanged(fit: _Fit) -> _Fit:
    """Let a fit that raises leave its estimator as it was, unless `is_whole` was said of it.

    Attributes are put back, not copied: a fit assigns new arrays and does not write into old ones.
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
    """Say that a fit has stored a whole model, which is kept whatever ends the fit, as Ctrl-C."""
    vars(estimator)[_WHOLE] = True
