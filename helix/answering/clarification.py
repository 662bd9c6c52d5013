"""The question back: which document or thing a refused question may have meant. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from helix.domain.followups import unresolved
from helix.domain.history import History
from helix.domain.memory import Turn
from helix.domain.question_analysis import read_question
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval
from helix.language.paraphrases import meanings
from helix.language.terms import terms

CEILING_MARGIN = 0.08
"""The cosine distance beyond the gate's ceiling within which a chunk is worth asking about."""
_MOST_NAMES = 2
_WHICH = "Which "
_NAME_CHARS = 100


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
