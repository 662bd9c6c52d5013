"""MCP, spoken by the SDK's own client: over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from helix.domain.contract import REFUSAL
from tests.support.mcp_sessions import Mode, called, connected, refused
from tests.support.query_service import QUESTION, REFUNDS, a_store, asked, store_text
from tests.support.repository import ROOT
from tests.support.service_process import environment
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

if TYPE_CHECKING:  # loading the client takes seconds, in each process that collects the tests
    pass

_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_read_the_very_characters(client: httpx.Client, mode: Mode) -> None:
    same = asked(client)
    (citation,) = same["citations"]
    place = f"{client.base_url}/#/source/{citation['document_id']}"

    async def use() -> None:
        async with connected(client, mode=mode) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(tools) == {"search", "fetch", "ask", "list_documents", "read_passage"}
            assert all(t.annotations and t.annotations.read_only_hint for t in tools.values())
            found = await called(session, "search", query=QUESTION)
            keys = ("id", "title", "url", "snippet", "score")
            assert {tuple(one) for one in found["results"]} == {keys}
            first = found["results"][0]
            assert first["snippet"] and REFUNDS.startswith(first["snippet"].rstrip("…"))
            scores = [one["score"] for one in found["results"] if one["score"] is not None]
            assert scores and all(0 <= score <= 1 for score in scores)
            passage = await called(session, "fetch", id=first["id"])
            assert set(passage) == {"id", "title", "text", "url", "metadata"}
            span = passage["metadata"]
            assert passage["text"] == REFUNDS[span["start"] : span["end"]]
            assert first["url"] == passage["url"]
            assert passage["url"] == f"{place}?start={span['start']}&end={span['end']}"
            whole = await called(session, "fetch", id=f"document:{citation['document_id']}")
            assert whole["text"] == REFUNDS
            answer = await called(session, "ask", question=QUESTION)
            assert (answer["answer"], answer["abstained"]) == (same["answer"], False)
            (cited,) = answer["citations"]
            assert REFUNDS[cited["start"] : cited["end"]] == cited["quote"] == citation["quote"]
            assert cited["url"] == f"{place}?start={cited['start']}&end={cited['end']}"
            assert (await called(session, "ask", question="Zebras?"))["answer"] == REFUSAL

    asyncio.run(use())


def test_a_search_is_narrowed_by_the_filters_of_a_query(client: httpx.Client) -> None:
    (citation,) = asked(client)["citations"]
    own = citation["document_id"]

    async def use() -> None:
        async with connected(client) as session:

            async def titles(**filters: Any) -> list[str]:
                found = await called(session, "search", query=QUESTION, **filters)
                return [one["title"] for one in found["results"]]

            assert len(await titles(limit=1)) == 1
            within = await titles(document_ids=[own], since="2020-01-01T00:00:00Z")
            assert within and all("Refund Policy" in title for title in within)
            for nothing in (
                {"tags": ["no such"]}, {"source_prefix": "nowhere/"}, {"company": "Nobody"},
                {"kind": "10-Q"}, {"until": "2020-01-01T00:00:00+02:00"},
                {"document_ids": [2**62]}, {"metadata": [{"key": "year", "value": 1900}]},
            ):  # fmt: skip
                assert await titles(**nothing) == [], nothing
            absent = [{"key": "year", "op": "exists", "value": False}]
            assert await titles(metadata=absent) == await titles()
            listed = await called(session, "list_documents", metadata=absent)
            assert listed["total"] == len(listed["documents"]) and not any(
                document["metadata"] for document in listed["documents"]
            )
            for name, wrong in (
                ("metadata", [{"key": "1", "value": 1}]), ("metadata", [{"key": "a", "op": "~"}]),
                ("limit", 51), ("since", "yesterday"), ("since", "2026-01-31T09:00:00"),
                ("source_prefix", "a\u0000b"), ("kind", ""), ("document_ids", []),
                ("document_ids", [2**70]), ("tags", [""]),
            ):  # fmt: skip
                told = await refused(session, "search", query=QUESTION, **{name: wrong})
                assert name.removesuffix("s") in told and "database" not in told

    asyncio.run(use())


def test_documents_are_listed_read_and_handed_out_as_resources(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    from mcp import MCPError

    async def use() -> None:
        async with connected(client) as session:
            listed = await called(session, "list_documents", search_for="refund")
            (document,) = listed["documents"]
            assert (document["title"], listed["total"]) == ("Refund Policy", 1)
            number = document["id"]
            passage = await called(session, "read_passage", document_id=number, start=4, end=11)
            assert (passage["text"], passage["of"]) == (REFUNDS[4:11], len(REFUNDS))
            resources = {str(r.uri): r.name for r in (await session.list_resources()).resources}
            assert resources[f"helix://documents/{number}"] == "Refund Policy"
            (text,) = (await session.read_resource(f"helix://documents/{number}")).contents
            assert getattr(text, "text", None) == REFUNDS
            with pytest.raises(MCPError, match="987654: list_documents lists them"):
                await session.read_resource("helix://documents/987654")
            prompted = await session.get_prompt("research", {"question": "Why?"})
            content = prompted.messages[0].content
            assert content.type == "text" and "Question: Why?" in content.text
            for name, told in (("research", "question is missing"), ("poem", "no prompt poem")):
                with pytest.raises(MCPError, match=told):
                    await session.get_prompt(name, {"topic": "a"})

    asyncio.run(use())
    assert "prompts/get" not in caplog.text


def test_what_fails_is_a_line_for_the_model(client: httpx.Client, wire: GeminiWire) -> None:
    async def use() -> None:
        async with connected(client) as session:
            assert "there is no chunk" in await refused(session, "fetch", id="987654")
            assert "document:" in await refused(session, "fetch", id="../etc")
            assert "document" in await refused(session, "read_passage", document_id=987654)
            backwards = await refused(session, "read_passage", document_id=1, start=9, end=3)
            assert "end, 3, lies before start, 9" in backwards
            unknown = await refused(session, "search", query="refund", tag="policy")
            assert unknown.endswith(
                "tag is no argument of search: query, limit, document_ids, tags, source_prefix,"
                " company, kind, since, until, metadata are"
            )
            none = await refused(session, "read_passage", document_id=987654)
            assert none == "there is no document 987654: list_documents lists them"
            assert await refused(session, "ask", question=" ") == "question is missing or blank"
            assert await refused(session, "search", query="") == "query is missing or blank"
            assert (await refused(session, "search", query="x" * 4001)).startswith("query has 4001")
            assert (await refused(session, "search")).startswith("query: ")
            assert (await refused(session, "ask", question="?", mode="x")).startswith("mode: ")
            assert (await refused(session, "ask", question="?", tags=[""])).count("\n") == 0
            for beyond in (2**70, 2**63, 0, -1):
                told = await refused(session, "ask", question=QUESTION, document_ids=[beyond])
                assert "document_ids" in told and "database" not in told
                await refused(session, "read_passage", document_id=beyond)
            for broken in (
                Answer(deltas=(), block="SAFETY"),
                Answer(deltas=("Half an ", "ans"), then="cut"),
                Answer(deltas=("Half an ", "ans"), finish="SAFETY"),
            ):
                wire.script(broken, on="generate")
                assert "Half" not in await refused(session, "ask", question=QUESTION)

    asyncio.run(use())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_long_call_tells_its_progress(
    client: httpx.Client, wire: GeminiWire, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix.protocols.mcp_progress.SECONDS", 0.1)
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        heard.append((progress, message))

    async def use() -> None:
        async with connected(client, mode=mode) as session:
            for callback in (hear, None):
                wire.script(Answer(deltas=("word ",) * 20, delay=0.05), on="generate")
                question = {"question": QUESTION}
                done = await session.call_tool("ask", question, progress_callback=callback)
                assert not done.is_error

    asyncio.run(use())
    assert len(heard) >= 3 and heard[0] == (0.1, "ask is at work")
    assert heard == sorted(heard)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_leaves_closes_the_models_stream(
    client: httpx.Client, wire: GeminiWire, mode: Mode
) -> None:
    abandoned = wire.abandoned
    wire.script(Answer(deltas=("word ",) * 400, delay=0.05), on="generate")

    async def leave() -> None:
        async with connected(client, mode=mode) as session:
            asking = asyncio.create_task(session.call_tool("ask", {"question": QUESTION}))
            while wire.open_streams == 0:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(leave())
    assert wire.wait_until(lambda w: w.open_streams == 0 and w.abandoned == abandoned + 1)


def test_a_large_document_is_read_in_parts(client: httpx.Client, module_database_url: str) -> None:
    lines = [f"Line {n} of the long list of lamps." for n in range(4000)]
    # a paragraph is a chunk, and it is the document that has to be long
    text = "\n\n".join("\n".join(lines[at : at + 500]) for at in range(0, len(lines), 500))
    with a_store(module_database_url) as store:
        number = store_text(store, "long/list.md", "Long list", text)

    async def use() -> None:
        async with connected(client) as session:
            whole = await called(session, "fetch", id=f"document:{number}")
            assert whole["text"] == text[:100_000] and whole["metadata"]["of"] == len(text)
            rest = await called(session, "read_passage", document_id=number, start=100_000)
            assert whole["text"] + rest["text"] == text
            asked_for = {"document_id": number, "start": 50, "end": 2**40}
            some = await called(session, "read_passage", **asked_for)
            assert (some["start"], some["end"]) == (50, 100_050)
            beyond = await called(session, "read_passage", document_id=number, start=2**40)
            assert (beyond["text"], beyond["start"]) == ("", len(text))

    asyncio.run(use())
    assert client.delete(f"/v1/documents/{number}").status_code == 204


def test_other_sites_and_large_bodies_stay_out(client: httpx.Client) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post("/mcp", json={}, headers=headers).status_code == 403
    assert client.post("/mcp", json={}, headers={"Host": "evil.example"}).status_code == 421
    large = client.post("/mcp", content=b" " * (2**21 + 1), headers=_JSON)
    assert large.status_code == 413
    for kind in ("text/plain", "", "application/json-seq"):
        refused = client.post("/mcp", content=b"{}", headers={"Content-Type": kind})
        assert refused.status_code == 415 and "application/json" in refused.json()["error"]
    assert client.get("/mcp").status_code == 405


@pytest.mark.processes
def test_it_is_spoken_over_standard_streams(
    stored: dict[str, int], wire: GeminiWire, module_database_url: str
) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    values = environment(
        DATABASE_URL=module_database_url, GEMINI_API_KEY="wire-test-key",
        RETRIEVAL_MAX_DISTANCE="0.8", GOOGLE_GEMINI_BASE_URL=wire.base_url,
        HELIX_URL="https://docs.example.com",
    )  # fmt: skip
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "helix.cli", "mcp", "--tenant", "acme"],
        env=values, cwd=str(ROOT),
    )  # fmt: skip

    async def use() -> None:
        async with Client(command) as session:
            (document,) = (await called(session, "list_documents"))["documents"]
            assert document["url"] == f"https://docs.example.com/#/source/{document['id']}"
            answer = await called(session, "ask", question="Does Acme refund a request?")
            assert answer["citations"][0]["quote"] == "Acme refunds a request never."

    asyncio.run(use())


@pytest.mark.processes
def test_links_lead_somewhere_where_no_server_is_known(
    stored: dict[str, int], wire: GeminiWire, module_database_url: str
) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    values = environment(
        DATABASE_URL=module_database_url, GEMINI_API_KEY="wire-test-key",
        GOOGLE_GEMINI_BASE_URL=wire.base_url,
    )  # fmt: skip
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "helix.cli", "mcp", "--tenant", "acme"],
        env=values, cwd=str(ROOT),
    )  # fmt: skip

    async def use() -> None:
        async with Client(command) as session:
            (document,) = (await called(session, "list_documents"))["documents"]
            assert document["url"] == f"helix://documents/{document['id']}"
            (text,) = (await session.read_resource(document["url"])).contents
            assert getattr(text, "text", None) == "Acme refunds a request never."

    asyncio.run(use())
