"""Guides of several versions beside each other."""

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "publish_guide.py"
publish = runpy.run_path(str(SCRIPT))["publish"]


def guide(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "index.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "site"
    path.mkdir()
    return path


def page(path: Path) -> str:
    return (path / "index.html").read_text(encoding="utf-8")


def test_before_the_first_release(site: Path, tmp_path: Path) -> None:
    publish(guide(tmp_path / "guide", "new"), site, "dev")
    assert page(site / "dev") == "new"
    assert json.loads((site / "versions.json").read_text(encoding="utf-8")) == ["dev"]
    assert "url=dev/" in page(site)


def test_releases(site: Path, tmp_path: Path) -> None:
    for version in ("dev", "0.9.0", "0.10.0", "0.9.1"):
        publish(guide(tmp_path / version, version), site, version)
    # 0.10.0 is later than 0.9.1, which came after it: a correction of the older series.
    assert page(site / "stable") == "0.10.0"
    assert page(site / "0.9.1") == "0.9.1"
    names = json.loads((site / "versions.json").read_text(encoding="utf-8"))
    assert names == ["stable", "dev", "0.10.0", "0.9.1", "0.9.0"]
    assert "url=stable/" in page(site)


def test_pages_that_are_gone_go(site: Path, tmp_path: Path) -> None:
    first = guide(tmp_path / "first", "first")
    (first / "old.html").touch()
    publish(first, site, "dev")
    publish(guide(tmp_path / "second", "second"), site, "dev")
    assert page(site / "dev") == "second"
    assert not (site / "dev" / "old.html").exists()


@pytest.mark.parametrize("version", ["", "../0.1.0", "v0.1.0", "0.1", "stable"])
def test_names_that_are_no_versions(version: str, site: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected 'dev' or three numbers"):
        publish(guide(tmp_path / "guide", "new"), site, version)


def test_a_folder_without_a_guide(site: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no index\.html"):
        publish(tmp_path, site, "dev")
