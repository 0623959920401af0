"""Works cited by name and year are in `docs/references.bib`, and its entries are cited."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from pybtex.database import Entry, Person, parse_file

ROOT = Path(__file__).parents[1]
ENTRIES = dict(parse_file(str(ROOT / "docs" / "references.bib"), "bibtex").entries.items())
# Where text cites; and what is built.
CITING = {
    "docs": "*.md",
    "pyref/multimargin": "*.py",
    "rust": "*.rs",
    "examples": "*.py",
    "benchmarks": "*.py",
    "tests": "*.py",
    "paper": "*.typ",
}
BUILT = {"_build", "generated", "gallery", "target"}
MONTHS = {"January", "February", "March", "April", "May", "June", "July", "August"} | {
    "September",
    "October",
    "November",
    "December",
}
NAME = r"(?:(?:De|Van|Von) )?[^\W\d_a-zß-ÿ][\w-]+"
YEAR = re.compile(r"(,?) \(?((?:19|20)\d\d)\b")
# What the text before a year ends with, if it is a citation.
ENDS = re.compile(
    rf"((?:{NAME}, ){{0,20}}(?:{NAME},? (?:and|&) )?{NAME}|{NAME}(?:, {NAME}){{0,20}} et al\.)"
    r"(?:['’]s)?$"
)
LONGEST = 200
KEY = re.compile(r"\{cite:alp\}`(\w+)`|@([a-z]+\d{4}[a-z]*)")
# What stands between two words where a comment or a docstring goes on in the next line.
LINE_BREAK = re.compile(r"\s*\n\s*(?:(?:///?!?|#|>)\s)?\s*")


def plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


def family(person: Person) -> str:
    return " ".join((*person.prelast_names, *person.last_names))


def short_name(entry: Entry) -> str:
    """The name that stands before the year, such as "Chen et al."."""
    if "shortauthor" in entry.fields:
        return str(entry.fields["shortauthor"])
    families = [family(person) for person in entry.persons["author"]]
    return " & ".join(families) if len(families) < 3 else f"{families[0]} et al."


def files() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "CHANGELOG.md")
    for folder, pattern in CITING.items():
        for path in sorted((ROOT / folder).rglob(pattern)):
            if not BUILT & set(path.parts) and path != Path(__file__):
                yield path


def citations(text: str) -> list[tuple[str, str, str]]:
    """Name, comma or nothing, and year of everything that looks like a citation."""
    text = LINE_BREAK.sub(" ", text)
    found = []
    for year in YEAR.finditer(text):
        before = text[max(0, year.start() - LONGEST) : year.start()]
        ends = ENDS.search(before)
        if ends and ends[1] not in MONTHS and ends[1].upper() != ends[1]:
            found.append((ends[1], year[1], year[2]))
    return found


@cache
def short_names() -> dict[str, str]:
    return {f"{short_name(entry)} {entry.fields['year']}": key for key, entry in ENTRIES.items()}


def test_short_names_tell_works_apart() -> None:
    assert len(short_names()) == len(ENTRIES)


@pytest.mark.parametrize("key", ENTRIES)
def test_key_is_the_first_author_and_the_year(key: str) -> None:
    entry = ENTRIES[key]
    first = re.sub(r"\W", "", plain(family(entry.persons["author"][0])))
    assert re.fullmatch(rf"{first}{entry.fields['year']}[a-z]*", key)


def test_every_citation_has_an_entry() -> None:
    known = short_names()
    unknown = [
        f"{path.relative_to(ROOT)}: {name}{comma} {year}"
        for path in files()
        for name, comma, year in citations(path.read_text(encoding="utf-8"))
        if comma or f"{name.replace(' and ', ' & ')} {year}" not in known
    ]
    assert unknown == []


def test_every_entry_is_cited() -> None:
    known = short_names()
    cited = set()
    for path in files():
        text = path.read_text(encoding="utf-8")
        cited |= {a or b for a, b in KEY.findall(text)}
        cited |= {
            known.get(f"{name.replace(' and ', ' & ')} {year}") for name, _, year in citations(text)
        }
    assert set(ENTRIES) - cited == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as Xu 2013, eq. (30), has it", [("Xu", "", "2013")]),
        ("(Elisseeff and\n    Weston, 2001)", [("Elisseeff and Weston", ",", "2001")]),
        ("//! of De Comité\n//! et al. 2003", [("De Comité et al.", "", "2003")]),
        ("Xu's (2012, abstract)", [("Xu", "", "2012")]),
        ("Huang, Li and Wu 2015", [("Huang, Li and Wu", "", "2015")]),
        ("released in May 2026, CSR 2000 x 50, of 2013", []),
    ],
)
def test_what_is_a_citation(text: str, found: list[tuple[str, str, str]]) -> None:
    assert citations(text) == found


def test_the_citation_file_agrees() -> None:
    """CITATION.cff has the works that the reference package is written after, as listed here."""
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    stated = []
    for reference in references:
        name = reference["authors"][0]["family-names"]
        key = plain(name) + str(reference["year"])
        entry = ENTRIES[key]
        stated.append(key)
        authors = [(one["given-names"], one["family-names"]) for one in reference["authors"]]
        assert authors == [
            (" ".join((*person.first_names, *person.middle_names)), family(person))
            for person in entry.persons["author"]
        ]
        assert reference["title"] == re.sub(r"[{}]", "", entry.fields["title"])
        place = entry.fields.get("journal", entry.fields.get("booktitle"))
        assert reference.get("journal", reference.get("collection-title")) == place
        for ours, theirs in (("volume", "volume"), ("issue", "number")):
            assert str(reference.get(ours, "")) == entry.fields.get(theirs, "")
        pages = "--".join(str(reference[end]) for end in ("start", "end") if end in reference)
        assert pages == entry.fields.get("pages", "")
    text = (ROOT / "pyref" / "multimargin" / "reference" / "__init__.py").read_text("utf-8")
    named = [short_names()[f"{name} {year}"] for name, _, year in citations(text)]
    assert len(named) >= 8
    assert stated == named
