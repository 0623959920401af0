"""Random problems by a seed: labels that the features explain, and labels that they do not."""

import numpy as np

from multimargin import _rust


def noisy_linear_problem(seed, n, d, q, *, noise=1.0, cut=0.3, rank=None):
    """Gaussian features, and labels where X W + noise E is above `cut`; W of a rank if given."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    if rank is None:
        scores = X @ random.normal(size=(d, q))
    else:
        scores = X @ (random.normal(size=(d, rank)) @ random.normal(size=(rank, q)))
    if noise:
        scores = scores + noise * random.normal(size=(n, q))
    return X, (scores > cut).astype(int)


def unrelated_problem(seed, n, d, q, *, share=0.4):
    """Gaussian features, and labels drawn without them, each relevant with probability `share`."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (random.random((n, q)) < share).astype(int)


def random_covariance(random, q, rank=None):
    """A symmetric positive semidefinite matrix of trace 1, of full rank unless it is given."""
    S = random.normal(size=(q, q if rank is None else rank))
    covariance = S @ S.T / np.trace(S @ S.T)
    return 0.5 * (covariance + covariance.T)


def one_row(scores, relevant, loss):
    """Labels and scores of one row: relevant labels first, a zero label last."""
    known = len(scores) - (loss == "zero_label_hinge")
    return (np.arange(known) < relevant).astype(np.uint8)[None], np.asarray(scores)[None]


def loss_value(scores, relevant, **loss):
    """The compiled loss of one row."""
    return _rust.total_loss(*one_row(scores, relevant, loss["loss"]), np.ones(1), **loss)


def loss_prox(centre, relevant, lam, weights=None, top=None, **loss):
    """The compiled proximal map of one row's loss."""
    indicator, centre = one_row(centre, relevant, loss["loss"])
    if weights is not None:
        irrelevant = np.ones(indicator.shape[1] - relevant)
        weights = np.concatenate([weights, irrelevant])
    return _rust.loss_prox(indicator, centre, lam, label_weights=weights, top=top, **loss)[0]
