"""An answer held back by the statement: each is proven before it is sent.

Either what no source bears out is left out (HELIX_WITHHOLD=sentence), or what one does and has no
marker gets that source's (``cite=proof`` of GET /ask), or both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from helix.answering.proof import Proof
from helix.answering.proof.model import CONTRADICTED
from helix.answering.proof.statements import pieces_of
from helix.domain.citations import MARKER
from helix.domain.contract import REFUSAL
from helix.language.sentences import sentence_spans

_STOP = re.compile(r"[.!?…؟۔।॥։።。｡！？\n\r]")
_AHEAD = 64
"""Characters behind a stop after which it is settled whether a statement ends there."""
_FENCED = re.compile(r"\s*```[^\n]*\n(?:.*?\n)??[ ]{0,3}```[^\n`]*(?=\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"\s*```")
_MAY_BE_FENCE = re.compile(r"\s*`{0,2}\Z")
_MARKS_ALONE = re.compile(rf"(?:\s|{MARKER.pattern})+")
_UNDERLINE = re.compile(r"\s*+\|?\s*+:?-{2,}+[\s:|-]*\Z")
_ANNOUNCES = re.compile(r":[*_\s]*\Z")


async def proven(
    deltas: AsyncGenerator[str, None], through: StatementFilter
) -> AsyncGenerator[str, None]:
    """The filter's output for ``deltas``, statement by statement; closes them too.

    Proving is done in a thread: it would hold up other answers.
    """
    async with aclosing(deltas):
        async for delta in deltas:
            through.add(delta)
            if through.is_due and (passed := await asyncio.to_thread(through.drain)):
                yield passed
        if passed := await asyncio.to_thread(through.end):
            yield passed


class StatementFilter:
    """Filters one answer: feed it the deltas, send what it gives, and at the end the rest.

    What it gives does not depend on how the answer was cut into deltas. A heading, an announcement
    or a table's header is sent with the next statement that is.

    Args:
        prove: proves a piece of the answer; a statement without a marker is looked for in all
            sources.
        withholds: leave out what is not borne out; ``left_out`` counts it. Where nothing is left
            of an answer it becomes the refusal, and ``refused`` says so.
        cites: put the marker of the source behind a statement that has none; ``marks`` are where
            these begin in what was given.
    """

    def __init__(
        self, prove: Callable[[str], Proof], *, withholds: bool = False, cites: bool = False
    ) -> None:
        self.left_out = 0
        self.refused = False
        self._prove = prove
        self.withholds = withholds
        self.cites = cites
        self.marks: list[int] = []
        self._given = 0  # characters
        self._held = ""
        self._row = ""  # a table's row that may be its header
        self._waiting: list[str] = []  # what says nothing by itself
        self._gap = ""  # the widest white space in front of what was left out
        self._dropped = False  # a statement, since ``_waiting`` began
        self._sent = False

    def feed(self, delta: str) -> str:
        """The statements that are whole now."""
        self.add(delta)
        return self.drain()

    def add(self, delta: str) -> None:
        """Take ``delta``, and prove nothing yet."""
        self._held += delta

    @property
    def is_due(self) -> bool:
        """True if a statement is whole, so that ``drain`` has something to prove."""
        return self._piece_end(last=False) is not None

    def drain(self) -> str:
        """The statements that are whole now; some milliseconds each where they paraphrase."""
        return self._drain(last=False)

    def end(self) -> str:
        """The rest of the answer, or the refusal."""
        given = self._drain(last=True)
        row, self._row = self._row, ""
        given += self._judged(row) if row else ""
        rest = "" if self._dropped else self._borne_out(Proof(()))
        if not self._sent and self.left_out:
            self.refused = True
            return REFUSAL
        return given + rest + self._held

    def _drain(self, *, last: bool) -> str:
        given = ""
        while (end := self._piece_end(last=last)) is not None:
            piece, self._held = self._held[:end], self._held[end:]
            given += self._taken(piece)
        return given

    def _piece_end(self, *, last: bool) -> int | None:
        """The end of the first statement that is held; None: it may go on."""
        held = self._held
        if not held.strip():
            return None
        if not last and _MAY_BE_FENCE.match(held):
            return None
        if _FENCE.match(held):
            fenced = _FENCED.match(held)
            if fenced and (last or len(held) - fenced.end() > _AHEAD):
                marks = _MARKS_ALONE.match(held, fenced.end())
                return len(held[: marks.end()].rstrip()) if marks else fenced.end()
            return len(held) if last else None
        for stop in _STOP.finditer(held):
            window = held if last else held[: stop.start() + _AHEAD + 1]
            if not last and len(window) <= stop.start() + _AHEAD:
                return None
            spans = sentence_spans(window)
            if len(spans) > 1 and spans[0][1] <= len(held[: stop.end()]) + _AHEAD // 2:
                return spans[0][1]
        return len(held.rstrip()) if last else None

    def _taken(self, piece: str) -> str:
        """The output for ``piece``, which is a statement or the text between statements."""
        if self._row:
            row, self._row = self._row, ""
            if _UNDERLINE.match(piece):
                return self._apart(row + piece)
            return self._judged(row) + self._taken(piece)
        if piece.lstrip().startswith("|") and not _UNDERLINE.match(piece):
            self._row = piece
            return ""
        return self._judged(piece)

    def _judged(self, piece: str) -> str:
        if not self.withholds:
            return self._passed(piece, self._prove(piece))
        proof = self._prove(piece)
        said = [one for one in proof.statements if not _announces(piece[one.start : one.end])]
        if not said:
            return self._apart(piece)
        if bad := sum(one.problem is not None for one in said):
            self.left_out += bad
            self._dropped = True
            space = piece[: len(piece) - len(piece.lstrip())]
            self._gap = max(self._gap, space, key=lambda one: (one.count("\n"), len(one)))
            return ""
        return self._passed(piece, proof)

    def _apart(self, piece: str) -> str:
        """Keep a piece that claims nothing for the next statement that is sent."""
        if not self.withholds:
            return self._passed(piece, Proof(()))
        if _MARKS_ALONE.fullmatch(piece):  # they belong to what was sent or left out before
            piece = "" if self._dropped or not self._sent else piece
            self._given += len(piece)
            return piece
        self._waiting = [piece] if self._dropped else [*self._waiting, piece]
        self._dropped = False
        return ""

    def _borne_out(self, following: Proof) -> str:
        """The text that waits, without announcements that the next statement's source contradicts.

        An announcement with no statement behind it is a statement like others.
        """
        numbers = following.statements[0].numbers if following.statements else ()
        given = ""
        for piece in self._waiting:
            said = self._prove(_cited(piece, numbers)).statements if _announces(piece) else ()
            if any(not numbers or one.status == CONTRADICTED for one in said if one.problem):
                self.left_out += 1
            else:
                given += piece
        self._waiting = []
        return given

    def _passed(self, piece: str, proof: Proof) -> str:
        piece, marks = self._marked(piece, proof) if self.cites else (piece, [])
        whole = self._borne_out(proof) + piece
        self._dropped = False
        bare = whole.lstrip()
        space = whole[: len(whole) - len(bare)]
        if not self._sent and self.withholds:
            space = "" if self.left_out else space
        elif self._gap.count("\n") > space.count("\n"):
            space = self._gap
        self._gap, self._sent = "", True
        self._given += len(space + bare)
        self.marks += [self._given - len(piece) + place for place in marks]
        return space + bare

    def _marked(self, piece: str, proof: Proof) -> tuple[str, list[int]]:
        """``piece`` with a marker behind each statement that was found, and where these begin.

        Code has none.
        """
        marked, places, rest = "", [], 0
        for one in () if _FENCE.match(piece) else proof.statements:
            if one.by_proof:
                end = one.end - 2 if piece.endswith(" |", 0, one.end) else one.end  # of a row
                marked += f"{piece[rest:end]} "
                places.append(len(marked))
                marked, rest = f"{marked}[{one.numbers[0]}]", end
        return marked + piece[rest:], places


def _announces(statement: str) -> bool:
    """True if a statement is one sentence that cites nothing and leads in what follows it."""
    if not _ANNOUNCES.search(statement) or MARKER.search(statement):
        return False
    return len(pieces_of(statement)) == 1


def _cited(piece: str, numbers: Sequence[int]) -> str:
    return f"{piece.rstrip()} [{', '.join(map(str, numbers))}]" if numbers else piece
