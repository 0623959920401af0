"""The estimator to start with: it selects a ranker, calibrates, and sets the threshold.

- `settings`: the settings to select from;
- `judging`: the measures of a setting's held-out scores;
- `search`: the order in which settings are tried, and what is kept of each;
- `estimator`: the class.
"""

from multimargin.estimators.label_ranker.estimator import LabelRankerCV

__all__ = ["LabelRankerCV"]
