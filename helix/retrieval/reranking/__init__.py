"""Rerankers by name: a dict of kind to factory; a vendor's file is imported when it is chosen.

``HELIX_RERANKER`` is ``none``, ``kind`` or ``kind:model``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from helix.errors import SettingsError
from helix.retrieval.reranking.base import Reranker
from helix.retrieval.reranking.vendors import usable_key

__all__ = ["RERANKERS", "Reranker", "RerankerKind", "build_reranker"]


@dataclass(frozen=True)
class RerankerKind:
    """The place of a kind's factory, and for a vendor the variable and the address of its key."""

    factory: str
    key_variable: str = ""
    key_address: str = ""


RERANKERS: Mapping[str, RerankerKind] = {
    "cohere": RerankerKind(
        "helix.retrieval.reranking.cohere:cohere_reranker",
        "COHERE_API_KEY",
        "https://dashboard.cohere.com/api-keys",
    ),
    "cross-encoder": RerankerKind("helix.retrieval.reranking.cross_encoder:cross_encoder_reranker"),
    "voyage": RerankerKind(
        "helix.retrieval.reranking.voyage:voyage_reranker",
        "VOYAGE_API_KEY",
        "https://dashboard.voyageai.com",
    ),
}
"""Each kind is also the name of the extra that installs it."""


def build_reranker(
    choice: str,
    *,
    keys: Mapping[str, SecretStr | None],
    timeout: float,
    min_score: float | None = None,
    base_url: str | None = None,
) -> Reranker | None:
    """The reranker that ``choice``, the value of ``HELIX_RERANKER``, names; None for ``none``.

    ``keys`` are by variable. ``timeout`` is the longest silence of a vendor in seconds.
    ``min_score`` None is the kind's own default. ``base_url`` stands in for the vendor's address.
    Blocks: a vendor's package takes about a second to import, a cross-encoder's several.

    Raises:
        SettingsError: unknown kind, missing extra or key, or a model that cannot be loaded.
    """
    if choice == "none":
        return None
    name, _, model = choice.partition(":")
    if name not in RERANKERS:
        known = ", ".join(sorted([*RERANKERS, "none"]))
        raise SettingsError(f"HELIX_RERANKER names an unknown reranker {name!r}: it knows {known}")
    kind = RERANKERS[name]
    options: dict[str, Any] = {"min_score": min_score}
    if kind.key_variable:
        key = usable_key(keys.get(kind.key_variable), kind.key_variable, name, kind.key_address)
        options |= {"key": key, "timeout": timeout, "base_url": base_url}
    module, _, factory = kind.factory.partition(":")
    try:
        make: Callable[..., Reranker] = getattr(import_module(module), factory)
    except ImportError:
        raise SettingsError(
            f"HELIX_RERANKER is {name}, which is not installed: pip install 'helix-answers[{name}]'"
        ) from None
    return make(model, **options)
