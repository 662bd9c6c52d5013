"""The marks of whole and of cut answers in each protocol, as the bytes its clients look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

import httpx

from tests.support.ai_sdk import chat
from tests.support.query_service import QUESTION

Ending = Literal["whole", "cut", "refused"]
_MESSAGES = [{"role": "user", "content": QUESTION}]
_CALL = {"name": "ask", "arguments": {"question": QUESTION}}
_ACCEPTED = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Protocol:
    """One way to ask: where, with which body (None: GET), and what its clients look for.

    Args:
        whole: pieces of which a whole answer has each, and a cut one none.
        cut: what the last frame of a cut stream has, one of them; none: it just ends.
        streams: whether the text is sent as it comes.
    """

    path: str
    body: dict[str, Any] | None
    whole: tuple[str, ...]
    cut: tuple[str, ...] = ()
    streams: bool = True

    def ask(self, client: httpx.Client) -> httpx.Response:
        method = "GET" if self.body is None else "POST"
        return client.request(method, self.path, json=self._afresh(), headers=_ACCEPTED)

    def _afresh(self) -> dict[str, Any] | None:
        """The body in a conversation of its own: a follow-up is reworded, which is a call more."""
        own = {"faults": f"faults-{uuid4().hex}", "faults-ui": f"faults-ui-{uuid4().hex}"}
        if self.body is None:
            return None
        return {
            key: own.get(value, value) if isinstance(value, str) else value
            for key, value in self.body.items()
        }

    def ending(self, response: httpx.Response) -> Ending:
        """The end of ``response`` for a client that knows the protocol; fails if unclear."""
        text, seen = response.text, [piece in response.text for piece in self.whole]
        assert all(seen) or not any(seen), (self.path, seen, text)
        if response.status_code >= 400:
            assert list(response.json()) == ["error"] and not any(seen), (self.path, text)
            return "refused"
        last = text.rstrip().rpartition("\n\n")[2]
        said = any(piece in last for piece in self.cut)
        assert not self.cut or said != any(seen), (self.path, text)
        return "whole" if any(seen) else "cut"


PROTOCOLS = {
    "ask": Protocol(f"/ask?q={QUESTION}", None, ("event: citations\n",)),
    "query": Protocol("/v1/query", {"question": QUESTION}, ('"answer":',), streams=False),
    "query stream": Protocol(
        "/v1/query", {"question": QUESTION, "stream": True},
        ("event: citations\n", "event: done\n"), ("event: error\n", "event: interrupted\n"),
    ),
    "conversation": Protocol(
        "/v1/query", {"question": QUESTION, "stream": True, "conversation_id": "faults"},
        ("event: citations\n", "event: done\n"), ("event: error\n", "event: interrupted\n"),
    ),
    "chat": Protocol(
        "/v1/chat/completions", {"model": "helix", "messages": _MESSAGES},
        ('"finish_reason":"stop"',), streams=False,
    ),
    "chat stream": Protocol(
        "/v1/chat/completions", {"model": "helix", "messages": _MESSAGES, "stream": True},
        ('"finish_reason":"stop"', "[DONE]", '"annotations":[{'), ('data: {"error":',),
    ),
    "responses": Protocol(
        "/v1/responses", {"model": "helix", "input": QUESTION}, ('"status":"completed"',),
        streams=False,
    ),
    "responses stream": Protocol(
        "/v1/responses", {"model": "helix", "input": QUESTION, "stream": True},
        ("event: response.completed\n", "event: response.output_text.done\n",
         '"status":"completed"'),
        ("event: response.failed\n",),
    ),
    "ui": Protocol(
        "/v1/ui/chat", chat(QUESTION), ('"type":"finish"', '"type":"text-end"', "[DONE]"),
        ('"type":"error"',),
    ),
    "ui resumable": Protocol(
        "/v1/ui/chat", chat(QUESTION, chat_id="faults-ui", resume=True),
        ('"type":"finish"', '"type":"text-end"', "[DONE]"), ('"type":"error"',),
    ),
    "mcp": Protocol(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _CALL},
        ('"isError":false', '"structuredContent":'), ('"isError":true',), streams=False,
    ),
}  # fmt: skip
