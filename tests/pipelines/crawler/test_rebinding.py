"""DNS rebinding with a real name server: the address changes between any two look-ups of a name."""

from __future__ import annotations

import pytest

from tests.support.rebinding import PRIVATE, PUBLIC, fetched_in_a_network_of_its_own


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_connection_goes_to_an_address_that_was_not_checked() -> None:
    told = fetched_in_a_network_of_its_own(1000)
    assert told.pop(PRIVATE) == 0
    assert told.pop(PUBLIC) > told["fetched"] > 100
    assert told["refused"] > 100 and set(told) == {"fetched", "refused"}
