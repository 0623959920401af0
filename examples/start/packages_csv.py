"""
A table to start with
=====================

Writes the table that the first pages read: a row for each of 2,335 Debian programs, with the words
of its description and its tags, such as "game graphical written-in-c". Run it as

    python examples/start/packages_csv.py packages.csv

or with a number of rows, drawn at random, after the name of the file.
"""

import csv
import sys

import numpy as np

from multimargin.datasets import load_debian_tags

data = load_debian_tags()
words, tags = np.asarray(data.feature_names), np.asarray(data.label_names)
n = int(sys.argv[2]) if len(sys.argv) > 2 else data.X.shape[0]
chosen = np.sort(np.random.default_rng(0).choice(data.X.shape[0], n, replace=False))
table = [
    (" ".join(words[data.X[[row]].nonzero()[1]]), " ".join(tags[data.Y[row] == 1]))
    for row in chosen
]
print(f"{n} programs; the first: {table[0][0][:60]} ...: {table[0][1]}")

# %%
# Without the name of a file, nothing is written.
if len(sys.argv) > 1:
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("description", "tags"), *table])
