"""A summary by quoting: the lead sentence of each section, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.citations import MARKER
from helix.evidence.blocks import Layout
from helix.evidence.forms import Form
from helix.evidence.units import Passage, units_of
from helix.language.rows import BESIDE
from helix.providers.offline.reading import OfferedSource

_MOST = 6
_FEWEST_WORDS, _MOST_WORDS = 6, 60


def lead_sentences(sources: Sequence[OfferedSource]) -> str:
    """The first sentence of prose of each source with its marker, of six sources at most."""
    found: list[str] = []
    for source in sources:
        if len(found) < _MOST and (lead := _lead(source.text)):
            cited = f"{lead} [{source.number}]"
            found += [cited] if lead not in " ".join(found) else []
    return " ".join(found)


def _lead(text: str) -> str:
    passage = Passage(text)
    units = units_of([passage])
    for unit, form in zip(units, Layout(passage, units).forms, strict=True):
        sentence = " ".join(unit.text.split())
        is_prose = form is Form.TEXT and sentence.endswith((".", "!", "。"))
        if not is_prose or BESIDE in sentence or MARKER.search(sentence):
            continue
        if _FEWEST_WORDS <= len(sentence.split()) <= _MOST_WORDS:
            return sentence
    return ""
