"""Checks of arguments; errors name the argument, what was found and what is expected.

- `arrays`: features and matrices in general;
- `storage`: masks, and the indices of sparse matrices;
- `scores`: label scores;
- `weights`: weights of rows;
- `names`: hints at the nearest known name;
- `parameters`: constructor parameters;
- `paths`: paths of files to read.
"""
