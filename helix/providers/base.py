"""The interface of a provider: a LlamaIndex model behind a few facts that Helix needs of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse

from helix.domain.contract import DEFAULT_DENSE_WEIGHT
from helix.domain.lifetime import Lifetime as Lifetime
from helix.domain.usage import Usage as Usage
from helix.domain.usage import usage_of as usage_of
from helix.errors import HelixError, UpstreamError
from helix.providers.vectors import RawWidth

if TYPE_CHECKING:  # a question to a model of this process needs none
    import httpx

_logger = logging.getLogger(__name__)
ENCODER_DENSE_WEIGHT = 0.65
"""``Embedder.dense_weight`` of sentence encoders: measured with MiniLM (evals/RETRIEVAL.md), and a
guess for the others, whose vectors were not at hand: Gemini, OpenAI and what Ollama serves."""
SILENT = "was silent for too long: try again, or raise HELIX_MODEL_TIMEOUT"
_opened: ContextVar[list[httpx.Response] | None] = ContextVar("opened", default=None)


async def _nothing_to_close() -> None:
    return None


@dataclass(frozen=True)
class Embedder:
    """An embedding model whose vectors are 1536 wide and L2-normalised; a plugin's are made so.

    ``identity`` names the provider and the model, and ``width`` is that of the model's own vectors
    where the name does not settle it; both make the ``vector_space``: a database filled in one
    cannot be searched in another. ``max_distance`` is the gate's default for it,
    a cosine distance, or None where nobody has calibrated one. ``max_batch`` is the most texts
    that one request may carry. ``raw_norm`` gives the L2 norm of the last vector as the vendor sent
    it, before Helix normalised it, where the provider looks. ``local`` says that a question is
    embedded in this process, sooner than a cache could be asked. ``dense_weight`` is the share of
    the distance in hybrid search's score that measured best with it (evals/RETRIEVAL.md), 0 to 1.
    ``lifetime`` is that of the vendor's model, where one is known.
    """

    model: BaseEmbedding
    identity: str
    max_distance: float | None
    max_batch: int = 100
    raw_norm: Callable[[], float | None] = lambda: None
    local: bool = False
    dense_weight: float = DEFAULT_DENSE_WEIGHT
    lifetime: Lifetime | None = None
    aclose: Callable[[], Awaitable[None]] = field(default=_nothing_to_close)
    width: RawWidth | None = None

    @property
    def vector_space(self) -> str:
        """The name of the space of its vectors: with their width, once that is known."""
        if self.width is None or self.width.numbers is None or not self.width.named:
            return self.identity
        return f"{self.identity}/{self.width.numbers}"

    async def learn_width(self) -> None:
        """Ask the model for a vector, where nobody knows yet which width it gives.

        Raises:
            UpstreamError: it gave none.
        """
        if self.width is not None and self.width.numbers is None:
            with embedding_failures():
                await self.model.aget_text_embedding("width")


def is_offline(identity: str) -> bool:
    """True if a model of this identity is Helix's own rules, and no model at all."""
    return identity.partition(":")[0] == "offline"


@dataclass(frozen=True)
class LanguageModel:
    """A chat model. Its stream raises UpstreamError unless the model said it had finished.

    The response that ends an answer, a stream's or a whole one's, carries a ``Usage`` where the
    model's service tells one (``usage_of``); in a stream it is one more response, with no delta.

    ``sees``: an image may be put to it; whether a vendor's model takes one, its service says.
    ``hears``: a recording may be put to it, as a document of that type.
    ``reads_beside``: the question and its sources are put beside its prompt as values
    (helix.domain.prompt.Beside); others get the contract's bytes alone.
    ``thinking`` is the same model asked for its thoughts too, where tools are put to it; None where
    there is no such thing.
    ``schema_options`` gives, for a JSON schema, the arguments of ``astream_chat`` that hold the
    answer to it; None where the model's server cannot. ``prefers_schema``: it is asked for answers
    in that form where HELIX_ANSWER_FORM is ``auto``.
    ``title`` is its name for people ("Gemini 3.5 Flash-Lite"); its identity where none is given.
    ``title_of`` is that of another model of the same service, by the service's name for it.
    ``brief`` are the options of a chat for which the model thinks as little as it can, for short
    calls that others wait for; empty where it cannot be told.
    ``cost`` is what a usage cost, in US dollars; None where that is not known.
    ``lifetime`` is that of the vendor's model, where one is known.
    ``silence`` is the longest wait for a response, in seconds; None waits on.
    """

    model: BaseLLM
    identity: str
    sees: bool = True
    reads_beside: bool = False
    hears: bool = False
    thinking: BaseLLM | None = None
    aclose: Callable[[], Awaitable[None]] = field(default=_nothing_to_close)
    title: str = ""
    title_of: Callable[[str], str] = str
    brief: Mapping[str, Any] = field(default_factory=dict)
    cost: Callable[[Usage], float | None] = lambda _: None
    lifetime: Lifetime | None = None
    schema_options: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    prefers_schema: bool = False
    silence: float | None = None

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.identity)

    @property
    def quotes_only(self) -> bool:
        """True if there is no model: answers are quoted from the sources by rules."""
        return is_offline(self.identity)

    async def stream(
        self, messages: Sequence[ChatMessage], **options: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        """The model's ``astream_chat``, bounded: a client may hang, and so may a server that sends
        signs of life alone.

        Raises:
            UpstreamError: no response came for ``silence`` seconds; of the stream too.
        """
        async with silence_bounded(self.identity, self.silence):
            responses: Any = await self.model.astream_chat(messages, **options)
        return self._bounded(responses)

    async def _bounded(self, responses: Any) -> AsyncGenerator[ChatResponse, None]:
        async with aclosing(responses):
            while True:
                async with silence_bounded(self.identity, self.silence):
                    response = await anext(responses, None)
                if response is None:
                    return
                yield response

    async def beginning(self, messages: Sequence[ChatMessage], enough: int, **options: Any) -> str:
        """The text of ``stream`` up to the piece that makes it ``enough`` characters, or all."""
        responses = await self.stream(messages, **options)
        text = ""
        async with aclosing(responses):
            async for response in responses:
                text += response.delta or ""
                if len(text) >= enough:
                    break
        return text

    async def reply(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponse:
        """The model's ``achat``, bounded as ``stream`` is."""
        async with silence_bounded(self.identity, self.silence):
            return await self.model.achat(messages, **options)


@asynccontextmanager
async def silence_bounded(name: str, seconds: float | None) -> AsyncGenerator[None, None]:
    """Around a wait for the service ``name``: UpstreamError where it is longer than ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise UpstreamError(f"{name} {SILENT}") from None


class MalformedCall(UpstreamError):
    """The model called a tool in a way that its own service could not read."""


@contextmanager
def model_failures(llm: LanguageModel) -> Iterator[None]:
    """Around a call of ``llm``: log the type of what it raises, and raise UpstreamError."""
    try:
        yield
    except HelixError:
        raise
    except Exception as error:
        _logger.warning("model %s failed: %s", llm.identity, type(error).__name__)
        raise _failed("the model's service", error) from error


@contextmanager
def embedding_failures() -> Iterator[None]:
    """Around a call of an embedder: raise UpstreamError for what it raises."""
    try:
        yield
    except HelixError:
        raise
    except Exception as error:
        raise _failed("the embedding service", error) from error


def _failed(service: str, error: Exception) -> UpstreamError:
    return UpstreamError(f"{service} failed ({type(error).__name__}); try again")


@contextmanager
def collecting_responses(into: list[httpx.Response]) -> Iterator[None]:
    """Append each streamed response of a client of ours that begins in this context to ``into``.

    They are closed with the stream of the answer. A vendor's stream holds its response in a cycle:
    left alone, one that nobody reads any more keeps its connection, and the model at work, until
    garbage collection. Over llama.cpp that was seen to last for 200 seconds.
    """
    token = _opened.set(into)
    try:
        yield
    finally:
        _opened.reset(token)


def collect(response: httpx.Response) -> None:
    """Append a response that has begun to the list of its context; one that is closed is left."""
    opened = _opened.get()
    if opened is not None and not response.is_closed:
        opened.append(response)


async def _collect(response: httpx.Response) -> None:
    collect(response)


HOOKS: dict[str, list[Callable[[httpx.Response], Awaitable[None]]]] = {"response": [_collect]}
"""The ``event_hooks`` of a client whose responses are collected."""


def collecting_client(timeout: float, **options: Any) -> httpx.AsyncClient:
    """OpenAI's own kind of client, whose responses are collected; ``timeout`` in seconds."""
    from openai import DefaultAsyncHttpxClient

    client: httpx.AsyncClient = DefaultAsyncHttpxClient(
        timeout=timeout, event_hooks=HOOKS, **options
    )
    return client
