"""Lines of Markdown that are bold from end to end, which many write in place of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from pipelines.readers.outline import LONGEST_HEADING

LEVEL_OF_BOLD = 7
"""Below all headings that have a mark of their own."""
_BOLD = re.compile(r"(\*\*|__)(?![\s*_])((?:(?!\1)[^\n])+)(?<=\S)\1\s*")
_STOPS = (".", ",", ":", ";", "。", "，", "：", "；")
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?\s")
_LONE_ITEM = ("list_item_open", "bullet_list_open"), ("list_item_close", "bullet_list_close")
"""Tokens around the one line of a list's one item: those in front from it back, those behind."""


def bold_lines(tokens: Sequence[Token]) -> Iterator[int]:
    """Places of tokens that open a paragraph of one bold line without a stop, outside lists.

    It is inside one where that is all of the list.
    """
    for place, token in enumerate(tokens):
        if token.type == "paragraph_open" and _is_outside(tokens, place):
            text = tokens[place + 1].content
            match = _BOLD.fullmatch(text) if len(text) <= LONGEST_HEADING else None
            if match and (_NUMBERED.match(match[2]) or not match[2].endswith(_STOPS)):
                yield place


def _is_outside(tokens: Sequence[Token], place: int) -> bool:
    if not tokens[place].level:
        return True
    before = tuple(token.type for token in tokens[max(place - 2, 0) : place][::-1])
    behind = tuple(token.type for token in tokens[place + 3 : place + 5])
    return tokens[place].level == 2 and (before, behind) == _LONE_ITEM
