"""Plain versions of every method, to be read beside the papers.

One file per method, in its paper's letters and with its equation numbers: the primal and the dual
problem as CVXPY models, the published loop in NumPy, and the way from the dual variables to the
model. They are slow on purpose; the fast solvers are tested against them. Each file begins with a
dictionary of its symbols. `binary` has the machines for two classes that Rank-SVM and Rank-CVM come
from, and `beyond` the weights and the top of the ranking that Xu 2013 has not; `exact` scales,
solves and bounds all of them for ``solver="exact"`` and the verification, and `estimators` has the
problem that an estimator's parameters state, with kernel and weights of its own.

Papers are cited by name and year: Elisseeff & Weston 2001 (Rank-SVM), Chen et al. 2009
(Rank-HLapSVM), Usunier et al. 2009 (the top of the ranking), Xu 2012 (Rank-SVMz), Xu 2013
(Rank-CVM), Zhang & Yeung 2013 (MLRL, SSMLRL), Huang et al. 2015 (LLSF), Xu 2016 (Rank-LSVM), Tan et
al. 2019 (mlODM). The guide's bibliography has them in full.
"""
