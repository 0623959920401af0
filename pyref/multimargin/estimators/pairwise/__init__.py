"""The problems of the pairwise family, and their solver."""
