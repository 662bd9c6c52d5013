"""Questions about the library go the one answering path: a greeting, the list, a summary."""

from __future__ import annotations

from helix.domain.question_analysis import courtesy
from helix.domain.scope import Scope
from tests.support.receipt_corpus import ask, bring_in, document, services


async def test_a_greeting_and_the_list_claim_nothing(database_url: str) -> None:
    async with services(database_url) as opened:
        empty = await ask(opened, "What documents do you have?")
        assert empty.text == "There are no documents here yet."
        await bring_in(opened, document(1), document(2))
        await bring_in(opened, document(3), tenant="acme")
        hello = await ask(opened, "Hello!")
        listed = await ask(opened, "What documents do you have?")
    assert (hello.text, hello.reason) == (courtesy("hi"), None)
    titles = [document(1).title, document(2).title]
    assert listed.text.splitlines() == ["There are 2 documents:", "", *(f"- {t}" for t in titles)]
    for answer in (hello, listed):
        assert (answer.citations, answer.proof.statements, answer.prompt) == ([], (), None)


async def test_a_summary_quotes_the_document_it_names(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        answer = await ask(opened, f"Summarize {document(2).title}")
    assert answer.reason is None, answer.prompt
    assert {citation["title"] for citation in answer.citations} == {document(2).title}
    assert answer.proof.ratio == 1.0


async def test_this_document_is_the_one_in_scope(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        listed = await ask(opened, "What documents do you have?", scope=Scope(tags=("none",)))
        assert listed.text == "There are no documents here yet."
        first = await ask(opened, f"Summarize {document(1).title}")
        only = Scope(document_ids=tuple(first.cited_documents[:1]))
        answer = await ask(opened, "Summarize this document", scope=only)
    assert answer.text == first.text
