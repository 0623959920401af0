"""The estimator to start with: it chooses, calibrates and cuts by cross-validation.

- `settings`: what is chosen among;
- `judging`: what a setting's held-out scores are worth;
- `search`: the order in which settings are tried, and what is kept of each;
- `estimator`: the class.
"""

from multimargin.estimators.label_ranker.estimator import LabelRankerCV

__all__ = ["LabelRankerCV"]
