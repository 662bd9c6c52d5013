"""Statements by the room that asks for them: each named, with why it is as it is.

A room imports its own: ``from helix.storage.statements import progress as sql``. Values are bound
where they are carried out.
"""

from __future__ import annotations


def compose(template: str, **fragments: str) -> str:
    """A statement from constant fragments of SQL; values are bound, never composed."""
    return template.format(**fragments)
