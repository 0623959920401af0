"""Labels in any container, y, as the indicator that is learned from.

- `reading`: `read_targets`, the one function that reads the y of a fit or a score;
- `given`: what it is given as, an indicator, lists of names or classes;
- `listing`: names that rows list, of y and of the cells of tables;
- `names`: names of labels, one for what looks the same;
- `indicator`: label indicators, with unknown labels;
- `empty_rows`: rows without a label;
- `texts`: texts that list labels, where classes were expected.
"""
