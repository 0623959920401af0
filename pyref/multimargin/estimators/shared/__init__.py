"""Parts that several estimators share.

- `pairwise`: the estimators of the pairwise family but for their losses; `problem` and
  `engine`: their problem, and the compiled solvers;
- `relationships`: what MLRL and SSMLRL have in common;
- `kernel_expansion`: models that are an expansion over training rows; `label_scoring`: from scores
  to label sets and class labels;
- `certificate`: the objective of the model that is returned; `progress`: callbacks and verbose;
  `protocol`: fits that Ctrl-C may end; `elsewhere`: fits whose problem is solved elsewhere.
"""
