"""Classifiers that are stacked with a label ranker, by name, on top of scikit-learn's."""

from multimargin.blocks.boosting import LabelBoosting
from multimargin.blocks.by_name import BLOCKS, blocks_of
from multimargin.blocks.discriminant import LabelDiscriminant
from multimargin.blocks.forest import LabelForest
from multimargin.blocks.kernel_ridge import LabelKernelRidge
from multimargin.blocks.logistic import LabelLogistic
from multimargin.blocks.neighbours import LabelNeighbours

__all__ = [
    "BLOCKS",
    "LabelBoosting",
    "LabelDiscriminant",
    "LabelForest",
    "LabelKernelRidge",
    "LabelLogistic",
    "LabelNeighbours",
    "blocks_of",
]
