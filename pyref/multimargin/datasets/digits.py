"""Handwritten digits with semantic labels: a real multi-label problem that needs no download."""

import numpy as np
from sklearn.datasets import load_digits

from multimargin.datasets.multilabel_data import MultilabelData

# Each label and the digits for which it is relevant; the docstring below gives the reasons.
_ATTRIBUTES: dict[str, tuple[int, ...]] = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "multiple of three": (0, 3, 6, 9),
    "greater than four": (5, 6, 7, 8, 9),
    "closed loop": (0, 6, 8, 9),
    "perfect square": (0, 1, 4, 9),
    "Fibonacci number": (0, 1, 2, 3, 5, 8),
}


def load_digit_attributes() -> MultilabelData:
    """Load scikit-learn's handwritten digits with seven attributes of the digit as labels.

    Returns
    -------
    MultilabelData
        1797 instances, 64 pixels as features (stored as 0..16, divided by 16 to lie in [0, 1]), and
        the seven labels below. Split "train" is the first 1198 rows (two thirds), "test" the last
        599, in the order of the original file, which is not sorted by digit.

    Notes
    -----
    ==================  ================  =====================================================
    label               digits            remark
    ==================  ================  =====================================================
    even                0 2 4 6 8
    prime               2 3 5 7
    multiple of three   0 3 6 9           0 = 3 x 0 counts
    greater than four   5 6 7 8 9
    closed loop         0 6 8 9           a property of the shape; 4 is left out because in
                                          handwriting it is often open
    perfect square      0 1 4 9           0 = 0 x 0 counts
    Fibonacci number    0 1 2 3 5 8       0 counts as the first of the sequence
    ==================  ================  =====================================================

    Every digit has between two and five relevant labels, hence every instance has relevant and
    irrelevant ones, and no two digits have the same label set. The labels depend on the digit
    alone: this is a problem for trying methods out, not one to rank them by.

    Examples
    --------
    >>> load_digit_attributes()
    MultilabelData('digit attributes', 1797 samples, 64 dense features, 7 labels, \
splits={'train': 1198, 'test': 599})
    """
    digits = load_digits()
    Y = np.column_stack([np.isin(digits.target, relevant) for relevant in _ATTRIBUTES.values()])
    n = len(digits.target)
    train, test = np.split(np.arange(n), [2 * n // 3])
    return MultilabelData(
        X=digits.data / 16.0,
        Y=Y.astype(np.uint8),
        feature_names=digits.feature_names,
        label_names=tuple(_ATTRIBUTES),
        name="digit attributes",
        splits={"train": train, "test": test},
    )
