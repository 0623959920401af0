"""Baselines: the multi-label methods that the papers compare with, and others that users expect.

Plain NumPy, SciPy and scikit-learn. Each file opens with the source, the problem and the defaults.
"""

from multimargin.baselines.adtree import ADTree
from multimargin.baselines.bpmll import BPMLL
from multimargin.baselines.brknn import BRkNN
from multimargin.baselines.calibrated_label_ranking import CalibratedLabelRanking
from multimargin.baselines.cnmf import CNMF
from multimargin.baselines.label_powerset import LabelPowerset
from multimargin.baselines.label_propagation import MLGRF, MLLGC
from multimargin.baselines.lead import LEAD
from multimargin.baselines.lift import LIFT
from multimargin.baselines.mlknn import MLkNN
from multimargin.baselines.rakel import RAkEL

__all__ = [
    "BPMLL",
    "CNMF",
    "LEAD",
    "LIFT",
    "MLGRF",
    "MLLGC",
    "ADTree",
    "BRkNN",
    "CalibratedLabelRanking",
    "LabelPowerset",
    "MLkNN",
    "RAkEL",
]
