"""Experiments: methods are fitted and measured on the same splits, and results survive a crash.

- `run`: `run_experiment`, which asks `splits` for the splits, `baselines` for the methods, and
  hands jobs to `parallel`; `evaluate`: one job, with `environment`;
- `identity`: which results belong to the same question; `progress`: what is shown meanwhile;
- `one_class_labels`: labels with one value in the training rows.
"""
