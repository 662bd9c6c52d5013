"""The units that are quoted together with one of a text."""

from __future__ import annotations

from helix.evidence.blocks import Layout
from helix.language.sentences import Passage, Unit, units_of


def layout_of(text: str, headings: str = "") -> tuple[list[Unit], Layout]:
    """The units of a text, and their layout."""
    passage = Passage(text, headings)
    units = units_of([passage])
    return units, Layout(passage, units)


def quoted(text: str, start: str, headings: str = "") -> list[str]:
    """The units quoted with the unit that begins with ``start``, itself among them."""
    units, layout = layout_of(text, headings)
    place = next(unit.place for unit in units if unit.text.startswith(start))
    return [" ".join(units[at].text.split()) for at in layout.quoted(place)]
