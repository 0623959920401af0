"""Experiments: methods are fitted and measured on the same splits, and results survive a crash.

- `run`: `run_experiment`, which asks `splits` for the splits and hands jobs to `parallel`;
- `evaluate`: one job, whose parameters `tuning` may choose;
- `identity`: which results belong to the same question; `progress`: what is told meanwhile.
"""
