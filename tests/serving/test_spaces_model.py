"""Random readers, documents and routes against a plain model of who may read what as it changes.

A reader is a key, or a person's token or session. Spaces, groups, roles and limits change
meanwhile, some of them by what editors of spaces send, and so does what people share.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from tests.support.document_reads import READS, Read
from tests.support.model_world import World, model_world
from tests.support.model_writes import WRITES
from tests.support.reading_model import Changing
from tests.support.shared_reads import SHARED

FIRST_CHANGES = 200
"""Before anything is compared: at first everybody is an owner, and everything is in the library."""
_logger = logging.getLogger(__name__)


@pytest.fixture
def world(database_url: str, request: pytest.FixtureRequest) -> Iterator[World]:
    """A world of as many documents as the parameter says."""
    with model_world(database_url, request.param) as made:
        yield made


def _compare(
    world: World, reads: Sequence[tuple[float, Read]], rng: random.Random,
    triples: int = 0, requests: int = 0,
) -> Counter[str]:  # fmt: skip
    """Comparisons until there are as many, with how many each kind of request made."""
    changing = Changing(world.model, world.connection, rng)
    for _ in range(FIRST_CHANGES):
        changing.make()
    weights, kinds = zip(*reads, strict=True)
    done: Counter[str] = Counter()
    while done["triples"] < triples or done["requests"] < requests:
        changing.make()
        for _ in range(rng.randint(1, 3)):
            (read,) = rng.choices(kinds, weights)
            compared = read(world, rng, rng.choice(world.model.readers))
            done.update({"triples": compared, "requests": 1, f"of {read.__name__}": compared})
        done["changes"] += 1
        if done["changes"] % 1000 == 0:  # a full count is long, and tells how far it is
            _logger.warning("%s", dict(done))
    return done


@pytest.mark.parametrize(
    ("world", "triples", "requests"),
    [
        (60, 800, 120),
        pytest.param(400, 1_000_000, 3_000, marks=[pytest.mark.soak, pytest.mark.timeout(14_400)]),
    ],
    indirect=["world"],
)
def test_nobody_reads_more_or_less_than_the_model_says(
    world: World, triples: int, requests: int
) -> None:
    """All of it, and then shares alone: a few lists of documents have many times their triples."""
    rng = random.Random(triples)
    assert _compare(world, [*READS, *WRITES, *SHARED], rng, triples)["triples"] >= triples
    assert _compare(world, SHARED, rng, requests=requests)["requests"] >= requests
