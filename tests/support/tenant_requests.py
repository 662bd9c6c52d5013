"""A request of every route for tests to send, with the ids of something or of nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

NEVER = 987_654_321
QUESTION = "What is the password of the vault?"


@dataclass(frozen=True)
class Ids:
    """Something that there is, or never was."""

    document: int = NEVER
    chunk: int = NEVER
    run: int = NEVER
    answer: str = f"{NEVER:032x}"
    conversation: str = "talk-of-nobody"
    message: int = NEVER
    study_set: int = NEVER
    item: int = NEVER
    attempt: int = NEVER
    space: int = NEVER
    source: int = NEVER

    @property
    def all(self) -> tuple[int | str, ...]:
        """Each of them."""
        return (
            self.document, self.chunk, self.run, self.answer, self.conversation, self.message,
            self.study_set, self.item, self.attempt, self.space, self.source,
        )  # fmt: skip


NOTHING = Ids()
"""Ids that never were."""
MESSAGE = "/v1/conversations/{conversation_id}/messages/{message_id}"
STUDY = "/v1/study/{set_id}"
ATTACHED = "/v1/conversations/{conversation_id}/attachments"
ASKED = {"model": "helix", "messages": [{"role": "user", "content": QUESTION}]}
Sent = dict[str, Any]
"""The arguments of httpx's request: params, json, data, files."""
ROUTES: dict[tuple[str, str], Callable[[Ids], Sent]] = {
    ("GET", "/ask"): lambda ids: {"params": {"q": QUESTION, "document_id": ids.document}},
    ("POST", "/v1/query"): lambda ids: {
        "json": {"question": QUESTION, "document_ids": [ids.document], "debug": True}
    },
    ("POST", "/v1/documents"): lambda _: {"files": {"file": ("n.txt", b"words")}, "data": {}},
    ("POST", "/v1/documents/url"): lambda _: {"json": {"url": "https://example.com/guide"}},
    ("POST", "/v1/documents/crawl"): lambda _: {"json": {"url": "https://example.com/guide"}},
    ("POST", "/v1/documents/samples"): lambda _: {"params": {}},
    ("POST", "/v1/documents/batch"): lambda ids: {
        "json": {"action": "delete", "ids": [ids.document]}
    },
    ("POST", "/v1/documents/metadata"): lambda ids: {
        "json": {"ids": [ids.document], "metadata": {"taken": "yes"}}
    },
    ("GET", "/v1/library"): lambda _: {},
    ("GET", "/v1/library/ids"): lambda _: {},
    ("GET", "/v1/library/events"): lambda _: {"params": {"most": 1}},
    ("GET", "/v1/documents"): lambda _: {},
    ("GET", "/v1/documents/{document_id}"): lambda _: {},
    ("PATCH", "/v1/documents/{document_id}"): lambda _: {"json": {"tags": ["taken"]}},
    ("DELETE", "/v1/documents/{document_id}"): lambda _: {},
    ("GET", "/v1/documents/{document_id}/file"): lambda _: {},
    ("GET", "/v1/documents/{document_id}/pages"): lambda _: {},
    ("GET", "/v1/documents/{document_id}/tables"): lambda _: {},
    ("GET", "/v1/documents/{document_id}/pages/{number}.png"): lambda _: {},
    ("GET", "/v1/documents/{document_id}/pages/{number}/text"): lambda _: {
        "params": {"left": 72, "top": 72, "right": 90, "bottom": 90}
    },
    ("GET", "/v1/documents/{document_id}/boxes"): lambda _: {"params": {"start": 0, "end": 9}},
    ("POST", "/v1/documents/{document_id}/reingest"): lambda _: {},
    ("POST", "/v1/erasures"): lambda ids: {"json": {"document_id": ids.document}},
    ("GET", "/v1/chunks/{chunk_id}"): lambda _: {},
    ("GET", "/v1/runs"): lambda _: {},
    ("GET", "/v1/runs/{run_id}"): lambda _: {},
    ("GET", "/v1/runs/{run_id}/events"): lambda _: {},
    ("POST", "/v1/runs/{run_id}/cancel"): lambda _: {},
    ("GET", "/v1/answers/{answer_id}"): lambda _: {},
    ("GET", "/v1/answers/{answer_id}/verify"): lambda _: {},
    ("GET", "/v1/answers/{answer_id}/proof"): lambda _: {},
    ("POST", "/v1/answers/{answer_id}/feedback"): lambda _: {"json": {"rating": "up"}},
    ("POST", "/v1/conversations"): lambda _: {"json": {}},
    ("GET", "/v1/conversations"): lambda _: {},
    ("POST", "/v1/conversations/import"): lambda _: {"params": {}, "content": b"no export"},
    ("GET", "/v1/conversations/{conversation_id}/export"): lambda _: {},
    ("GET", "/v1/conversations/{conversation_id}"): lambda _: {},
    ("PATCH", "/v1/conversations/{conversation_id}"): lambda _: {"json": {"title": "taken"}},
    ("DELETE", "/v1/conversations/{conversation_id}"): lambda _: {},
    ("POST", "/v1/conversations/{conversation_id}/messages"): lambda _: {
        "json": {"question": QUESTION, "stream": False}
    },
    ("GET", f"{MESSAGE}"): lambda _: {},
    ("POST", f"{MESSAGE}/edit"): lambda _: {"json": {"question": QUESTION, "stream": False}},
    ("POST", f"{MESSAGE}/regenerate"): lambda _: {"json": {"stream": False}},
    ("GET", f"{MESSAGE}/events"): lambda _: {},
    ("POST", f"{MESSAGE}/stop"): lambda _: {},
    ("POST", "/v1/conversations/{conversation_id}/images"): lambda _: {
        "files": {"image": b"none"},
        "data": {},
    },
    ("GET", "/v1/conversations/{conversation_id}/images/{image_id}"): lambda _: {},
    ("POST", f"{ATTACHED}"): lambda _: {"files": {"file": ("n.txt", b"words")}, "data": {}},
    ("GET", f"{ATTACHED}"): lambda _: {},
    ("GET", f"{ATTACHED}/{{document_id}}"): lambda _: {},
    ("DELETE", f"{ATTACHED}/{{document_id}}"): lambda _: {},
    ("GET", f"{ATTACHED}/{{document_id}}/pages"): lambda _: {},
    ("GET", f"{ATTACHED}/{{document_id}}/tables"): lambda _: {},
    ("GET", f"{ATTACHED}/{{document_id}}/pages/{{number}}.png"): lambda _: {},
    ("GET", f"{ATTACHED}/{{document_id}}/boxes"): lambda _: {"params": {"start": 0, "end": 9}},
    ("POST", f"{ATTACHED}/{{document_id}}/library"): lambda _: {},
    ("POST", "/ask-image"): lambda _: {"files": {"image": b"none"}, "data": {"q": QUESTION}},
    ("GET", "/v1/suggestions"): lambda _: {},
    ("GET", "/v1/usage"): lambda _: {},
    ("GET", "/v1/usage/limits"): lambda _: {},
    ("PUT", "/v1/usage/limits"): lambda _: {"json": {"tokens_month": 10**12}},
    ("GET", "/v1/spaces"): lambda _: {},
    ("POST", "/v1/spaces"): lambda _: {"json": {"name": "Library"}},
    ("PATCH", "/v1/spaces/{space_id}"): lambda _: {"json": {"name": "Taken"}},
    ("DELETE", "/v1/spaces/{space_id}"): lambda _: {},
    ("POST", "/v1/spaces/{space_id}/documents"): lambda ids: {"json": {"add": [ids.document]}},
    ("GET", "/v1/sources"): lambda _: {},
    ("POST", "/v1/sources"): lambda _: {
        "json": {"name": "taken", "kind": "folder", "address": "/nowhere", "paused": True}
    },
    ("GET", "/v1/sources/{source_id}"): lambda _: {},
    ("PATCH", "/v1/sources/{source_id}"): lambda _: {"json": {"paused": True}},
    ("DELETE", "/v1/sources/{source_id}"): lambda _: {},
    ("POST", "/v1/sources/{source_id}/sync"): lambda _: {"json": {"dry_run": True}},
    ("GET", "/v1/search"): lambda _: {"params": {"q": QUESTION}},
    ("POST", "/v1/transcribe"): lambda _: {"files": {"audio": b"none"}, "data": {}},
    ("GET", "/v1/progress"): lambda _: {},
    ("GET", "/v1/progress/days/{day}"): lambda _: {},
    ("PATCH", "/v1/progress"): lambda _: {"json": {"on": True}},
    ("DELETE", "/v1/progress"): lambda _: {},
    ("GET", "/v1/prompts"): lambda _: {},
    ("GET", "/v1/prompts/{name}"): lambda _: {},
    ("GET", "/v1/prompts/{name}/diff"): lambda _: {},
    ("POST", "/v1/prompts/{name}"): lambda _: {"json": {"text": "Be brief."}},
    ("DELETE", "/v1/prompts/{name}"): lambda _: {},
    ("POST", "/v1/prompts/{name}/rollback"): lambda _: {"json": {"version": 1}},
    ("POST", "/v1/prompts/{name}/preview"): lambda _: {"json": {"text": "Be brief."}},
    ("POST", "/v1/study"): lambda ids: {
        "json": {"kind": "quiz", "count": 5, "document_ids": [ids.document]}
    },
    ("GET", "/v1/study"): lambda _: {},
    ("GET", "/v1/study/due"): lambda _: {},
    ("POST", "/v1/study/import"): lambda _: {"files": {"file": ("d.csv", b"a,b")}, "data": {}},
    ("POST", "/v1/study/cards/undo"): lambda _: {},
    ("POST", "/v1/study/cards/{item_id}/review"): lambda _: {"content": b'{"rating": "good"}'},
    ("GET", f"{STUDY}"): lambda _: {},
    ("PATCH", f"{STUDY}"): lambda _: {"json": {"title": "taken"}},
    ("DELETE", f"{STUDY}"): lambda _: {},
    ("GET", f"{STUDY}/export"): lambda _: {},
    ("POST", f"{STUDY}/drawn"): lambda _: {},
    ("PATCH", f"{STUDY}/positions"): lambda _: {"content": b'{"positions": null}'},
    ("POST", f"{STUDY}/lessons/{{item_id}}"): lambda _: {},
    ("POST", f"{STUDY}/lessons/{{item_id}}/done"): lambda _: {},
    ("POST", f"{STUDY}/attempts"): lambda _: {},
    ("GET", f"{STUDY}/attempts"): lambda _: {},
    ("GET", "/v1/study/attempts/{attempt_id}"): lambda _: {},
    ("POST", "/v1/study/attempts/{attempt_id}/answers"): lambda ids: {
        "content": f'{{"item_id": {ids.item}, "answer": 1}}'.encode()
    },
    ("POST", "/v1/study/attempts/{attempt_id}/finish"): lambda _: {},
    ("GET", "/v1/models"): lambda _: {},
    ("GET", "/v1/models/{model:path}"): lambda _: {},
    ("GET", "/v1/local-servers"): lambda _: {},
    ("GET", "/v1/settings"): lambda _: {},
    ("PATCH", "/v1/settings"): lambda _: {"json": {"model": "offline"}},
    ("POST", "/v1/chat/completions"): lambda ids: {
        "json": {**ASKED, "document_ids": [ids.document]}
    },
    ("POST", "/v1/responses"): lambda ids: {
        "json": {"model": "helix", "input": QUESTION, "document_ids": [ids.document]}
    },
    ("POST", "/v1/embeddings"): lambda _: {"json": {"model": "helix-embed", "input": QUESTION}},
    ("POST", "/v1/ui/chat"): lambda ids: {
        "json": {
            "id": "a chat",
            "document_ids": [ids.document],
            "messages": [{"role": "user", "parts": [{"type": "text", "text": QUESTION}]}],
        }
    },
    ("GET", "/v1/ui/chat/{conversation_id}/stream"): lambda _: {},
    ("GET", "/v1/about"): lambda _: {},
    ("GET", "/metrics"): lambda _: {},
    ("GET", "/v1/privacy"): lambda _: {},
    ("GET", "/v1/evals/last"): lambda _: {},
}
ASKING = ("/ask", "/v1/query", "/v1/chat/completions", "/v1/responses", "/v1/ui/chat")
"""Routes that answer from the documents that the request names."""
OPEN = {
    ("GET", path) for path in ("/healthz", "/health", "/readyz", "/.well-known/helix-keys.json")
} | {("HEAD", path) for path in ("/healthz", "/health", "/readyz")}
OF_ALL = ("/v1/prompts", "/v1/progress")
"""Routes whose names, of prompts and days, exist for every tenant."""
BY_ID = [
    route
    for route in ROUTES
    if ("{" in route[1] and not route[1].startswith(OF_ALL))
    or route[1] in ASKING
    or route[1] in ("/v1/documents/batch", "/v1/documents/metadata")
]


_PASSING = re.compile(
    r'\\?"(answer_id|trace_id|timings?|seconds|timings_ms|ms|created|created_at|messageId)\\?":'
    r'\s*(\\?"[^"\\]*\\?"|\{[^}]*\}|[\d.]+)'
)
_NAMED_BY_ANSWER = re.compile("(chatcmpl-|resp_|msg_)[0-9a-f]{32}")


def told_of(response: httpx.Response, *ids: int | str) -> tuple[int, str, dict[str, str]]:
    """All that a response says, without ``ids`` and what differs each time."""
    text = response.text.replace('"jsonrpc":"2.0"', "")  # 2 is an id as well
    body = _NAMED_BY_ANSWER.sub(r"\1_", _PASSING.sub(r'"\1":_', text))
    for number in ids:
        body = re.sub(rf"\b{number}\b", "ID", body)
    passing = ("date", "x-request-id", "content-length", "x-answer-id", "x-trace-id")
    headers = {name: value for name, value in response.headers.items() if name not in passing}
    return response.status_code, body, headers


def line_of(response: httpx.Response) -> str:
    """The message of a refusal, in the words of its route's protocol."""
    told = response.json()["error"]
    line: str = told["message"] if isinstance(told, dict) else told
    return line


def path_of(template: str, ids: Ids) -> str:
    """The path of a route with ``ids`` in it."""
    return template.replace(":path}", "}").format(
        document_id=ids.document, chunk_id=ids.chunk, run_id=ids.run, answer_id=ids.answer,
        number=1, conversation_id=ids.conversation, message_id=ids.message, name="search_terms",
        model="helix", day="2026-01-31", set_id=ids.study_set, item_id=ids.item,
        attempt_id=ids.attempt, image_id="0" * 64, space_id=ids.space,
        source_id=ids.source,
    )  # fmt: skip


def naming(sent: Sent, tenant: str) -> Sent:
    """``sent`` with a tenant_id where the route has it."""
    place = next((kind for kind in ("json", "data") if kind in sent), "params")
    return sent | {place: {**sent.get(place, {}), "tenant_id": tenant}}
