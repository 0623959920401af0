"""
A table to start with
=====================

Writes packages.csv, which the first pages read: a row for each of 2,335 Debian programs, with the
words of its description and its tags, such as "game graphical written-in-c".

    python examples/start/packages_csv.py [FILE] [ROWS]
"""

import csv
import sys

import numpy as np

from multimargin.datasets import load_debian_tags

data = load_debian_tags()
path = sys.argv[1] if len(sys.argv) > 1 else "packages.csv"
rows = int(sys.argv[2]) if len(sys.argv) > 2 else data.X.shape[0]
words, tags = np.asarray(data.feature_names), np.asarray(data.label_names)
chosen = np.random.default_rng(0).choice(data.X.shape[0], rows, replace=False)
with open(path, "w", encoding="utf-8", newline="") as file:
    table = csv.writer(file)
    table.writerow(["description", "tags"])
    for row in np.sort(chosen):
        description = " ".join(words[data.X[[row]].nonzero()[1]])
        table.writerow([description, " ".join(tags[data.Y[row] == 1])])
print(f"{path}: {rows} programs with words of their descriptions and their tags")
