"""Attribution of a citation to one chunk of a joined source: the one that says the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.citations import claims
from helix.domain.context import Source
from helix.domain.records import Hit
from helix.language.words import words


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
