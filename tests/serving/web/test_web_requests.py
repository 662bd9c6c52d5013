"""The page's requests: each is in its table, in the OpenAPI document, and in real answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import httpx
import psycopg
import pytest
from fastapi.testclient import TestClient

from helix.storage.stored_bytes import replace_layout
from tests.serving.web.files import endpoints, missing, own_files
from tests.support.live_server import live
from tests.support.printed_documents import PAGES, TABLE
from tests.support.repository import ROOT
from tests.support.service_process import run

_ENDPOINT = re.compile(r'"(GET|POST|PUT|PATCH|DELETE) (/[^"]+)"')
_WORD = re.compile(r"\w+")


def test_the_page_calls_what_is_in_its_table_and_nothing_else() -> None:
    texts = [path.read_text() for path in own_files(".js") if path.name != "endpoints.js"]
    called = {" ".join(found) for text in texts for found in _ENDPOINT.findall(text)}
    assert called == set(endpoints())
    words = {word for text in texts for word in _WORD.findall(text)}
    for name, known in endpoints().items():
        fields = {field for path in known.get("reads", []) for field in _WORD.findall(path)}
        assert fields - {"file", "run", "token", "done", "library"} <= words, name


def test_what_the_page_sends_is_in_the_openapi_document(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    for name, known in endpoints().items():
        method, path = name.split(" ")
        operation = document["paths"].get(path, {}).get(method.lower())
        assert operation is not None, name
        places = {(one["in"], one["name"]) for one in operation.get("parameters", [])}
        named = {("path", part) for part in re.findall(r"{(\w+)}", path)}
        assert named <= places, name
        assert {("query", query) for query in known.get("query", [])} <= places, name
        # every request may carry the tenant in its address
        assert ("query", "tenant_id") in places, name
        assert set(known.get("body", [])) <= _keys(document, operation), name


def _keys(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    """The keys of a request's body by the document, those of objects in it as ``filters.tags``."""
    contents = operation.get("requestBody", {}).get("content", {}).values()
    return {key for content in contents for key in _properties(document, content["schema"])}


def _properties(document: dict[str, Any], schema: dict[str, Any], before: str = "") -> set[str]:
    if reference := schema.get("$ref"):
        return _properties(document, _resolved(document, reference), before)
    found = {
        key
        for option in schema.get("anyOf", [])
        for key in _properties(document, option, before)
    }  # fmt: skip
    for name, value in schema.get("properties", {}).items():
        found |= {f"{before}{name}", *_properties(document, value, f"{before}{name}.")}
    return found


def _resolved(document: dict[str, Any], reference: str) -> dict[str, Any]:
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def served(module_database_url: str) -> Iterator[httpx.Client]:
    """A server over the samples, brought in by the real pipeline."""
    told = run(
        "-m", "pipelines.ingest", str(ROOT / "samples"),
        DATABASE_URL=module_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    # suggestions: or those below would be replaced
    options = {"suggestions": "off", "progress": "on"}
    with (
        live(module_database_url, **options) as client,
        psycopg.connect(module_database_url) as sql,
    ):
        replace_layout(sql, "default", _id_of(client, "Refund Policy"), PAGES, (TABLE,))
        sql.execute(
            "INSERT INTO suggested_questions (document_id, question, is_supported, library)"
            " SELECT min(id), 'What is it?', true, '' FROM documents"
        )
        sql.commit()
        yield client


def _id_of(client: httpx.Client, title: str) -> int:
    (found,) = client.get("/v1/documents", params={"q": title}).json()["documents"]
    return int(found["id"])


def _read_of(client: httpx.Client) -> dict[str, object]:
    """A real answer to each endpoint of the table; of streams, their events by name."""
    conversations = _read_of_conversations(client)
    answer = conversations["POST /v1/conversations/{conversation_id}/messages"]
    receipt = f"/v1/answers/{answer['done']['answer_id']}"
    chunk = client.get(f"/v1/chunks/{answer['citations'][0]['chunk_id']}").json()
    document = f"/v1/documents/{_id_of(client, 'Travel Handbook')}"
    printed = f"/v1/documents/{_id_of(client, 'Refund Policy')}"
    files = [("file", ("note.txt", b"The lamp oil is kept in the cellar of the mill."))]
    ingested = f"/v1/runs/{client.get('/v1/runs').json()['runs'][0]['id']}/events"
    files.append(("file", ("strange.bin", bytes(90))))
    sent = client.post("/v1/documents", files=files, params={"partial": True}).json()
    upload = f"/v1/documents/{sent['documents'][0]['id']}"
    return {
        "GET /v1/documents": client.get("/v1/documents").json(),
        "GET /v1/documents/{document_id}": client.get(document).json(),
        "GET /v1/documents/{document_id}/pages": client.get(f"{printed}/pages").json(),
        "GET /v1/documents/{document_id}/tables": client.get(f"{printed}/tables").json(),
        "GET /v1/documents/{document_id}/boxes": client.get(
            f"{printed}/boxes", params={"start": 0, "end": 9}
        ).json(),
        "GET /v1/chunks/{chunk_id}": chunk,
        "GET /v1/library/ids": client.get("/v1/library/ids").json(),
        "GET /v1/library/events": _events(client, "GET", "/v1/library/events?most=1"),
        "POST /v1/documents/samples": client.post("/v1/documents/samples").json(),
        "POST /v1/documents/crawl": client.post(
            "/v1/documents/crawl", json={"url": "http://127.0.0.1/"}
        ).json(),
        "POST /v1/documents/batch": client.post(
            "/v1/documents/batch", json={"action": "label", "ids": [1], "add": ["a"]}
        ).json(),
        "POST /v1/documents/metadata": client.post(
            "/v1/documents/metadata",
            json={
                "ids": client.get("/v1/library/ids").json()["ids"][:1],
                "metadata": {"year": 2026},
            },
        ).json(),
        "POST /v1/documents": sent,
        "POST /v1/documents/url": client.post(
            "/v1/documents/url", json={"url": "http://127.0.0.1/"}
        ).json(),
        "PATCH /v1/documents/{document_id}": client.patch(document, json={"tags": ["a"]}).json(),
        "GET /v1/library": client.get("/v1/library").json(),
        "POST /v1/documents/{document_id}/reingest": client.post(f"{upload}/reingest").json(),
        "GET /v1/runs/{run_id}/events": _events(client, "GET", ingested),
        **conversations,
        **_read_of_spaces(client),
        "GET /v1/answers/{answer_id}": client.get(receipt).json(),
        "GET /v1/answers/{answer_id}/verify": client.get(f"{receipt}/verify").json(),
        "GET /v1/suggestions": client.get("/v1/suggestions").json(),
        "GET /v1/search": client.get("/v1/search", params={"q": "refund"}).json(),
        "GET /v1/about": client.get("/v1/about").json(),
        "GET /v1/privacy": client.get("/v1/privacy").json(),
        **_read_of_prompts(client),
        "GET /v1/progress": client.get("/v1/progress").json(),
        "GET /v1/progress/days/{day}": client.get(f"/v1/progress/days/{date.today()}").json(),
    }


def _read_of_spaces(client: httpx.Client) -> dict[str, Any]:
    """The same of a space that is made, filled, emptied and deleted."""
    made = client.post("/v1/spaces", json={"name": "Board"}).json()
    place, pattern = f"/v1/spaces/{made['id']}", "/v1/spaces/{space_id}"
    told = {
        "POST /v1/spaces": made,
        "GET /v1/spaces": client.get("/v1/spaces").json(),
        f"PATCH {pattern}": client.patch(place, json={"name": "The board"}).json(),
        f"POST {pattern}/documents": client.post(f"{place}/documents", json={"add": [1]}).json(),
    }
    client.delete(place)
    return told


def _read_of_prompts(client: httpx.Client) -> dict[str, Any]:
    """The same of a prompt that is changed, tried and put back."""
    place, pattern = "/v1/prompts/answering_style", "/v1/prompts/{name}"
    tried = {"text": "Be brief.", "question": "How long do I have to request a refund?"}
    told = {
        f"POST {pattern}": client.post(place, json={"text": "Be brief."}).json(),
        f"POST {pattern}/rollback": client.post(f"{place}/rollback", json={"version": 1}).json(),
        f"POST {pattern}/preview": client.post(f"{place}/preview", json=tried).json(),
        "GET /v1/prompts": client.get("/v1/prompts").json(),
        f"GET {pattern}": client.get(place).json(),
    }
    return told | {f"DELETE {pattern}": client.delete(place).json()}


def _read_of_conversations(client: httpx.Client) -> dict[str, Any]:
    """The same of a conversation and a document of its own."""
    begun = client.post("/v1/conversations", json={}).json()
    place, pattern = f"/v1/conversations/{begun['id']}", "/v1/conversations/{conversation_id}"
    asked = {"question": "How long do I have to request a refund?", "debug": True, "verdict": True}
    path = f"{place}/messages"
    by_agent = _events(client, "POST", path, json=asked | {"mode": "agent"})
    answer = by_agent | _events(client, "POST", path, json=asked)
    message = f"{place}/messages/{answer['message']['message_id']}"
    one = f"{pattern}/messages/{{message_id}}"
    told = {
        "POST /v1/conversations": begun,
        f"POST {pattern}/messages": answer,
        f"POST {one}/edit": _events(client, "POST", f"{message}/edit", json=asked),
        f"POST {one}/regenerate": _events(client, "POST", f"{message}/regenerate"),
        f"GET {one}/events": _events(client, "GET", f"{message}/events"),
        f"GET {pattern}": client.get(place).json(),
        f"PATCH {pattern}": client.patch(place, json={"title": "Refunds"}).json(),
        "GET /v1/conversations": client.get("/v1/conversations").json(),
    }
    file = ("oil.txt", b"The lamp oil of the lighthouse is kept in a cellar.")
    attached = f"{place}/attachments"
    sent = client.post(attached, files=[("file", file)]).json()
    document = f"{attached}/{sent['documents'][0]['id']}"
    return told | {
        f"POST {pattern}/attachments": sent,
        f"GET {pattern}/attachments": client.get(attached).json(),
        f"GET {pattern}/attachments/{{document_id}}": client.get(document).json(),
        **{
            f"GET {pattern}/attachments/{{document_id}}/{part}": client.get(
                f"{document}/{part}", params={"start": 0, "end": 8} if part == "boxes" else {}
            ).json()
            for part in ("pages", "tables", "boxes")
        },
    }


def _events(client: httpx.Client, method: str, path: str, **sent: Any) -> dict[str, Any]:
    headers = {"Accept": "text/event-stream"}
    text = client.request(method, path, headers=headers, **sent).text
    found = re.findall(r"^event: (\w+)\ndata: (.*)$", text, re.MULTILINE)
    return {name: json.loads(data) for name, data in found}


def test_what_the_page_reads_is_in_real_answers(served: httpx.Client) -> None:
    answers = _read_of(served)
    # a model that sees, a model server, a report, a worker, who asks: tests/browser has them
    elsewhere = {
        "POST /v1/transcribe", "GET /v1/evals/last", "GET /v1/local-servers",
        "GET /v1/usage", "GET /v1/usage/limits",
        "POST /v1/conversations/{conversation_id}/images",
        "POST /v1/conversations/{conversation_id}/attachments/{document_id}/library",
    }  # fmt: skip
    elsewhere |= {name for name in endpoints() if "/v1/study" in name or "/v1/sources" in name}
    wanted = {name: known["reads"] for name, known in endpoints().items() if "reads" in known}
    assert set(answers) == set(wanted) - elsewhere
    lacking = {name: missing(answers[name], wanted[name]) for name in answers}
    assert {name: paths for name, paths in lacking.items() if paths} == {}
    assert missing({"a": [{"b": 1}, {}]}, ["a[].b"]) == ["a[].b"]
    assert missing({"a": []}, ["a[].b", "a"]) == ["a[].b"]
