"""Plain versions of every method, to be read alongside the papers.

One file per method, in its paper's letters and with its equation numbers: the primal and the dual
problem as CVXPY models, the published loop in NumPy, and the model that belongs to the dual
variables. They favour clarity over speed; the fast solvers are tested against them. Each file
begins with a dictionary of its symbols. `binary` has the two-class machines from which Rank-SVM and
Rank-CVM are derived, and `beyond` the weights and the restriction to the top of the ranking, which
go beyond Xu 2013; `exact` scales, solves and bounds all of them for the verification, and
`estimators` states the problem of an estimator's parameters, with its own code for kernels and
weights.

Papers are cited by name and year: Elisseeff & Weston 2001 (Rank-SVM), Chen et al. 2009
(Rank-HLapSVM), Usunier et al. 2009 (the top of the ranking), Xu 2012 (Rank-SVMz), Xu 2013
(Rank-CVM), Zhang & Yeung 2013 (MLRL, SSMLRL), Huang et al. 2015 (LLSF), Xu 2016 (Rank-LSVM), Tan et
al. 2019 (mlODM). The guide's bibliography has them in full.
"""
