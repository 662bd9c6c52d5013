"""The other vendors: LlamaIndex's own integrations, most an optional extra named as its kind.

``HELIX_LLM`` and ``HELIX_EMBEDDER`` name them ``kind:model``; keys and addresses come from the
variables that each vendor's client reads by itself (``OPENAI_API_KEY``, ``OLLAMA_HOST``, …).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.usage import Usage
from helix.errors import SettingsError
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder, LanguageModel
from helix.providers.retries import INTERACTIVE, PATIENT
from helix.providers.vendor_models import AnswerEnd, PaddedEmbedding, WholeAnswers
from helix.settings import Settings


@dataclass(frozen=True)
class Integration:
    """The place of a vendor's class in LlamaIndex, and the options to construct it with.

    ``max_distances``: the gate's calibrated ceiling, a cosine distance, by model name. ``remedy``
    is what to do where the class cannot be made.
    """

    module: str
    class_name: str
    options: Callable[[Settings, str], dict[str, Any]]
    max_distances: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    remedy: str = field(
        default="check the model's name and the vendor's own variables, such as its API key",
        kw_only=True,
    )

    def embedder(self, settings: Settings, model: str, *, patient: bool = False) -> Embedder:
        """The embedder that ``HELIX_EMBEDDER`` names, its vectors padded to 1536.

        The attempts are those of ``helix.providers.retries``, PATIENT or INTERACTIVE: the vendor's
        client and LlamaIndex are told to make none, for they would multiply, and try a silence
        again.

        Raises:
            SettingsError: no model after the colon, the extra is not installed, or the vendor's
                class refuses the model or its own environment.
        """
        name = settings.embedder
        vendor = _load("HELIX_EMBEDDER", name, model, self)
        options = self.options(settings, model)
        inner = _construct("HELIX_EMBEDDER", name, vendor, options, self.remedy)
        padded = PaddedEmbedding(inner, name, PATIENT if patient else INTERACTIVE)
        return Embedder(
            model=padded,
            # a width that is asked for is part of the name
            width=None if "dimensions" in options else padded.width,
            identity=f"{name}:{EMBEDDING_DIMENSIONS}",
            max_distance=self.max_distances.get(model),
            max_batch=padded.embed_batch_size,
            dense_weight=ENCODER_DENSE_WEIGHT,
        )


@dataclass(frozen=True)
class ChatIntegration(Integration):
    """Adds how a vendor's answers end, and what they took.

    ``finish_reason`` and ``usage`` read it from a ``ChatResponse.raw``, a stream's or a whole
    answer's; None where that one does not say. ``whole`` are the reasons of an answer that nothing
    cut.
    """

    finish_reason: Callable[[Any], str | None]
    usage: Callable[[Any], Usage | None]
    whole: frozenset[str]
    titled: Callable[[str], str] = str
    """The title of a model by its name."""
    schema_options: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    prefers_schema: bool = False
    """Both as LanguageModel has them."""
    connect: Callable[[Any, Settings], Callable[[], Awaitable[None]]] | None = None
    """Gives a chat a client of ours, whose streams close when they are left; returns what closes
    the client. None where ``options`` have one as ``async_http_client``."""

    def llm(self, settings: Settings, model: str) -> LanguageModel:
        """The language model that ``HELIX_LLM`` names; raises as Integration.embedder does."""
        name = settings.llm
        vendor = _load("HELIX_LLM", name, model, self)
        cls = type(vendor)(vendor.__name__, (WholeAnswers, vendor), {"__module__": __name__})

        def known(**options: Any) -> Any:
            chat = cls(**options)
            _ = chat.metadata  # each chat asks for it, and it raises for a model that nobody knows
            return chat

        options = self.options(settings, model)
        chat = _construct("HELIX_LLM", name, known, options, self.remedy)
        chat._new_end = partial(AnswerEnd, name, self.finish_reason, self.usage, self.whole)
        llm = LanguageModel(
            model=chat,
            identity=name,
            title=self.titled(model),
            schema_options=self.schema_options,
            prefers_schema=self.prefers_schema,
        )
        if self.connect:
            return replace(llm, aclose=self.connect(chat, settings))
        client = options.get("async_http_client")
        return replace(llm, aclose=client.aclose) if client else llm


def _load(variable: str, name: str, model: str, integration: Integration) -> Any:
    kind = name.partition(":")[0]
    if not model:
        raise SettingsError(f"{variable} names no model: set it to {kind}:<model>")
    try:
        return getattr(import_module(integration.module), integration.class_name)
    except ImportError:
        raise SettingsError(
            f"{variable} is {kind}, which is not installed: pip install 'helix-answers[{kind}]'"
        ) from None


def _construct(variable: str, name: str, cls: Any, options: dict[str, Any], remedy: str) -> Any:
    """An instance, or one line that leaves the vendor's text out, for it may hold a key."""
    try:
        return cls(**options)
    except Exception as error:  # noqa: BLE001
        kind = type(error).__name__
        raise SettingsError(f"{variable}={name} cannot be set up ({kind}): {remedy}") from None
