"""Checks of what callers pass in; errors name the argument, what was found and what is expected.

- `arrays`: features and matrices in general;
- `given`: what labels are given as, an indicator, lists of names or classes;
- `labels`: label indicators and label scores;
- `targets`: what an estimator is fitted to, label indicators or one class per row;
- `texts`: texts that list labels, where classes were expected;
- `weights`: weights of rows;
- `label_names`: names of labels, one for what looks the same;
- `names`: hints at the nearest known name;
- `parameters`: constructor parameters;
- `paths`: paths of files to read.
"""
