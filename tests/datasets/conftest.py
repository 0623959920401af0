import pytest

from tests.support.data import DATA


@pytest.fixture(scope="session")
def shared_data():
    if not DATA.is_dir():
        pytest.skip(f"no benchmark data in {DATA}")
    return DATA
