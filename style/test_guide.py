"""The pages of the guide agree with each other."""

import json
import re
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[1] / "docs"
LISTED = re.compile(
    r"^\.\. currentmodule:: (\S+)\n+\.\. autosummary::\n(?:   :.*\n)+\n((?:   \S+\n)+)",
    re.MULTILINE,
)


def listed(page: Path) -> list[tuple[str, str]]:
    """The classes and functions that a page lists, with their module."""
    found = LISTED.findall(page.read_text(encoding="utf-8"))
    return [(module, name) for module, names in found for name in names.split()]


# Commands of TeX that the formulas use, all known to MathJax.
COMMANDS = (
    "Big Bigl Bigr Delta Gamma Omega Theta alpha approx arg bar begin beta big bigl bigr cap "
    "cdot circ cos delta dots ell end epsilon exp frac gamma ge hat in infty int kappa lVert "
    "lambda langle le left leftarrow lfloor log lvert mapsto mathbf mathrm max min mu ne nu "
    "operatorname partial phi pm propto qquad quad rVert rangle rfloor rho right rvert setminus "
    "sigma sqrt succeq sum tag tau text tfrac theta tilde times to top varepsilon xi "
)
TEX = set(COMMANDS.split())
MATHS = re.compile(r"\$\$.*?\$\$|(?<!\$)\$[^$]+?\$", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def test_formulas_use_commands_of_tex_that_exist() -> None:
    """A space that is missing, as in \\topL, makes another command of one."""
    unknown = {
        (page.name, word)
        for page in DOCS.rglob("*.md")
        if "_build" not in page.parts
        for formula in MATHS.findall(CODE.sub("", page.read_text(encoding="utf-8")))
        for word in re.findall(r"\\([a-zA-Z]+)", formula)
        if word not in TEX
    }
    assert not unknown


FILE = re.compile(r"`((?:rust|pyref|benchmarks|examples|tools|tests|style)/[\w./-]+)`")


def test_files_that_pages_name_exist() -> None:
    root = DOCS.parent
    missing = {
        (page.name, path)
        for page in [*DOCS.rglob("*.md"), *root.glob("*.md")]
        if "_build" not in page.parts and "generated" not in page.parts
        for path in re.findall(
            r"`((?:rust|pyref|benchmarks|examples|tools|tests|style)/[\w./-]+)`",
            page.read_text("utf-8"),
        )
        if "..." not in path and not (root / path).exists()
    }
    assert not missing


def test_the_picture_of_the_demonstration_shows_the_numbers_of_its_table() -> None:
    """README's table has the columns of the picture's bars, in another order."""
    with Image.open(DOCS / "images" / "demo.png") as picture:
        shown = json.loads(picture.info["Description"])
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for title, values in shown.items():
        measure = re.match(r"[\w-]+(?:@\d| loss)?", title)
        assert measure is not None
        (row,) = re.findall(rf"^\| {re.escape(measure.group())} .*$", readme, re.MULTILINE)
        cells = [cell.strip(" *%") for cell in row.split("|")[2:-1]]
        numbers = [100 * float(cell) if cell.startswith("0.") else float(cell) for cell in cells]
        assert sorted(round(number, 1) for number in numbers) == sorted(values), title
