"""Who holds an office, by signatures, rows and reports; nobody where it is another office."""

from __future__ import annotations

import pytest

from helix.domain.asked import read_question
from helix.domain.source_place import SourcePlace
from helix.providers.offline.people import holder
from helix.providers.offline.reading import PromptSource

SIGNED = """SIGNATURE

Exhibit 31.1 Certification of the Chief Executive Officer

By: /s/ PETRA M. LINDQVIST

Petra M. Lindqvist

Chief Executive Officer and Director

/s/ Odd Aas

Odd Aas

Senior Vice President,

Chief Financial Officer

/s/ Whitcombe & Lowe LLP

We have served as the Company’s auditor since 2006."""
ROWS = """Name | Age | Position
Iris K. Vang | Age: 49 | Position: General Counsel and Secretary
Bo Lund | Age: 61 | Position: Former Chief Operating Officer"""


def source(text: str, period_end: str = "2023-09-30", company: str = "Quarry Inc.") -> PromptSource:
    facts = {"company": company, "period_end": period_end}
    return PromptSource(1, text, SourcePlace("10-K", (), facts))


def told(question: str, *sources: PromptSource) -> str | None:
    found = holder(read_question(question), sources)
    if found is None:
        return None
    return " ".join(sources[found.source].text[found.start : found.end].split())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is Quarry's CEO?", "Petra M. Lindqvist Chief Executive Officer and Director"),
        ("Who is the CFO?", "Odd Aas Senior Vice President, Chief Financial Officer"),
        ("Who audits Quarry?", "/s/ Whitcombe & Lowe LLP We have served as the Company’s auditor"),
        ("Who is the general counsel of Quarry?", "Iris K. Vang | Age: 49 | Position: General"),
    ],
)
def test_the_name_beside_the_office(question: str, answer: str) -> None:
    assert (told(question, source(SIGNED), source(ROWS)) or "").startswith(answer)


@pytest.mark.parametrize(
    "question",
    [
        "Who is Quarry's chief technology officer?",
        "Who is the chief operating officer of Quarry?",
        "Who founded Quarry?",
        "When was the CEO of Quarry appointed?",
    ],
)
def test_another_office_a_former_one_or_none(question: str) -> None:
    assert told(question, source(SIGNED), source(ROWS)) is None


def test_the_newest_document_says_who_it_is() -> None:
    older = source("Ane Moe\n\nChief Executive Officer", "2022-09-30")
    assert (told("Who is Quarry's CEO?", older, source(SIGNED)) or "").startswith("Petra")


def test_two_names_in_one_office_are_no_answer() -> None:
    other = source("Ane Moe\n\nChief Executive Officer")
    assert told("Who is Quarry's CEO?", other, source(SIGNED)) is None


def test_another_companys_officer_is_no_answer() -> None:
    other = source("Ane Moe\n\nChief Executive Officer", company="Orchard Corporation")
    assert told("Who is Quarry's CEO?", other, source("Quarry", company="Quarry Inc.")) is None
