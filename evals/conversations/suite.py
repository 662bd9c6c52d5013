"""Conversations over ``samples/``: what each turn must say, or why it must not be answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.database import ingest
from evals.suites import ROOT, Suite
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.history import EarlierTurn, History
from helix.domain.scope import Scope
from helix.evidence.model import LIKELY
from helix.services import open_services
from helix.settings import Settings

CONVERSATIONS = Path(__file__).with_name("samples.json")
SUITE = Suite("conversations", ROOT, "samples", [])


@dataclass(frozen=True)
class TurnOutcome:
    """A turn of a conversation, and what is wrong with its answer; nothing where it went well.

    Of a ``known`` one faults are told, and end no run.
    """

    conversation: str
    question: str
    faults: list[str]
    known: bool = False


async def outcomes(settings: Settings) -> list[TurnOutcome]:
    """Ask every conversation, each turn after the answers before it; the samples are stored."""
    found: list[TurnOutcome] = []
    async with open_services(settings) as services:
        for conversation in json.loads(CONVERSATIONS.read_text("utf-8")):
            turns: list[EarlierTurn] = []
            for expected in conversation["turns"]:
                question = Question(
                    expected["question"], Scope(SUITE.tenant), history=History(tuple(turns))
                )
                request = AnswerRequest(services.answering, question, recorded=False)
                answer = await request.run()
                asked, faults = expected["question"], list(_faults(expected, answer))
                known = expected.get("known", False)
                found.append(TurnOutcome(conversation["id"], asked, faults, known))
                turns.append(EarlierTurn(asked, answer.text, abstained=answer.abstained))
    return found


def bring_in_samples(settings: Settings) -> None:
    """Store ``samples/`` for the tenant of the suite; raises as evals.database.ingest does."""
    ingest(settings, SUITE)


def report(found: list[TurnOutcome]) -> Iterator[str]:
    """The number of turns that went well, and the faults of the others."""
    wrong = [one for one in found if one.faults]
    right = len(found) - len(wrong)
    yield f"{right} of {len(found)} turns of conversations over samples/ are right"
    for one in wrong:
        said = ", ".join([*one.faults, *(["known"] if one.known else [])])
        yield f"- {one.conversation}: {one.question} ({said})"


def _faults(expected: dict[str, Any], answer: Answer) -> Iterator[str]:
    if expected.get("near_miss") and not answer.abstained:
        # nothing without a model tells these words from an answer's: it must not be marked as one
        if (answer.proof.answers or 0.0) >= LIKELY:
            yield "is marked as a likely answer"
        return
    kind = answer.turn.kind if answer.turn else None
    if kind != expected["type"]:
        yield f"is {kind}, not {expected['type']}"
    if answer.reason != expected.get("refusal"):
        yield f"reason is {answer.reason}"
    understood = (answer.turn and answer.turn.understood_as) or ""
    for words in expected.get("understood", ()):
        if words.casefold() not in understood.casefold():
            yield f"is not understood to be about {words}"
    for words in expected.get("keywords", ()):
        if words.casefold() not in answer.text.casefold():
            yield f"does not say {words}"
    if answer.reason == "underspecified" and not answer.clarifying_question:
        yield "asks nothing back"
