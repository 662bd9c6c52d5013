"""Random readers, documents and routes against a plain model of who may read what as it changes.

A reader is a key, or a person's token or session. Spaces, groups, roles and limits change
meanwhile, some of them by what editors of spaces send, and so does what people share.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.document_reads import READS
from tests.support.model_world import World, model_world
from tests.support.model_writes import WRITES
from tests.support.reading_model import Changing
from tests.support.shared_reads import SHARED

LEAST_REQUESTS = 300
"""Of a small run, whose triples are mostly those of a few lists."""
_logger = logging.getLogger(__name__)


@pytest.fixture
def world(database_url: str, request: pytest.FixtureRequest) -> Iterator[World]:
    """A world of as many documents as the parameter says."""
    with model_world(database_url, request.param) as made:
        yield made


def _compare(world: World, triples: int, seed: int) -> Counter[str]:
    """Comparisons until there are ``triples``, with how many each kind of request made."""
    rng = random.Random(seed)
    changing = Changing(world.model, world.connection, rng)
    weights, reads = zip(*READS, *WRITES, *SHARED, strict=True)
    done: Counter[str] = Counter()
    while done["triples"] < triples or done["requests"] < LEAST_REQUESTS:
        changing.make()
        for _ in range(rng.randint(1, 3)):
            (read,) = rng.choices(reads, weights)
            triples_of = read(world, rng, rng.choice(world.model.readers))
            done["triples"] += triples_of
            done[f"of {read.__name__}"] += triples_of
            done["requests"] += 1
        done["changes"] += 1
        if done["changes"] % 1000 == 0:  # a full count is long, and tells how far it is
            _logger.warning("%s", dict(done))
    return done


@pytest.mark.parametrize(
    ("world", "triples"),
    [
        (60, 4_000),
        pytest.param(400, 1_000_000, marks=[pytest.mark.soak, pytest.mark.timeout(7200)]),
    ],
    indirect=["world"],
)
def test_nobody_reads_more_or_less_than_the_model_says(world: World, triples: int) -> None:
    done = _compare(world, triples, seed=triples)
    assert done["triples"] >= triples
