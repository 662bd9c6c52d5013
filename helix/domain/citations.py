"""Citations: marker parsing, numbering, refusal recognition, snippets. Pure.

Markers are read from the whole answer, so that how a model cut it into deltas changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.domain.context import Source
from helix.domain.contract import REFUSAL, SNIPPET_CHARS, Citation
from helix.domain.records import Hit
from helix.language.words import words

MARKER = re.compile(r"\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)\s*\]")
"""A marker as answers have it, its numbers in group 1: `[1]`, `[1, 2]`."""

_NO_LETTER = re.compile(r"[\W_]+")


def marker_numbers(answer: str) -> list[int]:
    """Numbers cited in ``answer`` in order of first use, each once: `[1]`, `[1, 2]`, `[1][2]`."""
    found = (int(n) for marker in MARKER.findall(answer) for n in marker.split(","))
    return list(dict.fromkeys(found))


def claims(answer: str) -> dict[int, list[str]]:
    """The claims of each cited number: the text in front of each of its markers.

    That is the text since the marker before; markers that follow each other share theirs.
    """
    found: dict[int, list[str]] = {}
    start, claim = 0, ""
    for marker in MARKER.finditer(answer):
        between = answer[start : marker.start()]
        claim = between if any(c.isalnum() for c in between) else claim
        for number in map(int, marker[1].split(",")):
            found.setdefault(number, []).append(claim)
        start = marker.end()
    return found


def is_refusal(answer: str) -> bool:
    """True if ``answer`` says the refusal and nothing else.

    A model may quote it, mark it with sources, or set another apostrophe: letters decide.
    """
    return _letters(MARKER.sub("", answer)) == _letters(REFUSAL)


def may_be_refusal(beginning: str) -> bool:
    """True if an answer that begins so may still turn out to be a refusal by ``is_refusal``."""
    return _letters(REFUSAL).startswith(_letters(MARKER.sub("", beginning)))


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text.casefold())


def cited_numbers(answer: str, sources: Sequence[Hit]) -> list[int]:
    """The numbers of ``sources``, from 1, that ``answer`` cites, in order of first use.

    A marker beyond the sources cites nothing, and neither does anything in a refusal.
    """
    if is_refusal(answer):
        return []
    return [n for n in marker_numbers(answer) if 1 <= n <= len(sources)]


def cite(answer: str, sources: Sequence[Hit]) -> list[Citation]:
    """The citations of ``answer``: ``sources[n - 1]`` for each marker n that maps to a chunk."""
    return [
        Citation(
            n=n,
            chunk_id=sources[n - 1].chunk_id,
            document_title=sources[n - 1].title,
            snippet=snippet(sources[n - 1].content),
        )
        for n in cited_numbers(answer, sources)
        if sources[n - 1].tool is None
    ]


def snippet(content: str, limit: int = SNIPPET_CHARS, start: int = 0) -> str:
    """``limit`` characters or so from ``start``, cut between words, with an ellipsis where cut."""
    if start:
        return "…" + snippet(content[start:], limit)
    if len(content) <= limit:
        return content
    head = content[:limit]
    if not content[limit].isspace():
        words_end = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
        # a word longer than half a snippet (a URL, unspaced script) is cut where the limit falls
        head = head[:words_end] if words_end > limit // 2 else head
    return head.rstrip() + "…"


def place(hit: Hit) -> str:
    """Document and location for people: "Handbook, page 47", "Handbook › Travel › Refunds"."""
    return place_of(hit.title, hit.heading_path, hit.label)


def place_of(title: str, heading_path: Sequence[str], label: str) -> str:
    """``place`` of what a citation says of its source."""
    if label:
        return f"{title}, {label}"
    # a document named by its first heading has that in front of every path
    return " › ".join((title, *heading_path[tuple(heading_path[:1]) == (title,) :]))


def attribute_citations(answer: str, sources: Sequence[Source]) -> list[Hit]:
    """The hit that a citation of each source names, now that ``answer`` is known.

    Of several joined hits it is the one with most of the words of the passages that cite the
    source; where some have as many, the most relevant of them if it is one, else the first.
    """
    cited = claims(answer)
    return [
        _closest(" ".join(cited.get(number, [])), source)
        for number, source in enumerate(sources, 1)
    ]


def _closest(claim: str, source: Source) -> Hit:
    if len(source.hits) == 1:
        return source.hit
    wanted = set(words(claim))
    shared = [len(wanted.intersection(words(hit.content))) for hit in source.hits]
    most = max(shared)
    best = [hit for hit, count in zip(source.hits, shared, strict=True) if count == most]
    return source.hit if source.hit in best else best[0]
