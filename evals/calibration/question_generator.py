"""Questions made of a corpus without a model: what it covers, and what it does not. Pure.

A covered question is some content words of one sentence, so a search has to find it again by less
than it says. The rest are asked of a document that the search is kept from, which is what a near
miss of the same organisation looks like, and of topics that few corpora treat.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.calibration.questions import COVERED, FOREIGN, LEFT_OUT, GateQuestion
from helix.language.sentences import sentences
from helix.language.terms import STOP_WORDS
from helix.language.words import words

KEPT = 0.6
"""Share of a stretch's content words that its question has. With this and one word more, 85% of
made questions lie within 0.73 on SQuAD, 0.64 on COVID-QA and 0.58 on SciFact, of the real ones
within 0.72, 0.66 and 0.52."""
ADDED = 1
"""Words that it has and the sentence has not."""
_FEWEST, _MOST = 7, 40  # content words of a sentence that is asked about
_SHORTEST = 4
_OPENINGS = ("What is known about {}?", "How is {} explained?", "What does it say of {}?", "{}?")
_COMMON = (
    "reason purpose result cause effect kind type example rule amount part role change problem"
    " process place person group year main important common used called happen begin describe"
    " difference relationship meaning impact method advantage requirement"
).split()


@dataclass(frozen=True)
class Passage:
    """A stored chunk: its document's id and its text."""

    document_id: int
    text: str


def covered(passages: Sequence[Passage], count: int, seed: int = 0) -> list[GateQuestion]:
    """At most ``count`` questions, one a passage and round again; the same for the same seed."""
    source = random.Random(seed)
    candidates = [(each, _sentences(each.text)) for each in passages]
    candidates = [(each, said) for each, said in candidates if said]
    asked: dict[str, GateQuestion] = {}
    for number in range(count if candidates else 0):
        each, said = candidates[number % len(candidates)]
        text = _question(source.choice(said), source)
        asked.setdefault(text, GateQuestion(text, COVERED, each.document_id))
    return list(asked.values())


def left_out(asked: Iterable[GateQuestion]) -> list[GateQuestion]:
    """The same questions, kept from the documents that they are of."""
    return [GateQuestion(q.text, LEFT_OUT, q.document, (q.document,)) for q in asked]


def foreign() -> list[GateQuestion]:
    """The built-in questions, which few corpora answer."""
    return [
        GateQuestion(text, f"{FOREIGN}: built in", n) for n, text in enumerate(FOREIGN_QUESTIONS)
    ]


def _sentences(text: str) -> list[list[str]]:
    """The content words of each sentence that is long enough to ask about."""
    found = ([w for w in words(one) if w not in STOP_WORDS] for one in sentences(text))
    return [one for one in found if _FEWEST <= len(one) <= _MOST]


def _question(said: Sequence[str], source: random.Random) -> str:
    count = max(_SHORTEST, round(KEPT * min(len(said), 16)))
    start = source.randrange(max(len(said) - 2 * count, 0) + 1)  # of one stretch, as a clause is
    stretch = range(start, min(start + 2 * count, len(said)))
    places = sorted(source.sample(stretch, min(count, len(stretch))))
    chosen = [said[place] for place in places] + source.sample(_COMMON, ADDED)
    return source.choice(_OPENINGS).format(" ".join(chosen))


FOREIGN_QUESTIONS = tuple(
    Path(__file__).with_name("foreign_questions.txt").read_text("utf-8").splitlines()
)
"""Of topics that few organisations write about."""
