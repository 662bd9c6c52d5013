"""Questions in a source: they bear out nothing that their answers do not say."""

from __future__ import annotations

import pytest

from helix.answering.proof import prove
from tests.support.proof_sources import source

LIFT = "Is the lift open on Sundays?"
WARRANTY = "## How long does the warranty run?\n\n24 months."
ROWS = f"""| Question | Answer |
|---|---|
| {LIFT} | No |
| How long does the warranty run? | 24 months |"""
KINDS = "What are the three kinds of bee? Queens, workers and drones."
BEES = "May members keep bees behind the shed? This is decided in spring."


def status(claim: str, text: str) -> str:
    """The status of the one statement ``claim``, which cites the text."""
    [statement] = prove(f"{claim} [1]", [source(1, text)]).statements
    return statement.status


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The lift is open on Sundays.", f"{LIFT} No, it is closed."),
        ("The lift is open on Sundays.", f"## {LIFT}\n\nThat depends on the season."),
        ("The lift is open on Sundays.", LIFT),
        ("The lift is open on Sundays.", f"**{LIFT}** Ask at the desk."),
        ("The lift is open on Sundays.", f"## {LIFT} ##\n\nThat depends on the season."),
        ("The lift is open on Sundays.", f"{LIFT}! Nobody knows."),
        ("The lift is open on Sundays.", f"({LIFT}) Ask at the desk."),
        ("The lift is open on Sundays.", f"“{LIFT}” Ask at the desk."),
        ("The lift is open on Sundays.", ROWS),
        ("Members may keep bees behind the shed.", BEES),
        ("The lift is open on Sundays, and bees may be kept.", f"{LIFT} {BEES}"),
    ],
)
def test_what_is_only_asked_is_in_doubt(claim: str, text: str) -> None:
    assert status(claim, text) == "in doubt"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The warranty runs for 24 months.", WARRANTY),
        ("The warranty runs for 24 months.", ROWS),
        ("The lift is open every Sunday.", f"**{LIFT}** The lift is open every Sunday."),
        ("The sign on the door says why wait.", 'The sign on the door says "Why wait?"'),
        ("There are three kinds of bee: queens, workers and drones.", KINDS),
        ("The lift is open every Sunday.", f"{LIFT} The lift is open every Sunday until noon."),
    ],
)
def test_a_question_with_its_answer_bears_out_what_they_say_together(claim: str, text: str) -> None:
    assert status(claim, text) == "borne out"


def test_a_claim_that_asks_is_borne_out_by_a_question() -> None:
    assert status(LIFT, f"{LIFT} No, it is closed.") == "borne out"
