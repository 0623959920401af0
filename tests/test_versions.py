"""What a report of a fault names."""

import os
import platform
from importlib.metadata import PackageNotFoundError, requires

import numpy
import pytest
import scipy
import sklearn
from packaging.requirements import Requirement
from threadpoolctl import threadpool_limits

from multimargin import __version__, versions

REQUIREMENTS = [Requirement(text) for text in requires("multimargin") or []]


def test_packages_are_those_that_the_package_asks_for() -> None:
    found = versions.versions()
    needed = {one.name for one in REQUIREMENTS if one.marker is None}
    assert {"numpy", "scipy", "scikit-learn"} <= needed == set(found["required"])
    extras = {one.name for one in REQUIREMENTS} - needed - {"multimargin"}
    assert {"cvxpy", "matplotlib", "typer"} <= extras == set(found["optional"])


def test_versions_are_those_that_the_packages_give() -> None:
    found = versions.versions()
    assert found["multimargin"]["version"] == __version__
    assert found["system"]["python"].endswith(platform.python_version())
    assert found["required"]["numpy"] == numpy.__version__
    assert found["required"]["scipy"] == scipy.__version__
    assert found["required"]["scikit-learn"] == sklearn.__version__


def test_the_number_of_threads_is_the_one_in_force() -> None:
    with threadpool_limits(1):
        libraries = versions.versions()["libraries"]
    assert any(name.startswith("blas") for name in libraries)
    assert all("(1 thread" in text for text in libraries.values())


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    known = versions.version
    monkeypatch.setattr(
        versions, "version", lambda name: missing(name) if name == "rich" else known(name)
    )
    assert versions.versions()["optional"]["rich"] == "not installed"


def test_a_report_names_no_folders(capsys: pytest.CaptureFixture[str]) -> None:
    versions.show_versions()
    report = capsys.readouterr().out
    assert "numpy" in report
    assert os.sep not in report
