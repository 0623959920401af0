"""The estimator to start with: it selects a ranker, calibrates, and sets the threshold.

- `task`: what is learned from, on which folds, and the time that there is;
- `settings`: the settings to select from;
- `judging`: the value of a setting, by its held-out scores;
- `search`: the order in which settings are tried, and what is kept of each;
- `fit`: rankers are chosen, stacked and calibrated by the scores of all labels,
  `shortlists`: by those of the best labels of each row;
- `estimator`: the class.
"""

from multimargin.estimators.label_ranker.estimator import LabelRankerCV

__all__ = ["LabelRankerCV"]
