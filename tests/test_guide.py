"""The pages of the guide agree with each other."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
LISTED = re.compile(
    r"^\.\. currentmodule:: (\S+)\n+\.\. autosummary::\n(?:   :.*\n)+\n((?:   \S+\n)+)",
    re.MULTILINE,
)


def listed(page: Path) -> list[tuple[str, str]]:
    """The classes and functions that a page lists, with their module."""
    found = LISTED.findall(page.read_text(encoding="utf-8"))
    return [(module, name) for module, names in found for name in names.split()]


def test_the_index_has_what_the_pages_of_the_modules_have() -> None:
    pages = set((DOCS / "api").glob("*.md")) - {DOCS / "api" / "index.md"}
    ours = [pair for page in pages for pair in listed(page) if "reference" not in pair[0]]
    assert len(ours) > 50
    assert sorted(listed(DOCS / "api" / "index.md")) == sorted(ours)
