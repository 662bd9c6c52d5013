"""Confluence's and Jira's REST API on loopback: pages of spaces, and issues that JQL finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.scripted_server import loopback, send_json

TOKEN = "token-of-anna"


@dataclass
class Atlassian:
    """``pages`` are (title, HTML) by id, ``issues`` (summary, description, time) by id.

    ``parents`` are pages above them, ``restricted`` who alone may see a page (persons, groups); a
    search shows ``shown`` pages at most.

    With ``status``, every request after ``after`` more is answered by it; ``busy`` requests are
    asked to come again in a second.
    """

    url: str = ""
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    issues: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    restricted: dict[str, tuple[list[dict[str, str]], list[str]]] = field(default_factory=dict)
    shown: int = 25
    status: int = 0
    after: int = 0
    busy: int = 0
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str, query: dict[str, str]) -> Any:
        """The answer to a request; None where there is none."""
        if path == "/rest/api/content":
            start, limit = int(query.get("start", 0)), min(int(query.get("limit", 25)), 25)
            some = list(self.pages)[start : start + limit]
            return {"results": [self._page(each) for each in some], "size": len(some)}
        if path == "/rest/api/content/search":
            ids = query["cql"].removeprefix("id in (").removesuffix(")").split(",")
            some = [each for each in ids if each in self.pages][: self.shown]
            expand = query["expand"].split(",")
            shown = [self._with_restrictions(each, expand) for each in some]
            return {"results": shown, "size": len(shown)}
        if path == "/rest/api/2/serverInfo":
            return {"version": "9.12.0", "versionNumbers": [9, 12, 0], "deploymentType": "Server"}
        if path == "/rest/api/2/field":
            return []
        if path == "/rest/api/2/search":
            start, limit = int(query["startAt"]), int(query["maxResults"])
            some = list(self.issues)[start : start + limit]
            found = {"issues": [self._issue(each) for each in some], "total": len(self.issues)}
            return {**found, "startAt": start, "maxResults": limit}
        return None

    def _page(self, number: str) -> dict[str, Any]:
        title, html = self.pages[number]
        return {
            "id": number, "title": title, "status": "current", "type": "page",
            "body": {"export_view": {"value": html}}, "_links": {"webui": f"/pages/{number}"},
        }  # fmt: skip

    def _with_restrictions(self, number: str, expand: list[str]) -> dict[str, Any]:
        """A page, as https://developer.atlassian.com/server/confluence/rest/v1000 has it."""
        above: list[str] = []
        while (parent := self.parents.get(above[0] if above else number)) is not None:
            above.insert(0, parent)
        page: dict[str, Any] = {
            "id": number, "title": self.pages[number][0], "space": {"key": "HR"}
        }  # fmt: skip
        if "restrictions.read.restrictions.user" in expand:
            page |= self._restrictions(number)
        told = "ancestors.restrictions.read.restrictions.group" in expand
        page["ancestors"] = [
            {"id": each, **(self._restrictions(each) if told else {})} for each in above
        ]
        return page

    def _restrictions(self, number: str) -> dict[str, Any]:
        persons, groups = self.restricted.get(number, ([], []))
        named = [{"type": "group", "name": each} for each in groups]
        told = {
            name: {"results": found, "start": 0, "limit": 200, "size": len(found)}
            for name, found in (("user", persons), ("group", named))
        }
        return {"restrictions": {"read": {"operation": "read", "restrictions": told}}}

    def _issue(self, number: str) -> dict[str, Any]:
        summary, description, updated = self.issues[number]
        fields = {
            "summary": summary, "description": description, "updated": updated, "created": updated,
            "issuetype": {"name": "Bug", "id": "1"}, "assignee": None, "reporter": None,
            "labels": ["pumps"], "status": {"name": "Open", "id": "1"},
            "project": {"name": "Pumps", "id": "1", "key": "P"},
            "priority": {"name": "High", "id": "1"},
        }  # fmt: skip
        own = f"{self.url}/rest/api/2/issue/{number}"
        return {"id": number, "key": f"P-{number}", "self": own, "fields": fields}


@contextmanager
def atlassian() -> Iterator[Atlassian]:
    """The server, which answers whoever has TOKEN."""
    held = Atlassian()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            held.asked.append(self.path)
            held.after -= 1
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return self._send(401, {"message": f"no {self.headers.get('Authorization')}"})
            if held.busy:
                held.busy -= 1
                return self._send(429, {"message": "busy"})
            if held.status and held.after < 0:
                return self._send(held.status, {"message": "refused"})
            answer = held.answer(parts.path, query)
            return self._send(
                404 if answer is None else 200, {"message": "none"} if answer is None else answer
            )

        def _send(self, status: int, body: Any) -> None:
            send_json(self, status, body, **({"Retry_After": "1"} if status == 429 else {}))

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Handler) as held.url:
        yield held
