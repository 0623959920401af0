"""Build the data of `multimargin.datasets.load_debian_tags`.

    python tools/build_debian_tags.py debian-tags.jsonl.gz

The input has one package of Debian 12 (main) a line, as JSON with the keys package, source, text
(the English description) and tags (debtags facets such as "use::editing"). Only counts of words and
the tags are kept, no text.

A row is a program: the first package of each source with the tag role::program that has at least 7
facets, since those with few are mostly half tagged. Left out are role::*, which says nothing of a
program, and *::TODO, which marks facets that nobody has chosen yet. Labels are the facets of at
least 50 of these programs, features the words in at least 5 of their descriptions, without English
stop words. A third of the rows, drawn by a fixed seed, is the test part.
"""

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import multimargin.datasets

TARGET = Path(multimargin.datasets.__file__).parent / "debian_tags.npz"
FEWEST_FACETS, FEWEST_PROGRAMS, FEWEST_DESCRIPTIONS = 7, 50, 5
# Words of two and more characters, and names such as c++ and k-means.
WORD = r"(?u)\b[a-zA-Z][a-zA-Z+#-]+\b"


def facets(package: dict[str, Any]) -> set[str]:
    """Return the tags that say what a program is."""
    return {
        tag for tag in package["tags"] if not (tag.startswith("role::") or tag.endswith("::TODO"))
    }


def programs(path: Path) -> list[dict[str, Any]]:
    """Return the chosen packages, by name."""
    first_of_source: dict[str, dict[str, Any]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for package in map(json.loads, lines):
            if "role::program" in package["tags"]:
                first_of_source.setdefault(package["source"], package)
    chosen = [p for p in first_of_source.values() if len(facets(p)) >= FEWEST_FACETS]
    return sorted(chosen, key=lambda package: package["package"])


def main() -> None:
    """Write the archive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path, help="debian-tags.jsonl.gz")
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    arguments = parser.parse_args()
    chosen = programs(arguments.packages)
    n_programs = Counter(tag for package in chosen for tag in facets(package))
    labels = sorted(tag for tag, count in n_programs.items() if count >= FEWEST_PROGRAMS)
    counter = CountVectorizer(min_df=FEWEST_DESCRIPTIONS, stop_words="english", token_pattern=WORD)
    X = counter.fit_transform(package["text"] for package in chosen)
    X.sort_indices()
    order = np.random.RandomState(0).permutation(len(chosen))
    n_train = 2 * len(chosen) // 3
    np.savez_compressed(
        arguments.output,
        data=X.data.astype(np.uint8),
        indices=X.indices.astype(np.int16),
        indptr=X.indptr.astype(np.int32),
        shape=np.array(X.shape),
        Y=np.array([[tag in facets(p) for tag in labels] for p in chosen], dtype=np.uint8),
        feature_names=counter.get_feature_names_out().astype(np.str_),
        label_names=np.array(labels),
        sample_names=np.array([package["package"] for package in chosen]),
        train_idx=np.sort(order[:n_train]).astype(np.int16),
        test_idx=np.sort(order[n_train:]).astype(np.int16),
    )
    size = arguments.output.stat().st_size
    print(f"{arguments.output}: {X.shape}, {len(labels)} labels, {size:,} bytes")


if __name__ == "__main__":
    main()
