"""Features as estimators take them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from multimargin.checks.arrays import (
    MATRIX_OF_NUMBERS,
    check_readable,
    is_sound,
    naming,
    sound_features,
)
from multimargin.checks.memory import check_room_for_products
from multimargin.typing import MatrixLike


class TakesFeatures(BaseEstimator):  # type: ignore[misc]
    """Base of estimators that take a matrix of numbers, dense or CSR."""

    def _checked_features(self, X: MatrixLike, *, reset: bool) -> Any:
        check_room_for_products()
        # A transformation that takes long for a few rows.
        sound = is_sound(X)
        check_readable(X)
        with naming("X", MATRIX_OF_NUMBERS):
            checks = self._input_checks()
            X = validate_data(self, X, reset=reset, skip_check_array=sound, **checks)
        return X if sound else sound_features(X)

    def _input_checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
