"""A text as a reader writes it, section by section, with the offsets kept."""

from __future__ import annotations

from collections.abc import Iterable

from helix.domain.records import Section, Span
from pipelines.readers import ReadText, UnreadableFile


class Draft:
    """Sections put one after another; what lies between two is white space."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._pieces: list[str] = []
        self._length = 0
        self._sections: list[Section] = []

    def add(
        self,
        text: str,
        *,
        heading_path: tuple[str, ...] = (),
        page: int | None = None,
        label: str = "",
        context: str = "",
        blocks: Iterable[Span] = (),
        rows: bool = False,
        gap: str = "\n\n",
    ) -> None:
        """One section, ``gap`` after the last. ``blocks`` count from the start of ``text``.

        Nothing is added for white space alone.
        """
        if not text.strip():
            return
        if self._pieces:
            self._append(gap)
        start = self._length
        self._append(text)
        moved = tuple((start + first, start + last) for first, last in blocks)
        self._sections.append(
            Section(start, self._length, heading_path, page, label, context, moved, rows)
        )

    def finish(self, title: str | None) -> ReadText:
        """The whole; raises UnreadableFile when nothing was added."""
        if not self._pieces:
            raise UnreadableFile("empty: there is no text in it")
        sections, warnings = tuple(self._sections), tuple(self.warnings)
        return ReadText("".join(self._pieces), title or None, sections, warnings)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)
