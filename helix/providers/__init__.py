"""Embedders and language models: one file a vendor, found by name (factories.py).

``build_embedder`` and ``build_llm`` are public names here (docs/assembly.md), loaded when they are
asked for: the processes of ``local_models`` want no more of this package than themselves.
"""

from importlib import import_module
from typing import Any

_PUBLIC = ("build_embedder", "build_llm")


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module("helix.providers.factories"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
