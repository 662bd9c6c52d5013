"""One question, which goes whole from whoever asks it to its answer, read in its conversation.

And the question back: which document or thing one that is refused may have meant.
"""

from __future__ import annotations

import secrets
import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from helix.answering.images import UploadedImage
from helix.domain.followups import FollowUp, depends, unresolved
from helix.domain.history import Budget, History, Turn, TurnKind, remember
from helix.domain.input_text import judged
from helix.domain.prompt import Before
from helix.domain.question_analysis import read_question
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval
from helix.domain.scope import Scope
from helix.language.paraphrases import meanings
from helix.language.terms import terms
from helix.overload.fairness import off_loop_if_long
from helix.retrieval.understanding import Understanding
from helix.telemetry.tracing import request_trace_id

Mode = Literal["answer", "agent", "write"]
"""``answer``: sources from one search; ``agent``: sources gathered by tools; ``write``: code and
drafts, from the sources of one search."""
CEILING_MARGIN = 0.08
"""The cosine distance beyond the gate's ceiling within which a chunk is worth asking about."""
_MOST_NAMES = 2
_WHICH = "Which "
_NAME_CHARS = 100


@dataclass(frozen=True)
class Question:
    """One question: its text, the documents it may be answered from, and its answer's ids.

    ``top_k`` is the most chunks to answer from; None leaves that to the retriever. ``history`` is
    what came before in its conversation; None where it is asked outside of one. Both ids are 32
    hex characters; ``trace_id`` is the current request's, a random one outside of a request.
    ``mode`` says who gathers the sources; ``time_zone`` is the asker's, an IANA name. A question
    with ``images`` is about them alone: no document is searched. ``model`` is the name of the model
    that is to answer (HELIX_MODELS); None: the tenant's, or that of the settings. ``debug``: all
    candidates of the search are told. ``marks``: a statement without a marker gets that of the
    source which bears it out, if one does.
    """

    text: str
    scope: Scope = field(default_factory=Scope)
    top_k: int | None = None
    history: History | None = None
    answer_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    trace_id: str = field(default_factory=lambda: request_trace_id() or secrets.token_hex(16))
    mode: Mode = "answer"
    time_zone: str = "UTC"
    images: tuple[UploadedImage, ...] = ()
    model: str | None = None
    debug: bool = False
    marks: bool = False


@dataclass(frozen=True)
class ReadQuestion:
    """A question as it is understood, in its conversation where it has one.

    ``judged`` is its text as it is judged (helix.domain.input_text); ``follow_up`` how it is
    searched, after those before it; ``turn`` its place in its conversation, None outside of one.
    """

    asked: Question
    judged: str
    follow_up: FollowUp
    turn: Turn | None = None

    @property
    def text(self) -> str:
        """The question as it is understood."""
        return self.follow_up.question

    @property
    def before(self) -> Before | None:
        """The conversation so far, as a prompt has it; None where there is none."""
        return self.turn.memory.before if self.turn else None


@dataclass(frozen=True)
class TurnReader:
    """Reads questions of conversations.

    ``understanding`` is None where history changes no search (HELIX_HISTORY_RETRIEVAL=off);
    ``budget`` is the room that it has in a prompt.
    """

    understanding: Understanding | None = field(default_factory=Understanding)
    budget: Budget = field(default_factory=Budget)

    async def read(self, asked: Question) -> ReadQuestion:
        """``asked`` as the turn after its history, where it has one; raises nothing.

        One that is not searched, of an image, is not reworded.
        """
        question, history = judged(asked.text), asked.history
        found = FollowUp(question)
        if history is None:
            return ReadQuestion(asked, question, found)
        understanding = None if asked.images else self.understanding
        if understanding:
            found = await understanding.of(question, history)
        follows = found.depends if understanding else depends(question)
        kind: TurnKind = "dependent" if follows and history.turns else "standalone"
        memory = await off_loop_if_long(history.length, remember, history, self.budget)
        turn = Turn(kind, found.standalone, memory)
        return ReadQuestion(asked, question, found, turn)


async def clarified(read: ReadQuestion, found: Retrieval) -> tuple[ReadQuestion, Retrieval]:
    """The turn as underspecified, without sources, where the question points at a thing unnamed.

    A document that the question names (``found.named``) counts as a named thing.
    """
    history, turn = read.asked.history, read.turn
    if turn is None or history is None:
        return read, found
    if found.named or found.reason in ("no_documents", "filtered_empty"):
        return read, found
    candidates = found.trace.candidates
    if candidates and candidates[0].hit.attached:
        return read, found  # the document that was put to the conversation is meant
    length = len(read.text) + history.length
    thing = await off_loop_if_long(length, unresolved, read.text, history)
    if thing is None:
        return read, found
    turn = replace(turn, kind="underspecified", understood_as=None, unresolved=thing)
    return replace(read, turn=turn), replace(found, reason="underspecified", sources=[])


def clarifying_question(question: str, retrieval: Retrieval, reason: Reason | None) -> str | None:
    """One sentence that names what the question may have meant, at most two documents, or None.

    The gate's refusal names chunks within 0.08 of its ceiling; the model's names the sources in
    which it found no answer, if they are as near and their title or heading has a word of the
    question: a passage that only came along was hardly meant.
    """
    names: list[str] = []
    ceiling = retrieval.space.max_distance
    if reason == "below_gate":
        names = _names(sorted(_near(retrieval.hits, ceiling), key=lambda hit: hit.distance))
    elif reason == "model_refused":
        hits = [source.hit for source in retrieval.sources]
        asked = frozenset(read_question(question).subject)
        names = _names(hit for hit in _near(hits, ceiling) if asked.intersection(_headed(hit)))
    return f"Do you mean something in {' or '.join(names)}?" if names else None


def question_back(
    question: str,
    retrieval: Retrieval,
    reason: Reason | None,
    turn: Turn | None,
    history: History | None,
) -> str | None:
    """The question back in a conversation, such as `Which actor do you mean?`.

    None where nothing is unnamed. It goes with a turn that is underspecified, and with any other
    refusal of one that speaks of what no turn before tells. Two documents are named where the
    nearest passages of several speak of it.
    """
    thing = turn.unresolved if turn else None
    if thing is None and history is not None:
        refused = reason in ("below_gate", "model_refused")
        thing = unresolved(question, history) if refused else None
    if thing is None:
        return None
    words = set(terms(thing))
    near = _near(retrieval.hits, retrieval.space.max_distance)
    names = _names(hit for hit in near if not words.isdisjoint(terms(hit.content)))
    closest = f" The closest passages are in {' and '.join(names)}." if len(names) > 1 else ""
    return f"{_WHICH}{one_line(thing)} do you mean?{closest}"


def asks_which(question_back: str | None) -> bool:
    """True if a question back asks which thing is meant, and not which document."""
    return question_back is not None and question_back.startswith(_WHICH)


def _near(hits: Iterable[Hit], ceiling: float) -> list[Hit]:
    return [hit for hit in hits if hit.distance <= ceiling + CEILING_MARGIN]


def _headed(hit: Hit) -> tuple[str, ...]:
    return meanings(" ".join((hit.title, *hit.heading_path[-1:])))


def _names(hits: Iterable[Hit]) -> list[str]:
    """The first two documents of ``hits``, each once, with the heading that its hit is under."""
    names: dict[int, str] = {}
    for hit in hits:
        title = one_line(hit.title)
        if title and hit.document_id not in names:
            heading = one_line(hit.heading_path[-1]) if hit.heading_path else ""
            under = f' ("{heading}")' if heading and heading != title else ""
            names[hit.document_id] = f'"{title}"{under}'
    return list(dict.fromkeys(names.values()))[:_MOST_NAMES]


def one_line(text: str) -> str:
    """``text`` fit to be quoted: at most 100 characters on one line, none that is not seen.

    Marks that turn the direction of writing are left out with the control characters.
    """
    seen = "".join(" " if c.isspace() else c for c in text.replace('"', "'"))
    seen = "".join(c for c in seen if unicodedata.category(c)[0] != "C")
    line = " ".join(seen.split())
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1].rstrip() + "…"
