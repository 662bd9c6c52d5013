"""HTML tags in an answer: where one ends as a browser reads it, and what it might load."""

from __future__ import annotations

import re

from helix.language.word_lists import expression, word_lists

# Quotes count where a value begins: a browser, too, reads on over a ``>`` between them.
_TAG = re.compile(r"<(?>(?:[^=>]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])))*)>")
_TAG_NAME = re.compile(r"</?([a-z][^\s/>]*+)", re.IGNORECASE)
_ACTIVE = frozenset({"script", "style"})
_LOADING = word_lists("markup")["loading"]
_LOADING_ATTRIBUTE = re.compile(
    rf"[\s/\"'](?:{expression('markup', 'loading_attribute')})\s*+=", re.IGNORECASE
)
_ADDRESS = re.compile(r"url\s*+\(|[/\\]{2}|:[/\\]", re.IGNORECASE)
# What might be taken out of a tag, and so move its end.
_INSIDE = re.compile(r"\][(:]|[/\\:][/\\]|www[.。．｡]|(?:https?|ftp|mailto|xmpp):\S", re.IGNORECASE)
_INSIDE_NESTED = re.compile(r"[=:\"'`]|script|style", re.IGNORECASE)


def whole_tag(text: str) -> str | None:
    """The tag that ``text`` begins with; None where it has no end, or a quote has none."""
    found = _TAG.match(text) if ">" in text else None
    return found[0] if found else None


def may_load(tag: str) -> bool:
    """True if a browser might load something for ``tag``, or run it, or go somewhere by it."""
    name = _TAG_NAME.match(tag)
    lowered = name[1].lower() if name else ""
    if lowered in _ACTIVE or _LOADING_ATTRIBUTE.search(tag):
        return True
    return "=" in tag and bool(lowered in _LOADING or _ADDRESS.search(tag, tag.index("=")))


def may_change(tag: str) -> bool:
    """True if something inside ``tag`` might be taken out, after which it would end elsewhere."""
    nested = "<" in tag[1:] and _INSIDE_NESTED.search(tag)
    return bool(nested or _INSIDE.search(tag, 1))
