"""The eval of study items on a small scope: good items pass, seeded bad ones are rejected."""

from __future__ import annotations

import asyncio

import pytest

from evals.study.__main__ import Figures, _items
from evals.study.rubric import CONTROLS, judged, noticed
from evals.study.scopes import Scope
from evals.study.scripted_maker import ScriptedMaker
from evals.study.seeded_faults import KINDS, examined
from helix.study.items import Choice, Proven, Rejected
from helix.study.maker import OfflineMaker
from tests.support.study_texts import BRIDGE, FERRY

FOREIGN = Choice(
    "In which year did penguins settle on the ice of Morvane?",
    "Penguins settled on the ice of Morvane in ____.", ("1801", "1802", "1803", "1804"), 0,
)  # fmt: skip


@pytest.fixture(scope="module")
def made() -> tuple[Figures, Scope]:
    figures = Figures()
    scope = Scope("own", "Crossings", [BRIDGE, FERRY])
    asyncio.run(_items(scope, "quiz", 7, figures, OfflineMaker()))
    return figures, scope


def test_items_are_verified_and_pass_the_rubric(made: tuple[Figures, Scope]) -> None:
    figures, _ = made
    assert figures.items == figures.verified == figures.judged == 7
    assert (figures.stated, figures.failures) == (0, [])
    assert len(figures.choices) >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_item_of_each_kind_is_rejected_for_it(made: tuple[Figures, Scope], kind: str) -> None:
    figures, _ = made
    foreign = [Proven(FOREIGN, ())]
    for proven, scope in figures.choices:
        outcome = asyncio.run(examined(kind, proven, scope, foreign))
        assert isinstance(outcome, Rejected) and outcome.reason == kind


def test_the_rubric_fails_what_gives_itself_away(made: tuple[Figures, Scope]) -> None:
    figures, _ = made
    proven, scope = figures.choices[0]
    item = proven.item
    assert isinstance(item, Choice)
    words = ("many", "few", "several")
    options = tuple(item.options[item.key] if n == item.key else words[n - (n > item.key)]
                    for n in range(4))  # fmt: skip
    given = Choice(item.question, item.statement, options, item.key)
    assert "not without it" in judged(Proven(given, proven.supports), scope)


def test_the_rubric_fails_each_way_of_spoiling_a_question(made: tuple[Figures, Scope]) -> None:
    figures, scope = made
    for proven, _ in figures.choices:
        assert noticed(proven, scope) == dict.fromkeys(CONTROLS, True)


def test_of_scripted_replies_only_the_good_objects_are_kept(made: tuple[Figures, Scope]) -> None:
    _, scope = made
    figures = Figures()
    asyncio.run(_items(scope, "quiz", 6, figures, ScriptedMaker(), "advanced"))
    assert figures.items == figures.verified == 6 and figures.failures == []
    assert {"wrong key", "malformed"} <= set(figures.dropped)
    cards = Figures()
    asyncio.run(_items(scope, "cards", 4, cards, ScriptedMaker()))
    assert cards.items == cards.verified == 4 and "unsupported" in cards.dropped
