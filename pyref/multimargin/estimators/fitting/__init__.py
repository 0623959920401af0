"""Progress, time limit, report and certificate of a fit."""
