"""A model file on this machine: llama.cpp's server as a process of its own, the extra ``local``.

``local:PATH`` names a GGUF file, or one that `helix model pull` fetched. The server is started by
the first question, shared by all processes, and found anew for each request: it may have died.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx

from helix.errors import SettingsError
from helix.providers.answer_length import answer_tokens
from helix.providers.base import LanguageModel, collecting_client
from helix.providers.integrations import ChatIntegration
from helix.providers.llama_grammar import llama_schema
from helix.providers.local_models.folder import model_file, models_folder
from helix.providers.local_models.gguf import read_head
from helix.providers.local_models.shared_server import Address, ServerOptions, SharedServer
from helix.providers.model_server import chat_options
from helix.providers.openai import finish_reason, usage
from helix.settings import Settings

CONTEXT = 8192
"""Tokens of a model's context where none are set: five sources, a conversation and an answer."""
_PLACE = "http://llama.invalid/v1"
_PAUSE_SECONDS = 0.05


class ChildTransport(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """Sends each request to the server as it is now, started where it is not.

    A server that ends before it answered is asked once more when it is back, for at most ``wait``
    seconds; one that ends within its answer has cut it.

    Raises, as a request does, UpstreamError where the server is not loaded within ``wait``.
    """

    def __init__(self, server: SharedServer, wait: float) -> None:
        self._server = server
        self._wait = wait
        self._asynchronous = httpx.AsyncHTTPTransport(retries=0)
        self._blocking = httpx.HTTPTransport(retries=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self._wait
        while True:
            left = max(0.0, deadline - time.monotonic())
            address = self._server.address() or await self._server.ensure_async(left)
            try:
                return await self._asynchronous.handle_async_request(_put(request, address))
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self._wait
        while True:
            address = self._server.ensure(max(0.0, deadline - time.monotonic()))
            try:
                return self._blocking.handle_request(_put(request, address))
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)

    async def aclose(self) -> None:
        await self._asynchronous.aclose()

    def close(self) -> None:
        self._blocking.close()


def _put(request: httpx.Request, address: Address) -> httpx.Request:
    """``request``, directed at ``address`` with its key."""
    there = httpx.URL(address.url)
    request.url = request.url.copy_with(scheme=there.scheme, host=there.host, port=there.port)
    request.headers["Host"] = f"{there.host}:{there.port}"
    request.headers["Authorization"] = f"Bearer {address.key}"
    return request


def _threads() -> int:
    """The number of processors that this process may use, one a core."""
    import psutil

    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return max(1, min(n for n in (allowed, psutil.cpu_count(logical=False), 64) if n))


def _file(settings: Settings, model: str) -> Path:
    return model_file(model, models_folder(settings.model_folder))


def server_options(settings: Settings, file: Path) -> ServerOptions:
    """The options of the server over ``file``; raises SettingsError where it is no GGUF."""
    longest = read_head(file).context or CONTEXT
    status = file.stat()
    return ServerOptions(
        model=str(file),
        context=min(settings.model_context or CONTEXT, longest),
        slots=settings.local_slots,
        threads=settings.local_threads or _threads(),
        memory_mb=settings.local_memory_mb or 0,
        stamp=f"{status.st_size}-{status.st_mtime_ns}",
    )


def _clients(server: SharedServer, settings: Settings) -> dict[str, Any]:
    transport = ChildTransport(server, settings.local_wait)
    timeout = settings.model_timeout
    return {
        "http_client": httpx.Client(transport=transport, timeout=timeout, trust_env=False),
        "async_http_client": collecting_client(timeout, transport=transport, trust_env=False),
        "timeout": timeout,
    }


def _checked(variable: str, model: str) -> None:
    if not model:
        raise SettingsError(f"{variable} names no model: set it to local:<path of a GGUF file>")
    if os.name != "posix":
        raise SettingsError(f"{variable}=local: works on Linux and macOS: use server:MODEL")
    if find_spec("xllamacpp") is None:  # imported by its own process alone
        raise SettingsError(
            f"{variable} is local, which is not installed: pip install 'helix-answers[local]'"
        )


def local_llm(settings: Settings, model: str) -> LanguageModel:
    """The model of ``HELIX_LLM=local:PATH``; its server starts with the first question.

    Raises:
        SettingsError: the extra is not installed, or there is no such GGUF file.
    """
    _checked("HELIX_LLM", model)
    file = _file(settings, model)
    options = server_options(settings, file)
    server = SharedServer(options)
    chat_settings = {
        **chat_options(_PLACE, "none", file.name, options.context),
        **_clients(server, settings),
        "max_tokens": answer_tokens(settings, options.context),
    }
    integration = ChatIntegration(
        "llama_index.llms.openai_like", "OpenAILike", lambda *_: chat_settings, finish_reason,
        usage, frozenset({"stop"}), titled=lambda _: title_of(file),
        schema_options=llama_schema, prefers_schema=True,
    )  # fmt: skip
    named = settings.model_copy(update={"llm": f"local:{file.name}"})
    llm = integration.llm(named, file.name)

    async def close() -> None:
        await chat_settings["async_http_client"].aclose()
        chat_settings["http_client"].close()
        server.close()

    return replace(llm, aclose=close, sees=False)  # its server has no projector of images


def title_of(file: Path) -> str:
    """The name for people of the model in ``file``."""
    return f"{read_head(file).name or file.stem} on this machine"
