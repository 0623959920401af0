"""
Many machines
=============

The rows lie in parts; a cluster of dask.distributed fits one model to all of them.

Learn that the optimum and the certificate are those of one machine, how many rounds it takes, and
what travels: the weights of a linear model, never rows (pip install multimargin[dask]). The
cluster here is two threads of this process; ``Client("tcp://scheduler:8786")`` finds a real one.
"""

import numpy as np
from dask import delayed
from distributed import Client
from matplotlib import pyplot
from sklearn.feature_extraction.text import TfidfTransformer

import multimargin.dask
from multimargin import RankSVM
from multimargin.datasets import load_debian_tags

counts, Y = load_debian_tags().split("train")
X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
parts = np.array_split(np.arange(X.shape[0]), 4)
X_parts = [delayed(X[rows]) for rows in parts]
Y_parts = [delayed(Y[rows]) for rows in parts]

model = RankSVM(C=10.0, kernel="linear", bias="none", random_state=0)
with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
    multimargin.dask.fit(model, X_parts, Y_parts, client)
history = model.history_
alone = RankSVM(C=10.0, kernel="linear", bias="none", random_state=0).fit(X, Y)
print(f"four parts:   {model.n_iter_:3d} rounds, objective {model.objective_:.4f}")
print(f"one machine:  {alone.n_iter_:3d} epochs, objective {alone.objective_:.4f}")
print(f"{history['bytes'][-1] / 1e6:.1f} MB went back and forth")
assert abs(model.objective_ - alone.objective_) <= 2e-3 * alone.objective_

# %%
# Between two rounds all workers wait for the slowest, so it is their number that counts.
figure, ax = pyplot.subplots(figsize=(6.5, 3.2), layout="constrained")
for name, of in {"four parts": model, "one machine": alone}.items():
    gaps = 1.0 - of.history_["dual"] / of.history_["primal"]
    ax.plot(of.history_["epoch"], gaps, marker="o", label=name)
ax.axhline(model.tol, color="0.6", linestyle=":")
ax.set(yscale="log", xlabel="rounds or epochs", ylabel="relative duality gap")
ax.legend(frameon=False)
pyplot.show()
