"""Labels y in any container, as the indicator that models learn from.

- `reading`: `read_targets`, the one function that reads the y of a fit or a score;
- `given`: the form in which it is given, an indicator, lists of names or classes;
- `listing`: names listed by rows of y and by cells of tables;
- `names`: names of labels, the same for spellings that look the same;
- `indicator`: label indicators, with unknown labels;
- `empty_rows`: rows without a label;
- `texts`: texts that list labels, where classes were expected.
"""
