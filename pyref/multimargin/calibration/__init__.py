"""Probabilities and label sets from held-out scores of any classifier.

- `calibrated`: `CalibratedClassifier`, one calibration for all labels, of a classifier or a stack;
  `thresholded`: `ThresholdedClassifier`, a threshold learned on held-out rows;
- `held_out`: the scores of the rows of each fold; `pairs`: the features of pairs of a row and a
label; `pooled`, `lift`, `bend`: the calibrations; `logistic`: the regression behind them;
- `head`: calibration and threshold on top of scores; `shortlists`: the same for the best labels of
each row.
"""

from multimargin.calibration.bend import BentCalibration
from multimargin.calibration.calibrated import CalibratedClassifier
from multimargin.calibration.lift import LabelLift, LiftedCalibration
from multimargin.calibration.pooled import PooledCalibration
from multimargin.calibration.shortlists import ShortlistClassifier
from multimargin.calibration.thresholded import ThresholdedClassifier

__all__ = [
    "BentCalibration",
    "CalibratedClassifier",
    "LabelLift",
    "LiftedCalibration",
    "PooledCalibration",
    "ShortlistClassifier",
    "ThresholdedClassifier",
]
