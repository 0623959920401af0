"""Multi-label data: readers of the usual file formats and one data set that needs no file.

All readers return a `MultilabelData`: features ``X``, a 0/1 label indicator ``Y``, the names of
both, and named splits such as the official "train" and "test" parts.
"""

from multimargin.datasets.arff import load_arff
from multimargin.datasets.digits import load_digit_attributes
from multimargin.datasets.mat import load_mat
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.svmlight import load_svmlight

__all__ = ["MultilabelData", "load_arff", "load_digit_attributes", "load_mat", "load_svmlight"]
