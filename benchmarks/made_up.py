"""Made-up data of kinds that no data set at hand has."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import StandardScaler, normalize

from common import sized


def moderation(
    rows: int = 8000, labels: int = 6, share: float = 0.02, noise: float = 2.0
) -> tuple[Any, Any]:
    """Short texts, as of alerts or comments: six labels, each of 2 % of the rows; 89 % have none.

    Words have Zipf's frequencies, a label has 40 words and shares others, and noise weighs twice
    as much as they do.
    """
    words, own, rows = 24_082, 40, sized(rows)
    random = np.random.default_rng(0)
    frequency = 1.0 / (np.arange(words) + 6.0)
    lengths = np.maximum(5, random.lognormal(np.log(12.0), 0.6, rows).astype(int))
    chosen = random.choice(words, lengths.sum(), p=frequency / frequency.sum())
    places = (np.repeat(np.arange(rows), lengths), chosen)
    counts = sparse.csr_matrix((np.ones(len(chosen)), places), shape=(rows, words))
    counts.data = 1.0 + np.log(counts.data)
    X = normalize(counts)
    topics = np.zeros((words, labels))
    for topic in topics.T:
        topic[random.choice(np.arange(50, 3000), own, replace=False)] = 1.0
    topics += 0.5 * topics[:, :1]
    signal = X @ topics
    scores = signal / (noise * signal.std(axis=0)) + random.normal(size=signal.shape)
    return X, (scores > np.quantile(scores, 1.0 - share, axis=0)).astype(np.int64)


def columns(rows: int, features: int, labels: int) -> tuple[Any, Any]:
    """Dense columns of mean 0 and variance 1; rows have about four labels, by a noisy rule."""
    random, rows = np.random.default_rng(0), sized(rows)
    X = random.normal(size=(rows, features)) @ random.normal(size=(features, features))
    X = StandardScaler().fit_transform(X)
    scores = X @ random.normal(size=(features, labels)) / np.sqrt(features)
    scores += random.normal(size=(rows, labels)) * scores.std()
    share = min(0.5, 4.0 / labels)
    return X, (scores > np.quantile(scores, 1.0 - share)).astype(np.int64)


def corners(rows: int, features: int, labels: int) -> tuple[Any, Any]:
    """Dense columns of which labels see corners of two, waves and products, as in a register."""
    random, rows = np.random.default_rng(0), sized(rows)
    X = random.normal(size=(rows, features))
    cuts = random.normal(size=(60, 2)) * 0.7
    pairs = np.array([random.choice(features, 2, replace=False) for _ in cuts])
    inside = (X[:, pairs] > cuts).all(axis=2)
    along = X @ random.normal(size=(features, 30)) / np.sqrt(features)
    curved = np.c_[np.sin(2.0 * along[:, :10]), along[:, 10:20] * along[:, 20:], np.abs(along)]
    scores = sum(
        (kind @ random.normal(size=(kind.shape[1], labels)) for kind in (1.0 * inside, curved)),
        np.zeros((rows, labels)),
    )
    scores += 0.5 * random.normal(size=scores.shape) * scores.std()
    return X, _highest(scores, random)


def sales(rows: int, labels: int = 10) -> tuple[Any, Any]:
    """A table of names and numbers: towns, brands, days and kinds beside eight measurements.

    A label depends on each name, on corners of two measurements and a line along another, and on
    the kind together with a measurement. One number in twelve is missing.
    """
    random, rows = np.random.default_rng(0), sized(rows)

    def names(count: int) -> Any:
        share = 1.0 / np.arange(1, count + 1) ** 0.8
        return random.choice(count, rows, p=share / share.sum())

    towns, brands, days, kinds = max(rows // 8, 10), 300, 7, 5
    town, brand = names(towns), names(brands)
    day, kind = random.integers(days, size=rows), random.integers(kinds, size=rows)
    X = random.normal(size=(rows, 8))
    scores = 0.7 * random.logistic(size=(rows, labels))
    scores += 1.2 * random.normal(size=(towns, labels))[town]
    scores += 0.8 * random.normal(size=(brands, labels))[brand]
    scores += 0.5 * random.normal(size=(days, labels))[day]
    level = np.digitize(X[:, 0], [-0.5, 0.5])
    scores += 0.8 * random.normal(size=(kinds, 3, labels))[kind, level]
    for one in scores.T:
        j, k, along = random.choice(8, 3, replace=False)
        one += 1.2 * np.sign(X[:, j] * X[:, k]) + 0.7 * X[:, along]
    y = _highest(scores, random)
    X[random.random(X.shape) < 1.0 / 12.0] = np.nan
    table = pd.DataFrame(X, columns=[f"number {k}" for k in range(8)])
    for name, codes in {"town": town, "brand": brand, "day": day, "kind": kind}.items():
        table[name] = [f"{name} {code}" for code in codes]
    return table, y


def _highest(scores: Any, random: np.random.Generator) -> Any:
    """Return labels of the rows of highest scores, of 5 to 30 % of them."""
    shares = random.uniform(0.05, 0.3, size=scores.shape[1])
    cut = [np.quantile(one, 1.0 - share) for one, share in zip(scores.T, shares, strict=True)]
    return (scores > cut).astype(np.int64)
