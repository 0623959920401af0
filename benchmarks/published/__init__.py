"""The tables of the five papers: what they print, and what we measure. One file per paper."""
