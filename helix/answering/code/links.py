"""Each name in an answer's code at its place in the sources: documented, own, or in none. Pure.

Code is found in Markdown's fenced blocks, with their language, and in spans between backticks. Each
line is looked at once: no text takes longer than in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helix.answering.code.names import Found, is_shell, names_in
from helix.domain.context import Source
from helix.domain.records import Hit

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


Status = Literal["documented", "undocumented", "local"]
Place = tuple[int, int, int, int, int]
"""Number of the source, ids of chunk and document, first and last offset in the document."""
MOST_NAMES = 1000
"""Names of one answer that are looked up."""


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name at ``answer[start:end]``, and where a source has it.

    ``local``: the answer's own code defines it. ``documented``: source ``n``, from 1, has it within
    the chunk ``chunk_id``, at ``documents.text[source_start:source_end]``. ``undocumented``: no
    source has it.
    """

    name: str
    start: int
    end: int
    status: Status
    n: int | None = None
    chunk_id: int | None = None
    document_id: int | None = None
    source_start: int | None = None
    source_end: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The name in an answer's JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def linked_names(answer: str, sources: Sequence[Source]) -> list[CodeName]:
    """The names in the code of ``answer``, in order.

    A name within a sentence, or in code of no known language, is told only where the code of a
    source has it.
    """
    documentation = _Documentation(sources)
    names: list[CodeName] = []
    for code in code_in(answer):
        language = "" if code.inline else code.language
        shell = is_shell(language)  # whose own variables may be settings
        for found in names_in(answer[code.start : code.end], language):
            if len(names) >= MOST_NAMES:
                return names
            span = code.start + found.start, code.start + found.end
            place = documentation.place_of(found) if shell or not found.own else None
            if place:
                names.append(CodeName(found.name, *span, "documented", *place))
            elif found.own or found.sure:
                status: Status = "local" if found.own else "undocumented"
                names.append(CodeName(found.name, *span, status))
    return names


class _Documentation:
    """The texts of the sources; a name is looked up once."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._hits = [
            (n, hit, [code.outer for code in code_in(hit.content)])
            for n, source in enumerate(sources, 1)
            for hit in source.hits
            if hit.start_char is not None and not hit.tool
        ]
        self._known: dict[str, tuple[Place, bool] | None] = {}

    def place_of(self, found: Found) -> Place | None:
        """The place of a name's dotted form, else of the name alone; None where neither has one.

        The first place in code comes before all others. A word that may be no name (not ``sure``)
        is only linked to a place in code.
        """
        for wanted in dict.fromkeys((found.path, found.name)):
            if wanted not in self._known:
                self._known[wanted] = self._find(wanted, found.name)
            if (known := self._known[wanted]) and (found.sure or known[1]):
                return known[0]
        return None

    def _find(self, wanted: str, name: str) -> tuple[Place, bool] | None:
        """The best place of a name, and whether it is in code."""
        places = list(self._places(wanted))
        best = next((place for place in places if place[2]), places[0] if places else None)
        if best is None:
            return None
        (n, hit), end, in_code = best
        offset = hit.start_char or 0
        place = n, hit.chunk_id, hit.document_id, offset + end - len(name), offset + end
        return place, in_code

    def _places(self, wanted: str) -> Iterator[tuple[tuple[int, Hit], int, bool]]:
        pattern = re.compile(rf"(?<![\w$-]){re.escape(wanted)}(?![\w$])(?!-\w)")
        for n, hit, code in self._hits:
            for match in pattern.finditer(hit.content):
                in_code = any(start <= match.start() < end for start, end in code)
                yield (n, hit), match.end(), in_code
                if in_code:
                    break
