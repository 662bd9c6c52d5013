"""If-None-Match: entity tags that a client has, compared as RFC 9110, 13.1.2 says."""

from __future__ import annotations


def has_same(if_none_match: str | None, tag: str) -> bool:
    """True where the client has what ``tag`` names: one of its tags, weak or not, or ``*``."""
    asked = (if_none_match or "").strip()
    return asked == "*" or _opaque(tag) in map(_opaque, asked.split(","))


def _opaque(tag: str) -> str:
    """A tag without its mark of weakness, which a proxy that compresses adds."""
    return tag.strip().removeprefix("W/")
