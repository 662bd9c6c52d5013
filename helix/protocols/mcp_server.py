"""The MCP server: tools, documents as resources, a prompt. The caller is in ``visitor``.

The SDK is slow to import, so this module is imported with the first request of the protocol.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Resource,
    ToolAnnotations,
)
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from helix import __version__
from helix.errors import HelixError
from helix.library.access import paced
from helix.library.document_list import DocumentFilter, Page, list_documents
from helix.library.errors import NotFound
from helix.library.keys import KeyAccess, KeyScope
from helix.protocols import mcp_tools
from helix.protocols.mcp_progress import telling_progress
from helix.protocols.mcp_visitor import visitor
from helix.settings.prompts import prompt

INSTRUCTIONS = (
    "Answers from this organisation's own documents. `ask` answers with citations and proof, or"
    " refuses; `search` and `fetch` read passages. Cite the url that comes with each."
)
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_TOOLS: tuple[tuple[str, KeyScope, Callable[..., Awaitable[Any]]], ...] = (
    ("search", "read", mcp_tools.search),
    ("fetch", "read", mcp_tools.fetch),
    ("ask", "ask", mcp_tools.ask),
    ("list_documents", "read", mcp_tools.list_documents_tool),
    ("read_passage", "read", mcp_tools.read_passage),
)
"""Name, the scope that a key needs for it, and function of each tool."""
_ARGUMENTS = {name: inspect.signature(work).parameters for name, _, work in _TOOLS}
_MOST_LISTED = 200
_LISTED_BY = "GET /v1/documents"  # what errors of the library name, whose users ask over HTTP
_P = ParamSpec("_P")
_R = TypeVar("_R")


class KeyVerifier:
    """Helix's API keys as the SDK's bearer tokens; a token's claims have its tenant and key."""

    def __init__(self, access: Callable[[str], Awaitable[KeyAccess | None]]) -> None:
        self._access = access

    async def verify_token(self, token: str) -> AccessToken | None:
        """The claims of ``token``; None where it is no key, or an expired one."""
        key = await self._access(token)
        if key is None:
            return None
        claims = {
            "tenant_id": key.tenant, "key_id": key.id, "person_id": key.person_id,
            "spaces": key.spaces, "limits": key.limits,
        }  # fmt: skip
        name = f"person {key.person_id}" if key.id is None else f"key {key.id}"
        return AccessToken(token=token, client_id=name, scopes=sorted(key.scopes), claims=claims)


class DocumentServer(MCPServer[Any]):
    """An MCPServer whose resources are the visitor's documents, and whose errors are one line."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call the tool as MCPServer does; its failure is told in its words, without the input.

        An argument that the tool does not have is refused: the SDK would pass it over.
        """
        known = _ARGUMENTS.get(name)
        if known and (strange := [each for each in arguments if each not in known]):
            raise ToolError(f"{strange[0][:80]} is no argument of {name}: {', '.join(known)} are")
        try:
            async with telling_progress(name, context):
                return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(_line(error)) from None

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Render the prompt as MCPServer does, which logs a wrong request as a fault of its own."""
        known = {each.name: each.arguments or () for each in await self.list_prompts()}
        if name not in known:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name[:80]}: {', '.join(known)} is")
        given = arguments or {}
        if missing := [one.name for one in known[name] if one.required and one.name not in given]:
            raise MCPError(INVALID_PARAMS, f"{', '.join(missing)} is missing")
        return await super().get_prompt(name, arguments, context)

    async def list_resources(self) -> list[Resource]:
        """The documents that were changed last."""
        caller = visitor.get()
        if not caller.may("read"):
            return []
        page = await list_documents(caller.library, DocumentFilter(), Page(_MOST_LISTED))
        return [
            Resource(
                uri=f"helix://documents/{row['id']}", name=row["title"],
                description=row["source_uri"], mime_type="text/plain",
            )
            for row in page["documents"]
        ]  # fmt: skip


def build_server() -> DocumentServer:
    """The server; it has no state of any caller."""
    server = DocumentServer(
        "helix", title="Helix", version=__version__, instructions=INSTRUCTIONS,
        log_level="WARNING",
    )  # fmt: skip
    for name in ("mcp", "mcp.server"):
        logging.getLogger(name).setLevel(logging.WARNING)  # else a line for each request
    for name, scope, work in _TOOLS:
        server.add_tool(_checked(work, scope), name=name, annotations=_READS)
    server.resource(
        "helix://documents/{document_id}", name="document", mime_type="text/plain",
        description="The text of a document",
    )(_document)  # fmt: skip
    server.prompt(name="research", description="Answer a question from the documents")(_research)
    return server


def _line(error: ToolError) -> str:
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        first = cause.errors(include_input=False, include_url=False, include_context=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(cause if isinstance(cause, ToolError) else error)


def _checked(work: Callable[_P, Awaitable[_R]], scope: KeyScope) -> Callable[_P, Awaitable[_R]]:
    """``work`` for callers with ``scope``; its errors become lines for the client's model."""

    @functools.wraps(work)
    async def checked(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
        if not visitor.get().may(scope):
            raise ToolError(f"this API key lacks the scope {scope}: `helix keys set` adds it")
        try:
            async with paced():
                return await work(*arguments, **keywords)
        except HelixError as error:
            raise ToolError(_told(error)) from error
        except HTTPException as error:  # no place, or a limit is reached
            raise ToolError(error.detail) from error

    return checked


async def _document(document_id: str) -> str:
    if not visitor.get().may("read"):
        raise ResourceError("this API key lacks the scope read")
    try:
        async with paced():
            return (await mcp_tools.fetch(f"document:{document_id}")).text
    except NotFound as error:
        raise ResourceNotFoundError(_told(error)) from error
    except HelixError as error:
        raise ResourceError(_told(error)) from error


def _told(error: HelixError) -> str:
    return str(error).replace(_LISTED_BY, "list_documents")


async def _research(question: str) -> str:
    caller = visitor.get()
    with (await caller.answering.prompts_of(caller.library.tenant)).active():
        return prompt("mcp_research", question=question)
