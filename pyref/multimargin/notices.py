"""Warnings that name the caller's line."""

import sys
import warnings

# Whose frames lie between the caller and what it is told.
_BETWEEN = {"multimargin", "sklearn", "joblib", "contextlib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as from the innermost line outside of this package and of scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] in _BETWEEN and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
