"""Baselines: multi-label methods that users compare with or already use in production.

Plain NumPy, SciPy and scikit-learn. Each file opens with the source, the problem and the defaults.
"""

from multimargin.baselines.bpmll import BPMLL
from multimargin.baselines.calibrated_label_ranking import CalibratedLabelRanking
from multimargin.baselines.label_powerset import LabelPowerset
from multimargin.baselines.mlknn import MLkNN
from multimargin.baselines.one_class_labels import WithOneClassLabels
from multimargin.baselines.rakel import RAkEL

__all__ = [
    "BPMLL",
    "CalibratedLabelRanking",
    "LabelPowerset",
    "MLkNN",
    "RAkEL",
    "WithOneClassLabels",
]
