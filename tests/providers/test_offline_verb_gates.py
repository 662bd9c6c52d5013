"""What a question's verb or role wants told, and which sentences do not tell it."""

from __future__ import annotations

import pytest

from helix.domain.asked import read_question
from helix.providers.offline.verb_gates import tells_what_is_asked

SUIT = "Orban Ltd. filed a lawsuit against the Company in Ghent."
RULING = "On May 2, 2021, the court ruled in favor of the Company on three of four counts."
SALES = "Sales of pumps were $31 million and $25 million in 2023 and 2022."
GROWTH = "Sales of pumps grew 29%, driven by the north."
FAB = "We expect the Ghent plant to spend up to $3 million in its second hall."
PARTNER = "Our partner in the plant is Marlow Asset Management."


@pytest.mark.parametrize(
    ("asked", "text", "before", "told"),
    [
        ("How did the court rule in Orban's lawsuit?", SUIT, "", False),
        ("How did the court rule in Orban's lawsuit?", RULING, SUIT, True),
        ("What did the jury decide?", "The jury was sworn in on Monday.", "", False),
        ("What did the jury decide?", "The jury's verdict was for Orban.", "", True),
        ("How fast did sales of pumps grow in 2023?", SALES, "", False),
        ("How fast did sales of pumps grow in 2023?", GROWTH, "", True),
        ("How fast did sales of pumps grow in 2023?", "Pumps were 29% of sales.", "", False),
        ("How quickly are parcels delivered?", "Parcels take two days.", "", True),
        ("Who is Acme's partner in the Ghent plant?", FAB, "", False),
        ("Who is Acme's partner in the Ghent plant?", PARTNER, "", True),
        ("Who is Acme's partner in the Ghent plant?", "It is Marlow.", "Acme has a partner.", True),
        ("Who built the plant?", "Marlow built it.", "", True),
        ("How do I request a refund?", "By letter.", "", True),
    ],
)
def test_a_sentence_tells_what_is_asked_or_may_not_answer(
    asked: str, text: str, before: str, told: bool
) -> None:
    assert tells_what_is_asked(read_question(asked), text, before) is told
