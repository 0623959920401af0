"""The estimator to start with: it selects a ranker, calibrates, and sets the threshold.

- `task`: the data of a fit, its folds and its time;
- `settings`: the settings to select from;
- `judging`: the value of a setting, by its held-out scores;
- `search`: the order in which settings are tried, and the records of each;
- `fit`: rankers are chosen, stacked and calibrated on the scores of all labels, `shortlists`: on
those of the best labels of each row;
- `estimator`: the class.
"""

from multimargin.estimators.label_ranker.estimator import LabelRankerCV

__all__ = ["LabelRankerCV"]
