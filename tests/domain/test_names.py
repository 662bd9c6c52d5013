"""Names of documents, and the names that questions may have."""

from __future__ import annotations

import pytest

from helix.domain.names import asked_names, company_names, document_names, facts_line, with_edits

FACTS = {
    "company": "Meridian Harbor, Inc.", "ticker": "MHBR", "kind": "10-Q", "fiscal": "Q3 2023",
    "period": "quarter ended July 1, 2023", "author": "Chen, Pei-Jer; T. Wu",
}  # fmt: skip


@pytest.mark.parametrize(
    ("company", "name"),
    [
        ("Apple Inc.", "apple"), ("The Coca-Cola Company", "coca cola"),
        ("Amazon.com, Inc.", "amazon"),
        ("NORDVIK SHIPPING ASA", "nordvik shipping"), ("Boreal GmbH & Co. KG", "boreal"),
    ],
)  # fmt: skip
def test_a_company_goes_by_its_name_without_legal_form(company: str, name: str) -> None:
    assert name in set(company_names(company))


def test_a_document_has_names_of_every_kind() -> None:
    names = document_names("Pumps in Cold Water", "2023 Q3 MHBR.pdf", FACTS)
    assert {
        ("company", "meridian harbor"), ("company", "mhbr"), ("kind", "kind:10-q"),
        ("title", "pumps in cold water"), ("file", "2023 q3 mhbr"), ("author", "chen"),
        ("author", "pei jer chen"), ("author", "wu"), ("period", "quarter:2023-3"),
        ("period", "day:2023-07-01"), ("period", "year:2023"),
    } <= names  # fmt: skip


@pytest.mark.parametrize("title", ["Annual Report", "Document 3", "Form 10-Q"])
def test_a_title_that_could_be_anyones_is_no_name(title: str) -> None:
    assert not [name for kind, name in document_names(title, "file.pdf", {}) if kind == "title"]


def test_a_question_may_have_any_run_of_its_words() -> None:
    asked = asked_names("What was Meridian Harbor's latest 10-Q for Q3 2023?")
    named = {each.name: each.proper for each in asked.called}
    assert named["meridian harbor"] and not named["latest"]
    assert [period.keys[0] for period in asked.periods] == ["quarter:2023-3"]
    assert "10-Q" in asked.kinds and asked.latest


def test_a_question_without_capitals_may_have_proper_names() -> None:
    assert all(each.proper for each in asked_names("what did target sell").called)
    assert not any(each.proper for each in asked_names("What is the target").called[5:])


def test_the_line_of_facts_has_only_what_the_title_has_not_and_no_authors() -> None:
    assert "author" in FACTS
    assert facts_line("Meridian Harbor, Inc. 10-Q, quarter ended July 1, 2023", FACTS) == (
        "Q3 2023 | MHBR"
    )


def test_an_edited_fact_has_no_span_and_may_be_taken_away() -> None:
    read = {**FACTS, "spans": {"company": [0, 5], "kind": [6, 9]}}
    edits = {"facts": {"company": "Acme", "fiscal": None, "period": "Q1 2020"}}
    edited = with_edits(read, edits)
    assert (edited["company"], edited["kind"]) == ("Acme", "10-Q")
    assert edited["spans"] == {"kind": [6, 9]}
    assert "fiscal" not in edited
    assert edited["period_end"] == "2020-03-28"
