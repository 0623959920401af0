"""The problems of the pairwise family, and the solver of all."""
