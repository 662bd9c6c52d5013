"""One answer through every protocol: the same text, and each span decodes to the stored bytes.

Documents have emoji, combining marks and text from right to left, in front of what is cited and in
it, so that a place counted in the wrong unit is a wrong place.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from helix.store import ChunkStore
from tests.support.ai_sdk import chat, part, parts_of, text_of, units
from tests.support.mcp_sessions import called, connected
from tests.support.query_service import QUESTION, REFUNDS, a_store, asked, store_text
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

WORDS = (
    "süß", "e\u0301te\u0301", "🦆", "\U0001f469\u200d\U0001f680", "🇳🇴", "שלום", "مرحبا", "𝕏𝕐",
    "नमस्ते", "ไทย", "\u202eabc\u202c", "naïve", "漢字", "plain", "o\u0308l",
)  # fmt: skip
Span = tuple[str, str]
"""The characters of a marker, and those that it leads to."""


@dataclass(frozen=True)
class Shelf:
    """Documents of odd characters, by id, and a question for each."""

    texts: dict[int, str]
    questions: dict[int, str]

    def at(self, url: str) -> str:
        """The stored characters that a link leads to."""
        path, _, query = urlsplit(url).fragment.partition("?")
        place = {name: int(values[0]) for name, values in parse_qs(query).items()}
        return self.texts[int(path.rpartition("/")[2])][place["start"] : place["end"]]


def stored(store: ChunkStore, count: int) -> Shelf:
    draw, texts, questions = random.Random(19), {}, {}
    for number in range(count):
        odd = [" ".join(draw.choices(WORDS, k=draw.randint(2, 6))) for _ in range(2)]
        key = f"lantern{number}x"
        fact = f"The {key} {odd[1]} shines {number} hours"
        text = f"{odd[0]} stands before it.\n\n{fact}.\n\n{odd[1]} comes behind."
        questions[store_text(store, f"odd/{number}", f"Odd {number} {odd[0]}", text)] = (
            f"How many hours does the {key} shine?"
        )
        texts[max(questions)] = text
    return Shelf(texts, questions)


def by_chat(client: httpx.Client, question: str, shelf: Shelf) -> tuple[str, list[Span]]:
    body = {"model": "helix", "messages": [{"role": "user", "content": question}]}
    message = client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]
    return message["content"], _decoded(
        message["content"], [one["url_citation"] for one in message["annotations"]], shelf
    )


def by_chat_stream(client: httpx.Client, question: str, shelf: Shelf) -> tuple[str, list[Span]]:
    body = {"model": "helix", "messages": [{"role": "user", "content": question}], "stream": True}
    frames = client.post("/v1/chat/completions", json=body).text.split("\n\n")[:-2]
    deltas = [json.loads(frame[6:])["choices"][0]["delta"] for frame in frames]
    text = "".join(delta.get("content", "") for delta in deltas)
    cited = [one["url_citation"] for delta in deltas for one in delta.get("annotations", ())]
    return text, _decoded(text, cited, shelf)


def by_responses(client: httpx.Client, question: str, shelf: Shelf) -> tuple[str, list[Span]]:
    body = {"model": "helix", "input": question, "stream": True}
    frames = client.post("/v1/responses", json=body).text.split("\n\n")[:-1]
    events = [json.loads(frame.partition("\ndata: ")[2]) for frame in frames]
    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    added = [e for e in events if e["type"] == "response.output_text.annotation.added"]
    return text, _decoded(text, [event["annotation"] for event in added], shelf)


def _decoded(text: str, cited: list[dict[str, Any]], shelf: Shelf) -> list[Span]:
    return [(text[one["start_index"] : one["end_index"]], shelf.at(one["url"])) for one in cited]


def by_ai_sdk(client: httpx.Client, question: str, shelf: Shelf) -> tuple[str, list[Span]]:
    parts = parts_of(client.post("/v1/ui/chat", json=chat(question)))
    text, spans = text_of(parts), []
    for one in part(parts, "text-end")["citations"]:
        own = one["source"]["providerMetadata"]["helix"]
        assert one["citedText"] == shelf.texts[own["documentId"]][own["start"] : own["end"]]
        spans.append((units(text, one["startIndex"], one["endIndex"]), shelf.at(own["url"])))
    return text, spans


def by_mcp(client: httpx.Client, question: str, shelf: Shelf) -> tuple[str, list[Span]]:
    async def ask() -> dict[str, Any]:
        async with connected(client) as session:
            return await called(session, "ask", question=question)

    told = asyncio.run(ask())
    for one in told["citations"]:
        assert one["quote"] == shelf.texts[one["document_id"]][one["start"] : one["end"]]
    return told["answer"], [(f"[{one['n']}]", shelf.at(one["url"])) for one in told["citations"]]


PROTOCOLS = (by_chat, by_chat_stream, by_responses, by_ai_sdk, by_mcp)


def _compare(client: httpx.Client, shelf: Shelf) -> int:
    spans = 0
    for number, question in shelf.questions.items():
        same = asked(client, question=question)
        quotes = [citation["quote"] for citation in same["citations"]]
        assert quotes and all(quote in shelf.texts[number] for quote in quotes), question
        for told_by in PROTOCOLS:
            text, found = told_by(client, question, shelf)
            assert text == same["answer"], told_by
            assert found == [("[1]", quote) for quote in quotes], told_by
            spans += len(found)
    return spans


@pytest.fixture
def shelf(store: ChunkStore, request: pytest.FixtureRequest) -> Iterator[Shelf]:
    yield stored(store, request.param)


@pytest.mark.parametrize("shelf", [5], indirect=True)
def test_the_same_text_and_spans_through_every_protocol(client: httpx.Client, shelf: Shelf) -> None:
    assert _compare(client, shelf) == 5 * len(PROTOCOLS)


def test_a_source_that_helix_found_is_told_by_every_protocol(
    client: httpx.Client, wire: GeminiWire
) -> None:
    """It stands at the end of its statement, which has no marker."""
    said = "Refunds are accepted within 30 days of purchase. Birds can fly."

    def says() -> None:
        wire.script(Answer(deltas=tuple(f"{word} " for word in said.split())), on="generate")

    says()
    (cited,) = (same := asked(client))["citations"]
    assert cited["by"] == "helix" and cited["quote"] and "[" not in same["answer"]
    shelf = Shelf({cited["document_id"]: REFUNDS}, {})
    for told_by in PROTOCOLS:
        says()
        _, found = told_by(client, QUESTION, shelf)
        assert found == [("[1]" if told_by is by_mcp else "", cited["quote"])], told_by
    says()
    body = {"model": "helix", "messages": [{"role": "user", "content": QUESTION}]}
    told = client.post("/v1/chat/completions", json=body).json()
    (one,) = told["choices"][0]["message"]["annotations"]
    assert one["url_citation"]["by"] == "helix"
    assert said[: one["url_citation"]["end_index"]] == said.partition(" Birds")[0]
    assert [told["citations"], told["search_results"][0]["snippet"]] == [
        [one["url_citation"]["url"]], cited["quote"],
    ]  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("shelf", [500], indirect=True)
@pytest.mark.timeout(3600)
def test_the_same_for_five_hundred_answers(client: httpx.Client, shelf: Shelf) -> None:
    assert _compare(client, shelf) == 500 * len(PROTOCOLS)


def test_what_came_from_the_web_is_cited_with_its_address_by_every_protocol(
    client: httpx.Client, module_database_url: str
) -> None:
    page = "https://example.org/rules/lamps?lang=en"
    text = "The lamp of the harbour was designed by Marta Lindqvist in the year 1934."
    with a_store(module_database_url) as store:
        store_text(store, page, "Lamps", text)
    question = "Who designed the lamp of the harbour?"
    same = asked(client, question=question)
    assert [one["source_url"] for one in same["citations"]] == [page]
    assert same["citations"][0]["version_id"] == sha256(text.encode()).hexdigest()
    assert asked(client)["citations"][0]["source_url"] is None
    message = {"role": "user", "content": question}
    told = client.post("/v1/chat/completions", json={"model": "helix", "messages": [message]})
    (annotation,) = told.json()["choices"][0]["message"]["annotations"]
    assert annotation["url_citation"]["source_url"] == page
    assert told.json()["search_results"][0]["source_url"] == page
    parts = parts_of(client.post("/v1/ui/chat", json=chat(question)))
    (source,) = (each for each in parts if each["type"] == "source-document")
    assert source["providerMetadata"]["helix"]["sourceUrl"] == page
    frames = client.get("/ask", params={"q": question}).text
    assert "example.org" not in frames, "the four keys of /ask stay four"
    number = same["citations"][0]["document_id"]
    assert client.delete(f"/v1/documents/{number}").status_code == 204
    receipt = client.get(f"/v1/answers/{same['answer_id']}").text
    assert "example.org" not in receipt, "the address goes with its document"
