"""Methods that the papers compare with and that only their tables need.

Plain NumPy, SciPy and scikit-learn. Each file opens with the source, the problem and the defaults.
What users take in practice is in `multimargin.baselines`.
"""

from published.rivals.adtree import ADTree
from published.rivals.brknn import BRkNN
from published.rivals.cnmf import CNMF
from published.rivals.label_propagation import MLGRF, MLLGC
from published.rivals.lead import LEAD
from published.rivals.lift import LIFT

__all__ = ["CNMF", "LEAD", "LIFT", "MLGRF", "MLLGC", "ADTree", "BRkNN"]
