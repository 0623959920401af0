"""Plain versions of every method, to be read beside the papers.

One file a method, in the papers' letters and with their equation numbers: the primal and the dual
problem as CVXPY models, the published loop in NumPy, and the way from the dual variables to the
model. They are slow on purpose; the fast solvers are tested against them.
"""
