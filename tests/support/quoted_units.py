"""The units that are quoted together with one of a text."""

from __future__ import annotations

from helix.evidence.blocks import Layout
from helix.language.sentences import Passage, units_of


def quoted(text: str, start: str, headings: str = "") -> list[str]:
    """The units quoted with the unit that begins with ``start``, itself among them."""
    passage = Passage(text, headings)
    units = units_of([passage])
    layout = Layout(passage, units)
    place = next(unit.place for unit in units if unit.text.startswith(start))
    return [" ".join(units[at].text.split()) for at in layout.quoted(place)]
