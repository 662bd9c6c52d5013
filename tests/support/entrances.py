"""Every way in which a stranger's text comes into a server, each as one request."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx

from tests.support.ai_sdk import chat

ASKED = "How long do I have to request a refund?"
Entrance = Callable[[httpx.Client, str], httpx.Response]


def _said(*texts: str) -> list[dict[str, str]]:
    """Messages of OpenAI's format; questions and answers take turns."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def _completion(client: httpx.Client, *texts: str) -> httpx.Response:
    return client.post("/v1/chat/completions", json={"model": "helix", "messages": _said(*texts)})


def _mcp(client: httpx.Client, tool: str, **arguments: str) -> httpx.Response:
    call = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }  # fmt: skip
    accepts = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    return client.post("/mcp", json=call, headers=accepts)


def _ask_again(client: httpx.Client, text: str) -> httpx.Response:
    """A short question after one that was ``text``, and an edit of that to ``text`` again."""
    made = client.post("/v1/conversations", json={}).json()["id"]
    place = f"/v1/conversations/{made}/messages"
    first = client.post(place, json={"question": text, "stream": False})
    if first.status_code == 200:
        client.post(place, json={"question": text, "parent_id": None, "stream": False})
    return client.post(place, json={"question": "And for gift cards?", "stream": False})


def _exported(text: str) -> dict[str, object]:
    message = {
        "id": 1, "parent_id": None, "question": text, "status": "done", "active": True,
        "response": {"answer": text, "citations": []},
    }  # fmt: skip
    return {"format": "helix-conversation-1", "title": "", "messages": [message]}


def _imported(client: httpx.Client, text: str) -> httpx.Response:
    """A short question after one of an import, where that comes in."""
    made = client.post("/v1/conversations/import", json=_exported(text))
    if made.status_code != 201:
        return made
    place = f"/v1/conversations/{made.json()['id']}/messages"
    return client.post(place, json={"question": "And for gift cards?", "stream": False})


def _markdown(client: httpx.Client, text: str) -> httpx.Response:
    quoted = "".join(f"> {line}\n" for line in text.split("\n"))
    body = f"# {text[:100]}\n\n## Question\n\n{quoted}\n## Answer\n\n{text}\n\n"
    return client.post(
        "/v1/conversations/import", content=body.encode(), headers={"Content-Type": "text/markdown"}
    )


def _image(client: httpx.Client, text: str) -> httpx.Response:
    files = {"image": ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image/png")}
    return client.post("/ask-image", data={"q": text}, files=files)


def _deck(client: httpx.Client, text: str) -> httpx.Response:
    cell = text.replace('"', '""')
    data = f'front,back\n"{cell}","{cell}"\n'.encode()
    return client.post("/v1/study/import", files={"file": ("d.csv", data)})


def _uploaded(client: httpx.Client, text: str) -> httpx.Response:
    data = {"titles": json.dumps([text]), "tags": json.dumps([text])}
    return client.post("/v1/documents", files={"file": (text[:250], b"words")}, data=data)


ENTRANCES: dict[str, Entrance] = {
    "ask": lambda client, text: client.get("/ask", params={"q": text[:20_000]}),
    "query": lambda client, text: client.post("/v1/query", json={"question": text}),
    "query of an agent": lambda client, text: client.post(
        "/v1/query", json={"question": text, "mode": "agent"}
    ),
    "filters": lambda client, text: client.post(
        "/v1/query",
        json={"question": ASKED, "filters": {"company": text, "tags": [text], "kind": text}},
    ),
    "ask-image": _image,
    "conversation": _ask_again,
    "title": lambda client, text: client.post("/v1/conversations", json={"title": text}),
    "conversations": lambda client, text: client.get(
        "/v1/conversations", params={"q": text[:20_000]}
    ),
    "import": _imported,
    "import of Markdown": _markdown,
    "chat question": lambda client, text: _completion(client, text),
    "chat question before": lambda client, text: _completion(client, text, "Yes.", "And for it?"),
    "chat answer before": lambda client, text: _completion(client, ASKED, text, "And for it?"),
    "responses": lambda client, text: client.post(
        "/v1/responses", json={"model": "helix", "input": text}
    ),
    "responses before": lambda client, text: client.post(
        "/v1/responses", json={"model": "helix", "input": _said(text, text, "And for it?")}
    ),
    "UI chat": lambda client, text: client.post(
        "/v1/ui/chat", json=chat(text, text, "And for it?")
    ),
    "MCP ask": lambda client, text: _mcp(client, "ask", question=text),
    "MCP search": lambda client, text: _mcp(client, "search", query=text),
    "MCP documents": lambda client, text: _mcp(client, "list_documents", search_for=text),
    "study": lambda client, text: client.post("/v1/study", json={"kind": "quiz", "title": text}),
    "deck": _deck,
    "prompt": lambda client, text: client.post(
        "/v1/prompts/answering_style/preview", json={"text": text, "question": text}
    ),
    "upload": _uploaded,
    "page": lambda client, text: client.post(
        "/v1/documents/url", json={"url": f"https://example.com/{text}", "title": text}
    ),
    "documents": lambda client, text: client.get(
        "/v1/documents", params={"q": text[:9_000], "tag": text[:9_000]}
    ),
}
"""By name, a request that carries a text. An address has 20,000 characters of it at most."""
