"""The files that describe the project agree with each other, and link to what exists."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
# An address under the project's own name at a host of code or of pages.
OWN_ADDRESS = re.compile(
    r"(?:github\.com|githubusercontent\.com|gitlab\.com|github\.io|readthedocs\.io)/[\w./-]*multimargin"
    r"|multimargin\.(?:github\.io|readthedocs\.io)"
)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_relative_links_lead_to_files(name: str) -> None:
    links = LINK.findall(read(ROOT / name))
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_no_file_names_an_address_of_the_project() -> None:
    """The project has no published address; CONTRIBUTING lists what waits for one."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    named = []
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if path.suffix in {".md", ".toml", ".yml", ".yaml", ".cff", ".py", ".rs", ".typ", ".html"}:
            if path == Path(__file__) or not path.is_file():
                continue
            named += [f"{name}: {found}" for found in OWN_ADDRESS.findall(read(path))]
    assert named == []


def test_one_version() -> None:
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert PROJECT["version"] == CARGO["version"] == citation["version"]
    assert PROJECT["license"] == CARGO["license"] == citation["license"]


def test_the_page_of_supported_versions() -> None:
    page = read(ROOT / "docs" / "support.md")
    lowest = dict(re.findall(r"^\| ([\w-]+)[^|]*\| (\d[\d.]*) \|", page, re.MULTILINE))
    needed = dict(text.split(">=") for text in PROJECT["dependencies"])
    python, rust = lowest.pop("Python"), lowest.pop("Rust")
    assert lowest == {name: needed[name] for name in ("numpy", "scipy", "scikit-learn")}
    assert PROJECT["requires-python"] == f">={python}"
    assert CARGO["rust-version"] == rust
