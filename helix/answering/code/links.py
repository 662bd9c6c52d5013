"""Each name in an answer's code at its place in the sources: documented, own, or in none. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helix.answering.code.blocks import code_in
from helix.answering.code.names import Found, is_shell, names_in
from helix.domain.context import Source
from helix.domain.records import Hit

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
