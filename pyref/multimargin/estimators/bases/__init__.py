"""Bases of estimators, which several share."""
