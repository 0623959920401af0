"""Experiments: methods are fitted and measured on the same splits, and results survive a crash.

- `run`: `run_experiment`, which takes splits from `splits` and passes jobs to `parallel`;
- `evaluate`: one job, whose parameters `tuning` may choose;
- `identity`: which results belong to the same job; `progress`: lines about progress.
"""
