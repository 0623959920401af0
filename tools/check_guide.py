"""Checks a built guide: it asks nothing of the network, and nothing that it shows is missing.

python tools/check_guide.py docs/_build/html
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself. Links are followed by people, who may have a network.
FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
    "link": "href",
}
FETCHED_LINKS = {"stylesheet", "icon", "shortcut", "preload", "modulepreload", "preconnect"}
IN_STYLES = re.compile(r"(?:url\(|@import\s+)[\"']?([^\"')\s;]+)")


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and not FETCHED_LINKS & set((given.get("rel") or "").split()):
            return
        address = given.get(FETCHED.get(tag, ""))
        if address:
            self.addresses.append(address)


def faults(guide: Path) -> list[str]:
    """One line for each file that a page fetches from elsewhere or that is not there."""
    found = []
    for page in sorted([*guide.rglob("*.html"), *guide.rglob("*.css")]):
        text = page.read_text(encoding="utf-8")
        if page.suffix == ".html":
            parser = _Fetched()
            parser.feed(text)
            addresses = parser.addresses
        else:
            addresses = IN_STYLES.findall(text)
        for address in dict.fromkeys(addresses):
            parts = urlsplit(address)
            if parts.scheme == "data" or (not parts.path and not parts.netloc):
                continue
            name = page.relative_to(guide)
            if parts.scheme or parts.netloc:
                found.append(f"{name} fetches {address}")
            elif not (page.parent / unquote(parts.path)).exists():
                found.append(f"{name} shows {address}, which is not there")
    return found


if __name__ == "__main__":
    problems = faults(Path(sys.argv[1]))
    print("\n".join(problems) or "The guide needs no network, and nothing is missing.")
    raise SystemExit(bool(problems))
