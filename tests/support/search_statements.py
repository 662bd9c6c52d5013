"""Searches as if the database were large."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helix.storage.statements import dense_search, hybrid_search, scopes


@contextmanager
def indexed_searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Searches go through the vector index however few chunks there are."""
    composed = (
        scopes.scope_ctes,
        dense_search.dense_statement,
        hybrid_search.hybrid_statement,
    )
    monkeypatch.setattr(scopes, "LEAST_FEW", 0)
    for statement in composed:
        statement.cache_clear()
    yield
    for statement in composed:
        statement.cache_clear()
