import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    beside_repository = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("MULTIMARGIN_DATA", beside_repository))
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}")
    return folder
