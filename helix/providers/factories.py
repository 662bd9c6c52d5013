"""Providers by name: a dict of kind to factory; a vendor's file is imported when it is chosen.

``HELIX_LLM`` and ``HELIX_EMBEDDER`` are ``kind`` or ``kind:model``. A factory takes the settings
and the model name after the colon (empty where there is none); an embedder's also whether it may be
patient. A kind that is not in the tables may be a plugin's (docs/plugins.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from helix.domain.plugins import EMBEDDERS as EMBEDDER_PLUGINS
from helix.domain.plugins import LLMS, plugins
from helix.errors import SettingsError
from helix.providers.base import Embedder, LanguageModel
from helix.providers.retries import PATIENT
from helix.settings import Settings

_Made = TypeVar("_Made")
_SIGNS_OF_LIFE = 10
"""Times HELIX_MODEL_TIMEOUT that a server may send comments before its first word, and that a
plugin may take over a batch of an ingestion."""

EMBEDDERS: Mapping[str, str] = {
    "gemini": "helix.providers.gemini.embedding:gemini_embedder",
    "huggingface": "helix.providers.huggingface:huggingface_embedder",
    "offline": "helix.providers.offline:offline_embedder",
    "ollama": "helix.providers.ollama:ollama_embedder",
    "openai": "helix.providers.openai:openai_embedder",
    "server": "helix.providers.model_server:server_embedder",
}
LANGUAGE_MODELS: Mapping[str, str] = {
    "anthropic": "helix.providers.anthropic:anthropic_llm",
    "gemini": "helix.providers.gemini.llm:gemini_llm",
    "local": "helix.providers.local:local_llm",
    "offline": "helix.providers.offline:offline_llm",
    "ollama": "helix.providers.ollama:ollama_llm",
    "openai": "helix.providers.openai:openai_llm",
    "server": "helix.providers.model_server:server_llm",
}


def build_embedder(settings: Settings, *, patient: bool = False) -> Embedder:
    """The embedder that ``HELIX_EMBEDDER`` names.

    ``patient`` is for ingestion, where nobody waits: a batch may cost five requests and minutes.

    Raises:
        SettingsError: unknown kind, missing extra, or a model the vendor's file refuses.
    """
    return _embedder("HELIX_EMBEDDER", settings.embedder, settings, patient)


def build_next_embedder(settings: Settings, *, patient: bool = False) -> Embedder | None:
    """The one that ``HELIX_EMBEDDER_NEXT`` names, if any; raises as build_embedder does."""
    if settings.embedder_next is None:
        return None
    return _embedder("HELIX_EMBEDDER_NEXT", settings.embedder_next, settings, patient)


def _embedder(variable: str, name: str, settings: Settings, patient: bool) -> Embedder:
    # an embedder is known by the name it was chosen by, which may be the next one's
    chosen = settings.model_copy(update={"embedder": name})
    given = _factory(EMBEDDERS, EMBEDDER_PLUGINS, variable, name)
    made = _checked(given(chosen, _model(name), patient=patient), Embedder, variable, name)
    if name.partition(":")[0] in EMBEDDERS:
        return made
    # a batch of many texts may take a model of this process long, and nobody waits for it
    seconds = settings.model_timeout * (_SIGNS_OF_LIFE if patient else 1)
    return _held_to_rules(made, name, seconds, patient=patient)


def _held_to_rules(made: Embedder, name: str, seconds: float, *, patient: bool) -> Embedder:
    """A plugin's embedder that ends in time, its vectors checked as LlamaIndex's integrations'."""
    from helix.providers.bounded_embedding import BoundedEmbedding
    from helix.providers.vendor_models import ONE_ATTEMPT, PaddedEmbedding

    bounded = BoundedEmbedding(made.model, seconds)
    padded = PaddedEmbedding(bounded, name, PATIENT if patient else ONE_ATTEMPT)
    close = partial(bounded.aclosed_by, made.aclose)
    return replace(made, model=padded, width=padded.width, aclose=close)


def build_llm(settings: Settings) -> LanguageModel:
    """The language model that ``HELIX_LLM`` names; raises as build_embedder does."""
    given = _factory(LANGUAGE_MODELS, LLMS, "HELIX_LLM", settings.llm)
    name = settings.llm
    made = _checked(given(settings, _model(name)), LanguageModel, "HELIX_LLM", name)
    return made if made.silence else replace(made, silence=_silence(name, settings))


def check_llm(settings: Settings) -> None:
    """Look the provider of ``HELIX_LLM`` up, without its model; raises as build_llm does."""
    _factory(LANGUAGE_MODELS, LLMS, "HELIX_LLM", settings.llm)


def _silence(name: str, settings: Settings) -> float:
    """Longest wait for a response, in seconds, where the provider says none.

    The clients of Helix's own providers hear a silence themselves. What a server sends while it
    reads a long prompt is none, and must end all the same.
    """
    if name.partition(":")[0] not in LANGUAGE_MODELS:
        return settings.model_timeout
    return _SIGNS_OF_LIFE * settings.model_timeout + settings.local_wait


def _factory(table: Mapping[str, str], group: str, variable: str, name: str) -> Any:
    kind = name.partition(":")[0]
    if kind in table:
        module, _, factory = table[kind].partition(":")
        return getattr(import_module(module), factory)
    if kind in (added := plugins(group)):
        return added[kind].call
    known = ", ".join(sorted({*table, *added}))
    raise SettingsError(f"{variable} names an unknown provider {kind!r}: it knows {known}")


def _model(name: str) -> str:
    return name.partition(":")[2]


def _checked(made: Any, kind: type[_Made], variable: str, name: str) -> _Made:
    if not isinstance(made, kind):
        what = type(made).__name__
        raise SettingsError(f"{variable}={name}: its provider gave a {what}, no {kind.__name__}")
    return made
