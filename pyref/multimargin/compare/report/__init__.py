"""Reports of results.

- `collect`: results as data frames; `label_measures`: measures of each label;
- `tables`: what the tables hold; `table`: a table in Markdown, LaTeX and on the terminal;
- `figures`, `html`: the figures, and the page with everything.
"""
