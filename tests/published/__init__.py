"""Tests of the programs that print the papers' tables."""
