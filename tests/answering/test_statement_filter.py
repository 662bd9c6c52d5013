"""Answers held back by the statement: what is left out, what gets a marker, whatever the deltas."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.answering.proof import Proof, prove
from helix.answering.statement_filter import StatementFilter
from helix.domain.contract import REFUSAL
from tests.serving.test_sse import cut
from tests.support.whole_sources import whole_source

SOURCES = [
    whole_source(1, "Refunds are accepted within 30 days of purchase. Gift cards expire in May."),
    whole_source(2, "Lamps are made of brass. Chairs are made of solid oak."),
]
TRUE = "Refunds are accepted within 30 days of purchase."
OAK = "Chairs are made of solid oak."
FALSE = "Refunds are accepted within 60 days of purchase."
BIRDS = "Birds can fly over the sea."


def proven(text: str) -> Proof:
    return prove(text, SOURCES, looks_up=True)


def passed(pieces: list[str], *, withholds: bool = False, cites: bool = False) -> str:
    made = StatementFilter(proven, withholds=withholds, cites=cites)
    return "".join([*map(made.feed, pieces), made.end()])


def held(text: str) -> str:
    """The text left of ``text``, whole or letter by letter."""
    whole = passed([text], withholds=True)
    assert passed(list(text), withholds=True) == whole
    return whole


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{TRUE} [1]", f"{TRUE} [1]"),
        (f"{TRUE} {OAK}", f"{TRUE} {OAK}"),
        (f"{TRUE} [1] {FALSE} [1] {OAK} [2]", f"{TRUE} [1] {OAK} [2]"),
        (f"{FALSE} [1]\n\n{TRUE} [1]", f"{TRUE} [1]"),
        (f"{TRUE}\n\n{FALSE} {OAK}", f"{TRUE}\n\n{OAK}"),
        (f"## Rules\n\n- {TRUE} [1]\n- {BIRDS} [1]\n- {OAK} [2]",
         f"## Rules\n\n- {TRUE} [1]\n- {OAK} [2]"),
        (f"## Birds\n\n- {BIRDS} [1]\n\n## Chairs\n\n- {OAK} [2]", f"## Chairs\n\n- {OAK} [2]"),
        (f"The shop says:\n- {BIRDS}\n- {OAK}", f"The shop says:\n- {OAK}"),
        (f"{TRUE} [1]\n\n```\nbirds.fly(over)\n```\n[2]\n\n{OAK}", f"{TRUE} [1]\n\n{OAK}"),
        (f"```{FALSE} So:", REFUSAL),
        (f"{FALSE} | a |So:", REFUSAL),
        (f"{FALSE[:-1]}:\n- {OAK}", f"- {OAK}"),
        (f"{TRUE[:-1]}:\n- {OAK}", f"{TRUE[:-1]}:\n- {OAK}"),
        (f"{OAK} [2]\n\n{FALSE[:-1]}:", f"{OAK} [2]"),
        (f"{TRUE} | a |{BIRDS}", REFUSAL),
        (f"{BIRDS} | a |?", REFUSAL),
        (f"{BIRDS} [2]So:{OAK}", REFUSAL),
        (f"{BIRDS[:-1]} | {TRUE} |", REFUSAL),
        (f"{OAK} [1]", REFUSAL),  # the model's own marker is not borne out
        (f"{FALSE} [1] {BIRDS}", REFUSAL),
        (f"## Birds\n\n{BIRDS}", REFUSAL),
        (REFUSAL, REFUSAL),
        ("", ""),
    ],
)  # fmt: skip
def test_what_no_source_bears_out_is_left_out(text: str, left: str) -> None:
    assert held(text) == left


def test_a_row_that_is_too_long_is_not_read() -> None:
    row = " | ".join(f"Lamp number {n} is made of some brass." for n in range(60))
    (whole,) = proven(f"| {row} | [2]").statements
    assert len(row) > 2000 and whole.problem == "words" and whole.probability is None


def test_the_statements_left_out_are_counted() -> None:
    made = StatementFilter(proven, withholds=True)
    made.feed(f"{FALSE} [1] {TRUE} [1] {BIRDS}")
    assert made.end() and (made.left_out, made.refused) == (2, False)
    made = StatementFilter(proven, withholds=True)
    assert made.feed(f"{FALSE} [1]") + made.end() == REFUSAL
    assert (made.left_out, made.refused) == (1, True)
    made = StatementFilter(proven, withholds=True)
    assert made.feed(REFUSAL) + made.end() == REFUSAL
    assert (made.left_out, made.refused) == (0, False)  # the model's own


def test_nothing_is_sent_that_may_still_turn_out_unproven() -> None:
    made = StatementFilter(proven, withholds=True)
    assert made.feed(TRUE[:-1]) == ""
    assert made.feed(f". {OAK}") == ""
    assert made.feed(f" {BIRDS} {BIRDS}") == TRUE


def test_found_statements_get_the_marker_of_their_source() -> None:
    text = f"{TRUE} {BIRDS} {OAK} [2]\n\n- {OAK}\n| Lamps are made of brass. |"
    wanted = f"{TRUE} [1] {BIRDS} {OAK} [2]\n\n- {OAK} [2]\n| Lamps are made of brass. [2] |"
    assert passed([text], cites=True) == passed(list(text), cites=True) == wanted
    code = f"```\n{OAK}\n```"
    assert passed([code], cites=True) == code


_texts = st.lists(
    st.sampled_from(
        [*(f"{one} " for one in (TRUE, OAK, FALSE, BIRDS)), " [1]", "[2]", " ", "\n", "\n\n", "- ",
         "## Head", "```", "| a |", "|---|", "e.g. ", "So:", "30.", "…", "?", REFUSAL]
    ),
    max_size=9,
).map("".join)  # fmt: skip


_drawn = given(_texts, st.booleans(), st.booleans(), st.integers(0, 2**32))


@settings(max_examples=40)
@_drawn
def test_no_cut_changes_what_is_sent(text: str, withholds: bool, cites: bool, seed: int) -> None:
    _check_cuts(text, withholds, cites, seed)


@pytest.mark.soak
@settings(max_examples=600)
@_drawn
def test_no_cut_of_hundreds_of_texts_changes_what_is_sent(
    text: str, withholds: bool, cites: bool, seed: int
) -> None:
    _check_cuts(text, withholds, cites, seed)


def _check_cuts(text: str, withholds: bool, cites: bool, seed: int) -> None:
    whole = passed([text], withholds=withholds, cites=cites)
    assert passed(list(text), withholds=withholds, cites=cites) == whole
    assert passed(cut(text, random.Random(seed)), withholds=withholds, cites=cites) == whole
    made = StatementFilter(proven, withholds=withholds, cites=cites)
    told = "".join([*map(made.feed, list(text)), made.end()])
    assert all(told[place] == "[" for place in made.marks)
    assert (withholds or len(told) - len(text) == 4 * len(made.marks)) and told == whole
    if not (withholds or cites):
        assert whole == text
    if withholds:
        assert "60 days" not in whole and "Birds" not in whole
