"""How the guide cites, by the role `cite:alp`: "Xu 2013", "Zhang & Yeung 2013"."""

from collections.abc import Iterable, Iterator

from pybtex import plugin
from pybtex.database import Entry
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle, PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

NAME = "name_and_year"


class Labels(BaseLabelStyle):
    """Labels of the list."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """Return the short name of each work."""
        for entry in sorted_entries:
            families = [
                " ".join((*a.prelast_names, *a.last_names)) for a in entry.persons["author"]
            ]
            name = " & ".join(families) if len(families) < 3 else f"{families[0]} et al."
            yield f"{entry.fields.get('shortauthor', name)} {entry.fields['year']}"


class Works(PlainStyle):
    """The list of works, by author."""

    default_label_style = Labels


class Citations(AuthorYearReferenceStyle):
    """Citations in the text."""

    def __init__(self) -> None:
        super().__init__(
            bracket_parenthetical=BracketStyle("(", ")"),
            author_year_sep=" ",
            person=PersonStyle(sep2=" & ", other=" et al."),
        )


def register() -> None:
    """Make both known under `NAME`."""
    plugin.register_plugin("pybtex.style.formatting", NAME, Works)
    register_plugin("sphinxcontrib.bibtex.style.referencing", NAME, Citations)
