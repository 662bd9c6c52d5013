"""One block of an answer as plain text with markers, while it arrives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from helix.answering.numbering import KnownMarkers
from helix.domain.citations import MARKER, is_refusal, may_be_refusal
from helix.language.sentences import sentence_spans

_LEADING = re.compile(rf"(?:\s|{MARKER.pattern})+")
_BULLET = re.compile(r"[-*+•‣◦▪]\s+")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")
_MAY_BE_NUMBERED = re.compile(r"\d{1,3}[.)]?\Z")
_STOP = re.compile(r"[.!?…؟۔।॥։።။｡。！？\n\r]|`")
_CLOSING = re.compile(rf"(?:[^\[\]\w]|_|{MARKER.pattern})*")
"""A stop and what closes behind it: after a letter it would be the sentence that goes on."""
_FENCE = "```"
_FENCE_LINE = re.compile(r" {0,3}```")
_AHEAD = 64
"""Characters behind a stop after which it is settled whether a sentence ends there."""
_BEHIND = 300
"""Characters in front of a stop that are looked at for that."""


class Block(Protocol):
    """A block that is being read; what it gives, joined, does not depend on how its text came."""

    def feed(self, text: str) -> str:
        """The text that can be sent now, behind ``text``."""
        ...

    def cite(self, sources: Sequence[int]) -> str:
        """The text that can be sent now that the block's sources are known."""
        ...

    def close(self) -> str:
        """The rest, now that the block is whole."""
        ...


def markers_of(sources: Sequence[int]) -> str:
    """``[1][2]``; empty without sources."""
    return "".join(f"[{n}]" for n in sources)


class Prose:
    """A paragraph or a list item: each of its sentences has the markers of the block's sources.

    A sentence that has markers of its own keeps them instead. Until the sources are known, what
    follows the first sentence waits. A block that is nothing but markers, or the refusal, is empty.
    """

    def __init__(self, known: int, lead: str = "") -> None:
        self._lead = lead
        self._known = KnownMarkers(known)
        self._sources: Sequence[int] | None = None
        self._begun = False
        self._held = ""
        self._sentence = ""  # of the present sentence, what was sent
        self._marked: set[int] = set()
        self._in_code = False

    def feed(self, text: str) -> str:
        self._held += self._known.feed(text)
        return self._drain(last=False)

    def cite(self, sources: Sequence[int]) -> str:
        self._sources = sources
        return self._drain(last=False)

    def close(self) -> str:
        self._held += self._known.end()
        self._sources = self._sources or ()
        given = self._drain(last=True)
        return given + self._closing_markers() if self._begun else ""

    def _drain(self, *, last: bool) -> str:
        if not self._begun and not self._begins(last=last):
            return ""
        given = ""
        while self._held:
            stop = None if self._in_code else _STOP.search(self._held)
            given += self._send(stop.start() if stop else len(self._held.rstrip()))
            if stop is None or not (last or len(self._held) > _AHEAD):
                break
            if (end := self._sentence_end(last=last)) is None:
                given += self._send(1)
            elif self._sources is None:
                break
            else:
                given += self._send(end)
                given += self._markers(self._sources)
                self._sentence = ""
        lead, self._lead = (self._lead, "") if given else ("", self._lead)
        return lead + given

    def _begins(self, *, last: bool) -> bool:
        """True if there is something to read by now; marks in front of it are dropped."""
        text = self._held
        if leading := _LEADING.match(text):
            text = text[leading.end() :]
        if self._lead and (bullet := _BULLET.match(text)):
            text = text[bullet.end() :]
        if not any(c.isalnum() for c in MARKER.sub("", text)):
            return False
        if is_refusal(text) if last else may_be_refusal(text):
            return False
        if self._lead:
            if not last and _MAY_BE_NUMBERED.match(text):
                return False
            self._lead = "" if _NUMBERED.match(text) else self._lead
        self._begun, self._held = True, text
        return True

    def _send(self, count: int) -> str:
        sent, self._held = self._held[:count], self._held[count:]
        self._sentence += sent
        return sent

    def _sentence_end(self, *, last: bool) -> int | None:
        """The end, in the held text, of the sentence that may end at its stop; None: it goes on.

        Decided by what was sent of it and by so much of what is held as every stop has behind it.
        """
        if self._held.startswith(_FENCE):
            self._in_code = True
        if self._in_code or not any(c.isalnum() for c in self._sentence):
            return None
        ahead = self._held if last else self._held[: _AHEAD + 1]
        behind = self._sentence[-_BEHIND:]
        at, text = len(behind), behind + ahead
        covering = (end for start, end in sentence_spans(text) if start <= at < end)
        if (end := next(covering, None)) is None:
            return 0  # the stop is a line break between two sentences
        if end == len(text) and not last:
            return None
        return end - at if _CLOSING.fullmatch(text, at, end) else None

    def _markers(self, sources: Sequence[int]) -> str:
        """The markers of the sentence that ends here, unless it has some."""
        own = MARKER.findall(self._sentence)
        self._marked.update(int(n) for each in own for n in each.split(","))
        if own or not any(c.isalnum() for c in self._sentence):
            return ""
        self._marked.update(sources)
        return f" {markers_of(sources)}" if sources else ""

    def _closing_markers(self) -> str:
        """Markers of the last sentence, and of sources that no sentence of the block has."""
        given = self._markers(self._sources or ())
        rest = [n for n in self._sources or () if n not in self._marked]
        self._marked.update(rest)
        gap = "\n" if self._in_code else " "
        return given + (f"{gap}{markers_of(rest)}" if rest else "")


class Code:
    """Code in a fence; a line of it that would close the fence is moved in by four columns."""

    def __init__(self) -> None:
        self._held = ""
        self._open = ""
        self._sources: Sequence[int] = ()

    def feed(self, text: str) -> str:
        self._held += text
        given = ""
        while "\n" in self._held:
            line, _, self._held = self._held.partition("\n")
            given += self._line(line)
        return given

    def cite(self, sources: Sequence[int]) -> str:
        self._sources = sources
        return ""

    def close(self) -> str:
        rest, self._held = self._held, ""
        given = self._line(rest) if rest.strip() else ""
        if not self._open:
            return ""
        markers = markers_of(self._sources)
        return f"{given}\n{_FENCE}" + (f"\n{markers}" if markers else "")

    def _line(self, line: str) -> str:
        if not self._open:
            if not line.strip():
                return ""
            self._open = "own" if _FENCE_LINE.match(line) else "ours"
            return line.strip() if self._open == "own" else f"{_FENCE}\n{line}"
        if _FENCE_LINE.match(line):
            return "" if self._open == "own" else f"\n    {line}"
        return f"\n{line}"


class Row:
    """A row of a table, whose cells are told apart by bars; it is read whole, and then written."""

    def __init__(self, known: int) -> None:
        self._known = KnownMarkers(known)
        self._text = ""
        self._sources: Sequence[int] = ()

    def feed(self, text: str) -> str:
        self._text += self._known.feed(text)
        return ""

    def cite(self, sources: Sequence[int]) -> str:
        self._sources = sources
        return ""

    def close(self) -> str:
        self._text += self._known.end()
        line = " ".join(self._text.replace("\t", " | ").split())
        self._text = line.removeprefix("|").removesuffix("|").strip()
        return ""

    @property
    def says(self) -> bool:
        """True if a cell has something to read."""
        return any(c.isalnum() for c in MARKER.sub("", self._text))

    @property
    def underline(self) -> str:
        """The line below this row, which makes it the table's header."""
        return "|" + " --- |" * (self._text.count("|") + 1)

    @property
    def bare(self) -> str:
        """The row without markers."""
        return f"| {MARKER.sub('', self._text).strip()} |"

    @property
    def marked(self) -> str:
        """The row with markers: its own, or else those of its sources."""
        own = MARKER.search(self._text)
        markers = "" if own or not self._sources else f" {markers_of(self._sources)}"
        return f"| {self._text}{markers} |"
