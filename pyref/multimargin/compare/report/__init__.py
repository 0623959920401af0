"""Reports of results.

- `collect`: results as data frames;
- `tables`: measures by method and data set; `significance`: wins, ties, losses and ranks;
  `conditions`: certificates, failures, parameters and data; `wording`: what these share;
- `table`: a table in Markdown; `markdown`: the document with everything.
"""
