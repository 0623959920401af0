"""Thresholds t(x): the relevant labels of x are those whose score f_k(x) lies above t(x).

A threshold is learned after the scores, which may come from any model. `ScoresThreshold`
(Elisseeff & Weston 2001, as Xu 2013 restates it after eq. (27)) and `FeaturesThreshold` (Chen et
al. 2009, section 3.4) depend on the row, `LabelsThreshold` (SCut) on the label, and
`CountThreshold` (RCut) lets the same number of labels pass in each row; `F1Threshold` is the same
for all rows and labels, `RecallGuarantee` and `PrecisionGuarantee` keep a promise on new rows, and
a constant needs no learning.
"""

from multimargin.thresholds.base import Threshold, over_labels
from multimargin.thresholds.constant import ConstantThreshold
from multimargin.thresholds.count import CountThreshold
from multimargin.thresholds.expected import ExpectedF1Threshold
from multimargin.thresholds.f1 import F1Threshold
from multimargin.thresholds.features import FeaturesThreshold
from multimargin.thresholds.guarantees import PrecisionGuarantee, RecallGuarantee
from multimargin.thresholds.labels import LabelsThreshold
from multimargin.thresholds.make import make_threshold
from multimargin.thresholds.scores import ScoresThreshold
from multimargin.thresholds.shrunken import ShrunkenThreshold

__all__ = [
    "ConstantThreshold",
    "CountThreshold",
    "ExpectedF1Threshold",
    "F1Threshold",
    "FeaturesThreshold",
    "LabelsThreshold",
    "PrecisionGuarantee",
    "RecallGuarantee",
    "ScoresThreshold",
    "ShrunkenThreshold",
    "Threshold",
    "make_threshold",
    "over_labels",
]
