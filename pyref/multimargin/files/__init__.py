"""Files: checks of their paths, how they are written, and what a spreadsheet makes of them.

- `paths`: checks of paths to read;
- `writing`: checks of paths to write; files that are written whole or not at all;
- `spreadsheets`: text that a spreadsheet does not take for a formula.
"""
