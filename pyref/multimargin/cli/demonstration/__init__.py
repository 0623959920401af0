"""The demonstration, ``multimargin demo`` or ``make demo``: label ranking beside one-vs-rest.

- `race`: tunes and fits both sides on the same folds;
- `tables`, `words`: what came out, in tables and in sentences;
- `picture`: ranking against choosing, over the grid of C.
"""
