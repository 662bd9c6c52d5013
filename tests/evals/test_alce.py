"""Citation recall and precision, by hand and by spans."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evals.metrics.alce import CitationScores, Cited, Entails, citation_scores, entails_by_span
from helix.domain.context import Source
from tests.support.whole_sources import PARCELS, REFUNDS, SOURCES


def _of_words(needed: str) -> Entails:
    """Entailed where the sources together have every word of ``needed``."""

    async def entails(statement: Cited, sources: Sequence[Source]) -> bool:
        return all(any(word in s.content for s in sources) for word in needed.split())

    return entails


@pytest.mark.parametrize(
    ("needed", "numbers", "recall", "precision"),
    [
        ("Refunds", (1,), 1, 1),
        ("Refunds", (2,), 0, 0),
        ("Refunds", (), 0, 0),
        ("Refunds", (3,), 0, 0),  # no such source
        ("Refunds", (1, 2), 1, 0.5),  # 2 says nothing of it, and 1 does without it
        ("Refunds parcel", (1, 2), 1, 1),  # neither entails it alone, and both are needed
        ("Refunds parcel", (1,), 0, 0),
        ("days", (1, 2), 1, 1),  # each entails it alone
    ],
)
async def test_citation_recall_and_precision_are_those_of_alce(
    needed: str, numbers: tuple[int, ...], recall: float, precision: float
) -> None:
    scores = await citation_scores([Cited(("It is so.",), numbers)], SOURCES, _of_words(needed))
    assert scores == CitationScores(recall, precision)


async def test_an_answers_scores_are_means_of_its_statements_and_citations() -> None:
    said = [Cited(("a",), (1, 2)), Cited(("b",), (1,)), Cited(("c",), ())]
    scores = await citation_scores(said, SOURCES, _of_words("Refunds"))
    assert scores == CitationScores(2 / 3, 2 / 3)


async def test_a_statement_is_entailed_offline_by_a_span_that_says_it() -> None:
    said = "Refunds are accepted within 30 days of purchase."
    lost = "A parcel that has not moved for 10 days counts as lost"
    assert await entails_by_span(Cited((said,), (1,)), [PARCELS, REFUNDS])
    assert await entails_by_span(Cited((lost, said), (1, 2)), [PARCELS, REFUNDS])
    assert not await entails_by_span(Cited((lost, said), (1, 2)), [REFUNDS])
    assert not await entails_by_span(Cited((said,), (1,)), [PARCELS])
    assert not await entails_by_span(Cited((said.replace("30", "60"),), (1,)), [REFUNDS])
    assert not await entails_by_span(Cited((), ()), [REFUNDS])
