"""Code in Markdown: fenced blocks with their language, and spans between backticks. Pure.

Each line is looked at once: no text takes longer than in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_INLINE = re.compile(r"(?<!`)`(?P<code>[^`\n]{1,200})`(?!`)")


@dataclass(frozen=True, slots=True)
class Code:
    """``text[start:end]`` is code, without its fences or backticks.

    ``language`` is as its fence has it, '' where none is named; ``inline``: within a sentence.
    ``outer`` is the span with the fences.
    """

    start: int
    end: int
    language: str = ""
    inline: bool = False
    outer: tuple[int, int] = (0, 0)


def code_in(text: str) -> list[Code]:
    """The code of a Markdown text, in order; a block that is not closed ends with the text."""
    found: list[Code] = []
    prose = 0
    for block in _fenced(text):
        found += _inline(text, prose, block.outer[0])
        found.append(block)
        prose = block.outer[1]
    return [*found, *_inline(text, prose, len(text))]


def _fenced(text: str) -> Iterator[Code]:
    opened: tuple[int, int, str, str] | None = None  # outer start, start, fence, language
    at = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if opened is None and match:
            opened = at, at + len(line), match["fence"], match["language"]
        elif opened and match and _closes(line, match, opened[2]):
            yield Code(opened[1], at, opened[3], outer=(opened[0], at + len(line)))
            opened = None
        at += len(line)
    if opened:
        yield Code(opened[1], at, opened[3], outer=(opened[0], at))


def _closes(line: str, match: re.Match[str], fence: str) -> bool:
    own = match["fence"]
    return own[0] == fence[0] and len(own) >= len(fence) and not line[match.end("fence") :].strip()


def _inline(text: str, start: int, end: int) -> Iterator[Code]:
    for match in _INLINE.finditer(text, start, end):
        yield Code(*match.span("code"), inline=True, outer=match.span())


def without_code(text: str) -> str:
    """``text`` at the same length, in which no code reads as a sentence or as a marker.

    Blocks become spaces, their line ends stay; of code within a sentence the brackets change.
    """
    parts, at = [], 0
    for code in code_in(text):
        start, end = code.outer
        parts.append(text[at:start])
        inner = text[start:end]
        parts.append(inner.replace("[", "(") if code.inline else _blank(inner))
        at = end
    return "".join([*parts, text[at:]])


def _blank(code: str) -> str:
    return "".join(character if character in "\r\n" else " " for character in code)
