"""The target of the probes: the real application over its own database, and a hostile model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import httpx
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Document, NodeRelationship, TextNode

from evals.redteam_probes.obedient_model import ObedientCaller
from helix.app import create_app
from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.providers.base import LanguageModel
from helix.providers.factories import build_embedder
from helix.services import Services, open_services
from helix.serving.mcp_endpoint import McpEndpoint
from helix.serving.request_state import request_state
from helix.settings import Settings
from helix.storage.tenant_store import TenantStore

KEY = "AIza-canary-key-of-the-red-team"
EVIL = "evil.example"
RIVAL = "rival"
MAX_CHUNK = 2000

Json = dict[str, Any]


class Adversary(MockLLM):
    """A model that says what it is told to, in small deltas, and keeps what it was sent."""

    max_tokens: int | None = None
    reply: str = ""
    failure: str = ""
    _user_turns: list[str] = PrivateAttr(default_factory=list)
    _prompts: list[list[str]] = PrivateAttr(default_factory=list)

    @property
    def user_turns(self) -> list[str]:
        """The user turns, oldest first."""
        return self._user_turns

    @property
    def prompts(self) -> list[list[str]]:
        """The texts of all messages of each prompt, oldest prompt first."""
        return self._prompts

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **_: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        self._user_turns.append(messages[-1].content or "")
        self._prompts.append([message.content or "" for message in messages])
        return self._deltas()

    async def _deltas(self) -> AsyncGenerator[ChatResponse, None]:
        for start in range(0, len(self.reply), 3):
            delta = self.reply[start : start + 3]
            message = ChatMessage(role=MessageRole.ASSISTANT, content=self.reply[: start + 3])
            yield ChatResponse(message=message, delta=delta)
        if self.failure:
            raise RuntimeError(self.failure)


class _Lines(logging.Handler):
    """Keeps every line that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record))


@dataclass
class Target:
    """Everything a probe may use. ``responses`` are the bodies of all responses so far.

    ``client`` asks the application with the offline model, ``hostile`` the same with the
    adversary, ``calling`` with ``caller``, ``keyed`` one where API keys are asked for.
    """

    services: Services
    adversary: Adversary
    client: httpx.AsyncClient
    hostile: httpx.AsyncClient
    keyed: httpx.AsyncClient
    caller: ObedientCaller
    calling: httpx.AsyncClient
    logged: list[str]
    responses: list[str] = field(default_factory=list)

    @property
    def store(self) -> TenantStore:
        return self.services.store

    async def write(self, uri: str, text: str, tenant: str = "default") -> int:
        """Store ``text`` as the document ``uri``, a chunk for each two thousand characters."""
        store = self.store.of(tenant)
        content_hash = sha256(text.encode()).hexdigest()
        record = DocumentRecord(uri, uri.rpartition("/")[2], content_hash, "redteam", text)
        reference = await asyncio.to_thread(store.reserve, uri)
        source = Document(id_=str(reference), text=text).as_related_node_info()
        model = self.services.engine.retriever.space.embedder.model
        nodes = [
            TextNode(
                id_=sha256(f"{tenant}:{uri}:{start}:{text}".encode()).hexdigest(),
                text=part,
                embedding=await model.aget_text_embedding(part),
                metadata={ORDINAL: n, START_CHAR: start, END_CHAR: start + len(part)},
                relationships={NodeRelationship.SOURCE: source},
            )
            for n, start in enumerate(range(0, len(text), MAX_CHUNK))
            for part in [text[start : start + MAX_CHUNK]]
        ]  # fmt: skip
        await store.write(record, nodes, reference)
        return reference

    async def query(self, question: str, hostile: bool = False, **more: Any) -> Json:
        """POST /v1/query with ``debug``; an error is given as it came, with its status."""
        client = self.hostile if hostile else self.client
        body = {"question": question, "debug": True, **more}
        answer = await self.recorded(client.post("/v1/query", json=body))
        return {**answer.json(), "status": answer.status_code}

    async def recorded(self, request: Awaitable[httpx.Response]) -> httpx.Response:
        """The response, whose body is looked through for canaries in the end."""
        response = await request
        self.responses.append(response.text)
        return response

    async def answer_of(self, reply: str, question: str, failure: str = "", **more: Any) -> Json:
        """The application's answer where the model says ``reply``."""
        self.adversary.reply, self.adversary.failure = reply, failure
        return await self.query(question, hostile=True, **more)


@asynccontextmanager
async def open_target(settings: Settings) -> AsyncIterator[Target]:
    """The target over ``settings``, whose database should be empty, with one rival's document."""
    adversary, lines = Adversary(), _Lines()
    async with AsyncExitStack() as stack:
        embedder = build_embedder(settings)
        services = await stack.enter_async_context(open_services(settings, embedder))
        model = LanguageModel(adversary, "scripted:adversary")
        other = await stack.enter_async_context(open_services(settings, embedder, model))
        caller = ObedientCaller()
        obedient = LanguageModel(caller, "scripted:obedient")
        agents = await stack.enter_async_context(open_services(settings, embedder, obedient))
        locked = replace(services, settings=settings.model_copy(update={"auth": "keys"}))
        plain, hostile, keyed, calling = [
            await stack.enter_async_context(_client(one))
            for one in (services, other, locked, agents)
        ]
        stack.enter_context(_captured_logs(lines))
        yield Target(
            services, adversary, plain, hostile, keyed, caller, calling, lines.lines
        )  # fmt: skip


@contextmanager
def _captured_logs(lines: _Lines) -> Iterator[None]:
    """All that is logged goes to ``lines``, and nothing of it to the terminal."""
    loggers = [logging.getLogger(), *map(logging.getLogger, ("helix", "uvicorn"))]
    others = {handler: handler.level for logger in loggers for handler in logger.handlers}
    level = loggers[1].level
    for handler in others:
        handler.setLevel(logging.CRITICAL)
    for logger in loggers:
        logger.addHandler(lines)
    loggers[1].setLevel(logging.DEBUG)
    try:
        yield
    finally:
        loggers[1].setLevel(level)
        for logger in loggers:
            logger.removeHandler(lines)
        for handler, its_level in others.items():
            handler.setLevel(its_level)


@asynccontextmanager
async def _client(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application over open services, without a socket between."""
    application, state = create_app(services.settings), request_state(services)

    async def served(
        scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        scope["state"] = {**state, "mcp": endpoint}
        await application(scope, receive, send)

    transport = httpx.ASGITransport(served, raise_app_exceptions=False)
    client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
    async with McpEndpoint(services) as endpoint, client:
        yield client


class Failed(Exception):
    """A probe got through; the message says how, without any document's text."""


def expect(holds: bool, problem: str) -> None:
    """Raise Failed unless ``holds``."""
    if not holds:
        raise Failed(problem)


Attempt = Callable[[Target], Awaitable[None]]


@dataclass(frozen=True)
class Probe:
    """One thing tried. ``known_problem`` says why it may get through; None: it must not."""

    area: str
    name: str
    run: Attempt
    known_problem: str | None = None
