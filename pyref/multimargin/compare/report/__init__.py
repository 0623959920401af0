"""Reports of results.

- `collect`: results as data frames; `label_measures`: measures of each label;
- `tables`: measures by method and data set; `significance`: wins, ties, losses and ranks;
  `conditions`: certificates, failures, parameters and data; `wording`: what these share;
- `table`: a table in Markdown, LaTeX and on the terminal;
- `figures`, `html`: the figures, and the page with everything.
"""
