"""The estimator to start with: it selects a ranker, calibrates, and sets the threshold.

- `task`: what is learned from, on which folds, and the time that there is;
- `settings`: the settings to select from;
- `judging`: the measures of a setting's held-out scores;
- `search`: the order in which settings are tried, and what is kept of each;
- `plan`: what a fit tries by the scores of all labels, `shortlists`: by the best of each row;
- `member`: the ranker of one view, and the blocks stacked with it;
- `steps`: rankers are chosen, and blocks stacked with them;
- `estimator`: the class, whose fit chooses, stacks and calibrates.
"""

from multimargin.estimators.label_ranker.estimator import LabelRankerCV

__all__ = ["LabelRankerCV"]
