"""The files that tell the world of the project agree with each other and with the package."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import multimargin.estimators

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
HOME = PROJECT["urls"]["Homepage"].removeprefix("https://github.com/")
LINK = re.compile(r"\]\(([^)\s]+)\)")
OURS = re.compile(
    r"https://(?:github\.com|raw\.githubusercontent\.com)/(\w[\w.-]*/multimargin)\b([^\s)\"'>]*)"
)
WITH_LINKS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff")),
    ROOT / "recipe" / "recipe.yaml",
    *sorted((ROOT / ".github").rglob("*.yml")),
]
GUIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# `benchmarks/race.py` and `bias/free.rs`; not `tests/.../test_rank_svm.py` or `<method>.py`.
NAMED_FILE = re.compile(r"`(?:python )?((?:\w[\w-]*/)+[\w-]+\.(?:rs|py|md)|\w+\.rs)(?: [^`]*)?`")
NAMED_FROM = (
    *("pyref", "pyref/multimargin", "tests"),
    *("rust/solvers/src", "rust/solvers/src/pairwise"),
)
WITH_SOLVER = [
    name
    for name in multimargin.estimators.__all__
    if "solver : {" in (getattr(multimargin.estimators, name).__doc__ or "")
]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_work_outside_of_the_repository(name: str) -> None:
    links = LINK.findall(read(ROOT / name))
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("path", WITH_LINKS, ids=lambda path: path.name)
def test_links_to_ourselves(path: Path) -> None:
    for home, rest in OURS.findall(read(path)):
        assert home == HOME
        file = re.match(r"/(?:blob/)?main/(.+)", rest)
        assert file is None or (ROOT / file[1]).is_file(), f"{rest}: there is no such file"


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_files_that_the_guide_names_exist(page: Path) -> None:
    """A file is named from the root or a folder of sources, one in Rust also by its name alone."""
    places = [ROOT, *(ROOT / place for place in NAMED_FROM)]
    for name in set(NAMED_FILE.findall(read(page))):
        there = any((place / name).exists() for place in places)
        there = there or ("/" not in name and any((ROOT / "rust").rglob(name)))
        assert there, f"{page.name} names {name}: there is no such file"


def test_the_guide_names_files() -> None:
    named = {name for page in GUIDE for name in NAMED_FILE.findall(read(page))}
    assert {"rust/solvers/src/pairwise/bias/free.rs", "cli/options.py", "newton.rs"} <= named


def test_readme_has_links_to_ourselves() -> None:
    assert len(OURS.findall(read(ROOT / "README.md"))) >= 3


def test_one_version() -> None:
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    recipe = yaml.safe_load(read(ROOT / "recipe" / "recipe.yaml"))
    assert PROJECT["version"] == CARGO["version"] == citation["version"]
    assert PROJECT["version"] == recipe["context"]["version"]
    assert PROJECT["license"] == CARGO["license"] == citation["license"]


def test_the_recipe_needs_what_the_package_needs() -> None:
    run = yaml.safe_load(read(ROOT / "recipe" / "recipe.yaml"))["requirements"]["run"]
    recipe = {Requirement(text).name: Requirement(text).specifier for text in run}
    extras = PROJECT["optional-dependencies"]
    for text in [*PROJECT["dependencies"], *extras["cli"]]:
        needed = Requirement(text)
        assert recipe[needed.name] == needed.specifier, needed.name


def test_the_page_of_supported_versions() -> None:
    page = read(ROOT / "docs" / "support.md")
    lowest = dict(re.findall(r"^\| ([\w-]+)[^|]*\| (\d[\d.]*) \|", page, re.MULTILINE))
    for text in PROJECT["dependencies"]:
        needed = Requirement(text)
        if needed.name in lowest:
            assert str(needed.specifier) == f">={lowest[needed.name]}"
    assert set(lowest) == {"Python", "numpy", "scipy", "scikit-learn", "Rust"}
    assert PROJECT["requires-python"] == f">={lowest['Python']}"
    assert CARGO["rust-version"] == lowest["Rust"]
    named = set(re.findall(r"3\.\d\d", " ".join(PROJECT["classifiers"])))
    assert named == set(re.findall(r"3\.\d\d", page.split("| Python |")[1].splitlines()[0]))


@pytest.mark.parametrize("name", WITH_SOLVER)
def test_readme_names_every_solver(name: str) -> None:
    row = re.search(rf"^\| [^|]*`{name}`.*", read(ROOT / "README.md"), re.MULTILINE)
    documented = getattr(multimargin.estimators, name).__doc__
    choices = re.search(r"^ *solver : \{(.+)\}", documented, re.MULTILINE)
    assert row is not None
    assert choices is not None
    assert set(re.findall(r'"([\w-]+)"', choices[1])) <= set(re.findall(r"`([\w-]+)`", row[0]))


def test_the_guide_names_every_extra() -> None:
    page = read(ROOT / "docs" / "getting_started.md")
    text = page.split("`all` means all extras:")[1].split("\n\n")[0]
    extras = re.search(r"\[(.+)\]", *PROJECT["optional-dependencies"]["all"])
    assert extras is not None
    assert set(re.findall(r"`(\w+)`", text)) == set(extras[1].split(","))


def test_the_guide_names_every_benchmark() -> None:
    page = read(ROOT / "docs" / "benchmarks.md")
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    scripts -= {"common.py", "run_all.py"}
    assert set(re.findall(r"^\| `(\w+\.py)`", page, re.MULTILINE)) == scripts
