"""Turns of a conversation on the one answering path: searched, prompted and told as they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from helix.answering.answer import Answer
from helix.answering.engine import CitationQueryEngine
from helix.answering.memory import LONGEST, next_summary
from helix.answering.question import TurnReader, asks_which
from helix.domain.followups import FollowUp
from helix.domain.history import BEGIN, Budget, EarlierTurn, History
from helix.retrieval.understanding import Understanding
from helix.services import Services
from tests.support.fake_embedder import record
from tests.support.receipt_corpus import ask, bring_in, document, question, services
from tests.support.scripted_model import saying

KETTLES = (
    "Kettles that were opened may be sent back within 14 days.\n\n"
    "Parcels to the islands take 9 days in winter."
)
PARCELS = "Heat pumps are repaired within 21 days of the report.\n\nThe keeper is paid in May."
ABOUT_KETTLES = EarlierTurn("May I send back kettles that were opened?", "Yes, within 14 days [1].")


@pytest.fixture
async def opened(database_url: str) -> AsyncIterator[Services]:
    async with services(database_url) as found:
        rules = [record("a.txt", KETTLES, "Kettles"), record("b.txt", PARCELS, "Pumps")]
        await bring_in(found, *rules, *map(document, range(3)))
        yield found


def _first_title(answer: Answer) -> str:
    return answer.retrieval.hits[0].title


async def test_what_a_turn_is_and_what_it_changes(opened: Services) -> None:
    alone = await ask(opened, "Within how many days?")
    assert alone.turn is None
    after = await ask(opened, "Within how many days?", history=History((ABOUT_KETTLES,)))
    assert _first_title(after) == "Kettles" and after.retrieval.trace.terms is None
    assert after.turn is not None and after.turn.to_json() == {
        "type": "dependent",
        "understood_as": None,
        "memory": after.turn.memory.to_json(),
    }
    first = await ask(opened, question(1), history=History())
    assert first.turn is not None and (first.turn.kind, first.turn.understood_as) == (
        "standalone", None
    )  # fmt: skip
    assert first.text == (await ask(opened, question(1))).text
    thanks = await ask(opened, "Great, thanks!", history=History((ABOUT_KETTLES,)))
    assert thanks.turn is not None and thanks.turn.kind == "conversational"
    assert thanks.text.startswith("You are welcome") and not thanks.retrieval.hits


async def test_a_short_question_that_begins_something_new_is_searched_by_itself(
    opened: Services,
) -> None:
    history = History((ABOUT_KETTLES,))
    new = await ask(opened, "What is the capital of Mongolia?", history=history)
    alone = await ask(opened, "What is the capital of Mongolia?")
    assert new.turn is not None and (new.turn.kind, new.turn.understood_as) == (
        "standalone", None
    )  # fmt: skip
    assert new.retrieval.stands_alone and new.abstained
    assert new.retrieval.decision.best == alone.retrieval.decision.best
    pointing = await ask(opened, "What is the capital of it?", history=history)
    assert pointing.turn is not None and pointing.turn.kind == "dependent"
    assert not pointing.retrieval.stands_alone


async def test_a_turn_that_the_model_leaves_as_it_is_stands_alone() -> None:
    asked, history = "What is the capital of Mongolia?", History((ABOUT_KETTLES,))
    same = await Understanding(_Rewords(asked.lower())).of(asked, history)
    assert same == FollowUp(asked)
    other = await Understanding(_Rewords("Which kettles?")).of("Which ones?", history)
    assert (other.standalone, other.tentative) == ("Which kettles?", False) and other.earlier
    echo = _Rewords(ABOUT_KETTLES.question)
    assert (await Understanding(echo).of("Which ones?", history)).standalone is None
    untold = await Understanding(_Rewords(None)).of(asked, history)
    assert untold.tentative and untold.earlier, "the search tells"


class _Rewords:
    """A rewriter that always makes the same of a question."""

    def __init__(self, said: str | None) -> None:
        self.said = said

    async def terms(self, question: str) -> str | None:
        return self.said


async def test_a_follow_up_is_answered_behind_the_question_before(opened: Services) -> None:
    history = History((EarlierTurn(question(1), "107 crates [1]."),))
    answer = await ask(opened, "And in Cadiz?", history=history)
    assert answer.turn is not None
    assert (answer.turn.kind, answer.turn.understood_as) == ("dependent", None)
    assert answer.question.text == "And in Cadiz?"


async def test_history_that_is_off_changes_no_search(opened: Services) -> None:
    engine = CitationQueryEngine(
        opened.engine.retriever, opened.llm, turns=TurnReader(None, Budget())
    )
    pipeline = replace(opened.answering, engine=engine, answerers=None)
    answer = await ask(
        replace(opened, answering=pipeline), "Within how many days?",
        history=History((ABOUT_KETTLES,)),
    )  # fmt: skip
    alone = await ask(opened, "Within how many days?")
    assert answer.retrieval.hits == alone.retrieval.hits
    assert answer.turn is not None and answer.turn.understood_as is None


async def test_a_model_is_shown_what_came_before_and_its_rewrite_is_searched(
    database_url: str,
) -> None:
    llm = saying("Heat pumps within 21 days")
    async with services(database_url, llm=llm, history_retrieval="model") as found:
        await bring_in(found, record("a.txt", KETTLES, "Kettles"), record("b.txt", PARCELS, "B"))
        answer = await ask(found, "And what about repairs?", history=History((ABOUT_KETTLES,)))
        rewritten = await Understanding(_Broken()).of("And why?", History((ABOUT_KETTLES,)))
    assert answer.retrieval.trace.terms == "Heat pumps within 21 days"
    assert answer.turn is not None and answer.turn.understood_as == answer.retrieval.trace.terms
    assert "B" in {hit.title for hit in answer.retrieval.hits}
    assert answer.turn.memory.text.startswith(BEGIN)
    assert answer.prompt is not None and BEGIN not in answer.prompt
    assert rewritten.standalone is None and rewritten.earlier


class _Broken:
    """A rewriter that makes nothing of a question."""

    async def terms(self, question: str) -> str | None:
        assert question == f"{ABOUT_KETTLES.question}\nAnd why?"
        return None


async def test_the_summary_rolls_on_within_its_length() -> None:
    history = History(summary="x" * LONGEST)
    for llm in (saying("z", "offline:says"), saying("y" * 3 * LONGEST), saying("")):
        told = await next_summary(llm, history, "Why?", "Because [1].")
        assert 0 < len(told) <= LONGEST
    plain = await next_summary(saying("z", "offline:says"), History(), "Why?", "Because [1].")
    assert plain == "- Why?: Because ."


async def test_a_turn_that_names_nothing_is_asked_back(opened: Services) -> None:
    asked = "How many crates did this captain order?"
    answer = await ask(opened, asked, history=History((ABOUT_KETTLES,)))
    assert (answer.reason, answer.clarifying_question) == (
        "underspecified", "Which captain do you mean?"
    )  # fmt: skip
    assert answer.turn is not None and answer.turn.kind == "underspecified"
    assert (await ask(opened, asked)).reason != "underspecified", "outside of a conversation"


async def test_a_question_back_names_documents(opened: Services) -> None:
    more = [
        record("c.txt", "The captain of the Freya ordered 12 crates of kettles.", "Freya"),
        record("d.txt", "The captain of the Odin ordered 30 crates of kettles.", "Odin"),
    ]
    await bring_in(opened, *more)
    asked = "How many crates of kettles did this captain order?"
    back = (await ask(opened, asked, history=History())).clarifying_question
    assert back is not None and back.startswith("Which captain do you mean? The closest passages ")
    assert {'"Freya"', '"Odin"'} <= set(back.rstrip(".").split())


async def test_a_refusal_of_something_named_asks_for_no_thing(opened: Services) -> None:
    named = await ask(opened, "Who won the crown of Freya?", history=History((ABOUT_KETTLES,)))
    assert named.abstained and not asks_which(named.clarifying_question)


async def test_a_statement_that_rests_on_an_earlier_answer_alone_is_marked(
    database_url: str,
) -> None:
    cited = {"n": 1, "title": "Kettles", "document_id": 7, "quote": "within 14 days"}
    before = EarlierTurn("Kettles?", "Opened kettles go back within 14 days [1].", (cited,))
    refused = EarlierTurn("Pumps?", "Heat pumps cost 900 euros.", abstained=True)
    said = (
        "Heat pumps are repaired within 21 days of the report. [1] "
        "Opened kettles go back within 14 days. Opened kettles go back within 99 days. "
        "Heat pumps cost 900 euros."
    )
    async with services(database_url, llm=saying(said)) as found:
        await bring_in(found, record("b.txt", PARCELS, "B"))
        history = History((before, refused))
        answer = await ask(found, "And when are heat pumps repaired?", history=history)
    told = answer.turn_json
    assert told is not None
    (one,) = told["from_history"]
    assert answer.text[one["start"] : one["end"]] == "Opened kettles go back within 14 days."
    assert one["turns_before"] == 2
    assert [each["title"] for each in one["citations"]] == ["Kettles"] and "n" not in one[
        "citations"
    ][0]
