"""Statistics of results: does one method differ from another?

- `ranks`: average ranks, the tests of Friedman, Nemenyi and Wilcoxon;
- `win_tie_loss`: counts by paired t-tests; `differences`: paired differences without rounding.
"""
