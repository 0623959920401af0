"""Problems of the reference that have one value."""

import pytest

from tests.campaign.identities import IDENTITIES, broken
from tests.support.subsets import first_fast


@pytest.mark.parametrize("seeds", first_fast([range(2), range(2, 60)], 1), ids=str)
@pytest.mark.parametrize("name", IDENTITIES)
def test_they_agree(name, seeds):
    for seed in seeds:
        assert not broken(name, seed), f"seed {seed}: {broken(name, seed)}"
