"""Runs every script in examples/ and the Python code of README and guide."""

import re
import runpy
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from multimargin.datasets import load_debian_tags
from tests.support.data import DATA
from tests.support.subsets import fast_only

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Code that needs files which are not there is marked as {code-block} instead.
RUNNABLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

NEEDS_DATA = re.compile(r'\bload\("(scene|yeast)"\)')


def code_of(page: Path) -> str:
    """All blocks of a page, in order: later ones use the names of earlier ones."""
    return "\n".join(RUNNABLE.findall(page.read_text(encoding="utf-8")))


WITH_CODE = [page for page in PAGES if code_of(page)]
QUICK = [
    page
    for page in WITH_CODE
    if page.stem
    in (
        "README",
        "index",
        "from_a_data_frame",
        "getting_started",
        "datasets",
        "llsf",
        "is_it_converged",
    )
]


@pytest.mark.parametrize("script", fast_only(EXAMPLES, [EXAMPLES[0]]), ids=lambda path: path.stem)
def test_example(
    script: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matplotlib.use("Agg")
    if NEEDS_DATA.search(script.read_text(encoding="utf-8")):
        if not DATA.is_dir():
            pytest.skip("needs the real data")
        monkeypatch.setenv("MULTIMARGIN_DATA", str(DATA))
    picture = tmp_path / "picture.png"
    code = script.read_text(encoding="utf-8")
    saves = "sys.argv" in code
    monkeypatch.setattr(sys, "argv", [str(script), *([str(picture)] if saves else [])])
    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.close("all")
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert picture.exists() == saves
    assert bool(pyplot.get_fignums()) == ("pyplot.show()" in code)
    pyplot.close("all")


def write_packages(path: Path) -> None:
    """Write the table that the front pages read: words and tags of 300 programs."""
    data = load_debian_tags()
    random = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("description,tags\n")
        for i in np.sort(random.choice(data.X.shape[0], 300, replace=False)):
            words = [data.feature_names[j] for j in data.X[[i]].nonzero()[1]]
            tags = [name for name, has in zip(data.label_names, data.Y[i], strict=True) if has]
            file.write(f'"{" ".join(words)}","{" ".join(tags)}"\n')


@pytest.mark.parametrize("page", fast_only(WITH_CODE, QUICK), ids=lambda page: page.stem)
def test_code_of_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    if "packages.csv" in code_of(page):
        write_packages(tmp_path / "packages.csv")
    exec(compile(code_of(page), str(page), "exec"), {"__name__": "__main__"})
    pyplot.close("all")
