"""Documents, runs and answers of a running server, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx

from helix.commands.service.address import Server
from helix.commands.service.base import Query
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import BadRequest, HelixError, Unavailable
from helix.library.access import Row
from helix.library.document_list import Page, Wanted
from helix.library.errors import NotFound
from helix.library.run_progress import Event

_ANSWER_SECONDS = 300
_CONNECT_SECONDS = 5
_NO_ROUTE = "Not Found"
"""What a server says of an address that nothing lies at, as with a mistake in --server."""


class ServerAnswers:
    """An AnswerService over a client of ``server``; ``tenant`` None leaves that to the server."""

    def __init__(self, server: Server, client: httpx.AsyncClient, tenant: str | None) -> None:
        self._server = server
        self._client = client
        self._tenant = {"tenant_id": tenant} if tenant else {}

    async def summary(self) -> Row:
        return await self._json("GET", "/v1/library")

    async def list_documents(self, wanted: Wanted, page: Page) -> Row:
        asked = {
            "q": wanted.search, "status": wanted.status, "tag": wanted.tags,
            "company": wanted.company, "kind": wanted.kind,
            "limit": page.limit, "after": page.after, "sort": page.sort, "order": page.order,
        }  # fmt: skip
        return await self._json(
            "GET", "/v1/documents", params={k: v for k, v in asked.items() if v}
        )

    async def get_document(self, document_id: int, *, with_text: bool) -> Row:
        params = {"text": str(with_text).lower()}
        return await self._json("GET", f"/v1/documents/{document_id}", params=params)

    async def edit_document(self, document_id: int, changes: Row) -> None:
        await self._json("PATCH", f"/v1/documents/{document_id}", json=changes)

    async def remove_document(self, document_id: int) -> None:
        await self._json("DELETE", f"/v1/documents/{document_id}")

    async def list_runs(self, limit: int) -> Row:
        return await self._json("GET", "/v1/runs", params={"limit": min(limit, 200)})

    async def get_run(self, run_id: int, limit: int) -> Row:
        return await self._json("GET", f"/v1/runs/{run_id}", params={"limit": limit})

    async def follow_run(self, run_id: int) -> AsyncGenerator[Event, None]:
        with self._told():
            async with self._client.stream(
                "GET", f"/v1/runs/{run_id}/events", params=self._tenant
            ) as response:
                await self._check(response)
                async for name, data in _events(response):
                    yield Event(name, 0, data)

    async def stop_run(self, run_id: int) -> str:
        told = await self._json("POST", f"/v1/runs/{run_id}/cancel")
        return str(told["status"])

    async def stream(self, query: Query) -> AsyncGenerator[str | Row, None]:
        whole: Row = {}
        pieces: list[str] = []
        with self._told():
            async with self._client.stream(
                "POST", "/v1/query", json={**self._body(query), "stream": True}
            ) as response:
                await self._check(response)
                async for name, data in _events(response):
                    if name == "token":
                        pieces.append(data["t"])
                        yield data["t"]
                    elif name == "error":
                        raise Unavailable(str(data["error"]))
                    else:
                        whole |= data if name == "done" else {name: data}
        if "abstained" not in whole:
            raise Unavailable(f"the server at {self._server.address} broke off: ask again")
        yield {"answer": "".join(pieces), **whole}

    async def answer(self, query: Query) -> Row:
        return await self._json("POST", "/v1/query", json=self._body(query))

    async def upload(self, name: str, data: bytes, fields: Mapping[str, Any]) -> Row:
        """Send one file; ``run_id`` and ``documents``, as POST /v1/documents has them."""
        sent = {**fields, **self._tenant}
        return await self._json("POST", "/v1/documents", files={"file": (name, data)}, data=sent)

    def _body(self, query: Query) -> Row:
        body: Row = {"question": query.question, **self._tenant}
        if query.document_ids is not None:
            body["document_ids"] = list(query.document_ids)
        if query.tags is not None:
            body["filters"] = {"tags": list(query.tags)}
        if query.conversation_id:
            body["conversation_id"] = query.conversation_id
        return body

    async def _json(self, method: str, path: str, **sent: Any) -> Row:
        if "data" not in sent and path != "/v1/query":  # these two name the tenant themselves
            sent["params"] = {**sent.get("params", {}), **self._tenant}
        with self._told():
            async with self._client.stream(method, path, **sent) as response:
                await self._check(response)
                content = await response.aread()
        try:
            found: Row = json.loads(content) if content else {}
        except ValueError:
            raise self._no_helix() from None
        return found

    async def _check(self, response: httpx.Response) -> None:
        """Raise what the server refused the request for."""
        if response.is_success:
            return
        try:
            reason = str(json.loads(await response.aread())["error"])
        except (ValueError, KeyError, TypeError):
            raise self._no_helix() from None
        match response.status_code:
            case 401:
                raise NeedsKey(self._server)
            case 403:
                raise OtherTenant
            case 404 if reason == _NO_ROUTE:
                raise self._no_helix()
            case 404:
                raise NotFound(reason)
            case status if status < 500:
                raise BadRequest(reason)
            case _:
                raise Unavailable(f"the server at {self._server.address} cannot answer: {reason}")

    def _no_helix(self) -> HelixError:
        return HelixError(f"what answers at {self._server.address} is no Helix server")

    @contextmanager
    def _told(self) -> Any:
        try:
            yield
        except httpx.TimeoutException:
            raise Unavailable(f"the server at {self._server.address} keeps silent") from None
        except (httpx.TransportError, httpx.InvalidURL):
            raise Unavailable(
                f"no server answers at {self._server.address}: start it with `helix serve`,"
                " or leave --server and HELIX_SERVER out"
            ) from None


class NeedsKey(HelixError):
    """The server asks for a key, and was shown none or a wrong one."""

    def __init__(self, server: Server) -> None:
        shown = "does not know the key in" if server.key else "asks for a key: set"
        super().__init__(
            f"the server at {server.address} {shown} HELIX_API_KEY"
            " (`helix keys create` makes one, where the database is)"
        )


class OtherTenant(HelixError):
    """The key is not the tenant's that was named."""

    def __init__(self) -> None:
        super().__init__("the key in HELIX_API_KEY is another tenant's: leave --tenant out")


async def _events(response: httpx.Response) -> AsyncGenerator[tuple[str, Any], None]:
    """(name, data) of each event of a stream that Helix writes: one line of data an event."""
    name = ""
    async for line in response.aiter_lines():
        key, _, value = line.partition(":")
        if key == "event":
            name = value.strip()
        elif key == "data":
            yield name, json.loads(value)


@asynccontextmanager
async def server_answers(
    server: Server, tenant: str, seconds: float = _ANSWER_SECONDS
) -> AsyncIterator[ServerAnswers]:
    """The tenant's documents at a server; the default one is whichever its key opens.

    ``seconds`` is how long the server may keep silent.
    """
    headers = {"Authorization": f"Bearer {server.key.get_secret_value()}"} if server.key else {}
    timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
    async with httpx.AsyncClient(
        base_url=server.address, headers=headers, timeout=timeout
    ) as client:
        yield ServerAnswers(server, client, None if tenant == DEFAULT_TENANT else tenant)
