"""Made-up data of kinds that no data set at hand has."""

from typing import Any

import numpy as np
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
    shares = random.uniform(0.05, 0.3, size=labels)
    cut = [np.quantile(one, 1.0 - share) for one, share in zip(scores.T, shares, strict=True)]
    return X, (scores > cut).astype(np.int64)
