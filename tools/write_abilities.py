"""Writes the table of abilities into its page.

python tools/write_abilities.py docs/abilities.md
"""

import re
import sys
from pathlib import Path

from multimargin.methods import METHODS
from multimargin.methods.abilities import abilities_table

TABLE = re.compile(r"^\| method \| loss .*?(?=^$|\Z)", re.MULTILINE | re.DOTALL)

if __name__ == "__main__":
    page = Path(sys.argv[1])
    text, found = TABLE.subn(f"{abilities_table(METHODS)}\n", page.read_text(encoding="utf-8"))
    if found != 1:
        raise SystemExit(f"{page} has {found} tables of abilities; expected one.")
    page.write_text(text, encoding="utf-8")
