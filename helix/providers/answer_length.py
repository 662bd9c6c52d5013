"""The length of an answer: a small model may repeat itself until its context is full."""

from __future__ import annotations

from helix.settings import Settings

ANSWER_TOKENS = 4096
"""Of an answer whose length nobody set: several pages, or the thoughts of a model and a page."""


def answer_tokens(settings: Settings, context: int) -> int:
    """The most tokens of one answer of a model with a ``context`` of so many.

    HELIX_ANSWER_TOKENS, or a quarter of the context: some servers refuse a request whose prompt and
    longest answer together exceed it.
    """
    return settings.answer_tokens or min(ANSWER_TOKENS, context // 4)
