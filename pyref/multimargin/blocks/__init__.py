"""Classifiers that are stacked with a label ranker, by name; scikit-learn's do their work."""

from multimargin.blocks.forest import LabelForest
from multimargin.blocks.logistic import LabelLogistic
from multimargin.blocks.neighbours import LabelNeighbours
from multimargin.blocks.stack import BLOCKS, blocks_of

__all__ = ["BLOCKS", "LabelForest", "LabelLogistic", "LabelNeighbours", "blocks_of"]
