"""What a bug report includes."""

from importlib.metadata import PackageNotFoundError, requires

import numpy
import pytest
from packaging.requirements import Requirement

from multimargin import __version__, versions


def test_a_report_names_every_package_and_blas(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    known = versions.version
    monkeypatch.setattr(
        versions, "version", lambda name: missing(name) if name == "rich" else known(name)
    )
    versions.show_versions()
    report = capsys.readouterr().out
    assert report.startswith(f"multimargin {__version__}\n")
    for name in {Requirement(text).name for text in requires("multimargin") or []}:
        assert name == "multimargin" or f"{name}: " in report
    assert f" numpy: {numpy.__version__}\n" in report
    assert " rich: not installed\n" in report
    assert "user_api: blas" in report
