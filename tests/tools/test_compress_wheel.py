import zipfile

import pytest

pytest.importorskip("zopfli")

from tools.compress_wheel import compress_wheel


def test_the_same_files_in_fewer_bytes(tmp_path):
    wheel = tmp_path / "a-1-py3-none-any.whl"
    text = "\n".join(f"{k * k % 977} lines of {k}" for k in range(3000)).encode()
    module = zipfile.ZipInfo("a/__init__.py", (1980, 1, 1, 0, 0, 0))
    module.external_attr = 0o755 << 16
    module.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr(module, text, compresslevel=9)
        written.writestr("a-1.dist-info/RECORD", b"")
    before, after = compress_wheel(wheel)
    assert after == wheel.stat().st_size < before
    with zipfile.ZipFile(wheel) as found:
        assert found.testzip() is None
        assert found.namelist() == ["a/__init__.py", "a-1.dist-info/RECORD"]
        assert found.read("a/__init__.py") == text
        assert found.getinfo("a/__init__.py").external_attr == 0o755 << 16
    assert list(tmp_path.iterdir()) == [wheel]
