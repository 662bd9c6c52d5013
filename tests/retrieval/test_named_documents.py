"""Documents that questions name: which they are, and that what is theirs comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from helix.domain.names import period_end
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.library.document_edits import edit_document
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.named_documents import named_documents
from helix.retrieval.vector_space import Space
from helix.storage.connections import Row
from helix.store import ChunkStore
from tests.support.fake_embedder import WordEmbedding, opened, record, word_embedder, write

COMPANIES = ("Meridian Harbor, Inc.", "Nordvik Shipping ASA", "Boreal Heating Ltd.")
ENDS = ("quarter ended April 1, 2023", "quarter ended July 1, 2023")
_PUMPS = "Revenue of pumps was {n} thousand.\n\nThe target of the plan is speed, said the board."


@pytest.fixture
async def library(database_url: str) -> AsyncIterator[ChunkStore]:
    """Two reports of each of three companies in one wording, and the policy of a fourth."""
    async with opened(database_url) as store:
        for number, company in enumerate(COMPANIES):
            for period in ENDS:
                facts = {
                    "company": company, "kind": "10-Q", "period": period,
                    "period_end": period_end(period),
                }  # fmt: skip
                text = _PUMPS.format(n=f"{number}{len(period)}")
                document = record(f"{company} {period}.pdf", text, f"{company} {period}")
                await asyncio.to_thread(write, store, replace(document, facts=facts))
        policy = replace(
            record("refund-policy.txt", "Refunds take days.", "Refund Policy"),
            facts={"company": "Target Corporation", "kind": "policy"},
        )
        await asyncio.to_thread(write, store, policy)
        yield store


async def _titles(store: ChunkStore, question: str, scope: Scope | None = None) -> list[set[str]]:
    named = await named_documents(store, question, scope or Scope())
    return [{(named.titles or {})[number] for number in group} for group in named.groups]


def _report(company: int, period: int) -> str:
    return f"{COMPANIES[company]} {ENDS[period]}"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Boreal Heating's revenue?", [{_report(2, 0), _report(2, 1)}]),
        ("What was Boreal Heating's revenue in the quarter ended July 1, 2023?", [{_report(2, 1)}]),
        ("Boreal Heating revenue, Q2 2023", [{_report(2, 1)}]),
        ("revenue of nordvik shipping as of april 1, 2023", [{_report(1, 0)}]),
        ("What does the latest 10-Q of Nordvik Shipping say?", [{_report(1, 1)}]),
        (
            "Compare Boreal Heating and Nordvik Shipping in Q1 2023",
            [{_report(2, 0)}, {_report(1, 0)}],
        ),
        ("How did Boreal Heating do from Q1 2023 to Q2 2023?", [{_report(2, 0)}, {_report(2, 1)}]),
        ("What is the target of the plan?", []),
        ("What does Target refund?", [{"Refund Policy"}]),
        ("What does the refund policy say?", [{"Refund Policy"}]),
        ("What sold in Q2 2023?", [{_report(n, 1) for n in range(3)}]),
        ("What was revenue in 1999?", []),
    ],
)
async def test_a_question_names_documents(
    library: ChunkStore, question: str, expected: list[set[str]]
) -> None:
    found = await _titles(library, question)
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


async def test_another_tenants_documents_are_not_named(library: ChunkStore) -> None:
    other = library.of("other")
    assert await _titles(other, "What was Boreal Heating's revenue?", Scope("other")) == []


@pytest.mark.parametrize("fusion", [Fusion(0.2), Fusion(None), None])
async def test_what_is_theirs_comes_first_and_what_is_not_may_still_come(
    library: ChunkStore, fusion: Fusion | None
) -> None:
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, fusion=fusion), top_k=4)
    question = "What was Boreal Heating's revenue of pumps in the quarter ended July 1, 2023?"
    plain = await retriever.search(question)
    deep = await retriever.search(question, deep=True)
    assert plain.hits[0].title == _report(2, 1)
    assert plain.hits[0].facts["company"] == COMPANIES[2]
    assert {hit.title for hit in plain.hits} > {_report(2, 1)}
    assert [title for _, title in plain.named or ()] == [_report(2, 1)]
    assert [hit.chunk_id for hit in deep.hits] == [hit.chunk_id for hit in plain.hits]


async def test_of_two_companies_both_are_among_the_first(library: ChunkStore) -> None:
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, fusion=Fusion(0.2)), top_k=2)
    found = await retriever.search("Compare the pumps of Boreal Heating and Nordvik Shipping")
    assert {hit.facts["company"] for hit in found.hits} == {COMPANIES[1], COMPANIES[2]}


async def test_a_question_that_names_a_document_is_embedded_once_while_the_names_are_looked_up(
    library: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    embed, read = WordEmbedding._aget_query_embedding, ChunkStore.read
    looked_up = asyncio.Event()

    async def embedding(self: WordEmbedding, query: str) -> list[float]:
        events.append("embed")
        async with asyncio.timeout(60):  # the names do not wait for the vector
            await looked_up.wait()
        return await embed(self, query)

    async def reading(self: ChunkStore, statement: str, values: dict[str, Any]) -> list[Row]:
        looked_up.set()
        return await read(self, statement, values)

    monkeypatch.setattr(WordEmbedding, "_aget_query_embedding", embedding)
    monkeypatch.setattr(ChunkStore, "read", reading)
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, None))
    found = await retriever.search("What was Boreal Heating's revenue?")
    assert found.named, "their documents are searched beside all others"
    assert events == ["embed"]


async def test_a_scope_of_the_named_documents_is_not_suggested_again(library: ChunkStore) -> None:
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, fusion=Fusion(0.2)))
    question = "What was Boreal Heating's revenue?"
    first = await retriever.search(question)
    ids = tuple(number for number, _ in first.named or ())
    assert len(ids) == 2
    assert (await retriever.search(question, Scope(document_ids=ids))).named is None


async def test_a_search_is_narrowed_by_company_and_kind(library: ChunkStore) -> None:
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, fusion=Fusion(0.2)), top_k=9)
    scope = Scope(company=("boreal heating",), kind="kind:10-q")
    found = await retriever.search("revenue of pumps", scope)
    assert {hit.facts["company"] for hit in found.hits} == {COMPANIES[2]}
    wrong = await retriever.search("revenue of pumps", replace(scope, kind="kind:policy"))
    assert wrong.reason == "filtered_empty"


async def test_what_people_change_is_found_and_survives_reading_again(library: ChunkStore) -> None:
    def edit() -> None:
        with library.transaction() as connection:
            row = connection.execute(
                "SELECT id FROM documents WHERE source_uri = 'refund-policy.txt'"
            ).fetchone()
            assert row is not None
            changes = {"title": "Returns of Goods", "facts": {"company": "Acme", "kind": None}}
            edit_document(connection, row[0], changes, library.tenant)

    await asyncio.to_thread(edit)
    again = record("refund-policy.txt", "Refunds take many days.", "Refund Policy")
    facts = {"company": "Target Corporation", "kind": "policy"}
    await asyncio.to_thread(write, library, replace(again, facts=facts))
    assert await _titles(library, "What does Acme refund?") == [{"Returns of Goods"}]
    assert await _titles(library, "What does Target refund?") == []
    (row,) = await library.fetch(
        "SELECT file_name, facts FROM documents WHERE title = 'Returns of Goods'",
        {},
    )
    assert row["file_name"] == "refund-policy.txt"
    assert row["facts"] == {"company": "Acme"}
    assert library.fingerprints(["refund-policy.txt"])["refund-policy.txt"][2] == ""


async def test_a_tenants_own_documents_are_named_whoever_holds_the_store(
    library: ChunkStore,
) -> None:
    facts = {"company": "Quarry Works Ltd.", "kind": "policy"}
    document = replace(record("stone.txt", "Stone is cut.", "Stone"), facts=facts)
    await asyncio.to_thread(write, library.of("other"), document)
    retriever = GatedRetriever(library, Space(word_embedder(), 2.0, fusion=Fusion(0.2)))
    found = await retriever.search("What does Quarry Works cut?", Scope("other"))
    assert [title for _, title in found.named or ()] == ["Stone"]
    assert (await retriever.search("What does Quarry Works cut?")).named is None
