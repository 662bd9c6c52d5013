"""The sources of an imported answer, checked to have the form that exports have.

Everything that shows it afterwards (the page, Markdown, Word) may then rely on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NUMBER, _TEXT = (int,), (str, type(None))
_SPAN = {"n": _NUMBER, "quote": _TEXT, "start": (int, type(None)), "end": (int, type(None))}
_CITATION = _SPAN | {
    "title": _TEXT, "label": _TEXT, "source_url": _TEXT, "document_id": (int, type(None)),
    "chunk_id": (int, type(None)),
}  # fmt: skip


def are_citations(found: Any) -> bool:
    """True where ``found`` is None or a list of citations, whose addresses are of the web."""
    return found is None or (isinstance(found, list) and all(map(_is_citation, found)))


def is_support(found: Any) -> bool:
    """True where ``found`` is None or a proof: statements with the spans that they rest on."""
    if found is None:
        return True
    statements = found.get("statements", []) if isinstance(found, dict) else None
    return isinstance(statements, list) and all(map(_is_statement, statements))


def _is_citation(found: Any) -> bool:
    return _has(found, _CITATION) and (found.get("source_url") or "https://").startswith(
        ("http://", "https://")
    )


def _is_statement(found: Any) -> bool:
    spans = found.get("spans", []) if isinstance(found, dict) else None
    return isinstance(spans, list) and all(_has(span, _SPAN) for span in spans)


def _has(found: Any, types: Mapping[str, tuple[type, ...]]) -> bool:
    """True where ``found`` is an object whose fields, as far as it has them, are of these types."""
    return (
        isinstance(found, dict)
        and "n" in found
        and all(type(found[name]) in kinds for name, kinds in types.items() if name in found)
    )
