"""Questions made of a corpus without a model: what it covers, and what it does not. Pure.

A covered question is some content words of one sentence, so a search has to find it again by less
than it says. The rest are asked of a document that the search is kept from, which is what a near
miss of the same organisation looks like, and of topics that few corpora treat.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evals.calibration.asked import COVERED, FOREIGN, LEFT_OUT, Question
from helix.terms import STOP_WORDS
from helix.text import sentences, words

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


def covered(passages: Sequence[Passage], count: int, seed: int = 0) -> list[Question]:
    """At most ``count`` questions, one a passage and round again; the same for the same seed."""
    source = random.Random(seed)
    candidates = [(each, _sentences(each.text)) for each in passages]
    candidates = [(each, said) for each, said in candidates if said]
    asked: dict[str, Question] = {}
    for number in range(count if candidates else 0):
        each, said = candidates[number % len(candidates)]
        text = _question(source.choice(said), source)
        asked.setdefault(text, Question(text, COVERED, each.document_id))
    return list(asked.values())


def left_out(asked: Iterable[Question]) -> list[Question]:
    """The same questions, kept from the documents that they are of."""
    return [Question(q.text, LEFT_OUT, q.document, (q.document,)) for q in asked]


def foreign() -> list[Question]:
    """The built-in questions, which few corpora answer."""
    return [Question(text, f"{FOREIGN}: built in", n) for n, text in enumerate(FOREIGN_QUESTIONS)]


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
    line.strip()
    for line in """
    How long should a sourdough loaf rest before it is baked?
    Which gas giant has the largest number of known moons?
    How do I tune a twelve-string guitar to open D?
    What is the offside rule in association football?
    How often should tomato seedlings be watered indoors?
    Who painted the ceiling of the Sistine Chapel?
    What temperature is needed to temper dark chocolate?
    Which chess opening begins with e4 and c5?
    How do sea turtles find the beach where they hatched?
    What is the boiling point of liquid nitrogen?
    How many strings does a concert harp have?
    Which river flows through Vienna and Budapest?
    How do I remove red wine stains from a wool carpet?
    When was the first crossword puzzle printed?
    What causes the northern lights to appear green?
    How do bees decide where to build a new hive?
    Which mountain pass connects Bern with Valais?
    How is parchment made from calfskin?
    What is the difference between a violin and a viola?
    How many players are on a water polo team?
    Which spices are used in a Moroccan tagine?
    How does a sextant measure latitude?
    What do pandas eat besides bamboo?
    How do I sharpen a hand plane blade?
    Which volcano buried the town of Pompeii?
    How long does it take light to reach the Moon?
    What is the traditional recipe for pesto from Genoa?
    Who composed the opera The Magic Flute?
    How are diamonds graded by clarity?
    Which dog breeds are best suited to apartment life?
    How do glaciers carve valleys into a U shape?
    What is the highest score in ten-pin bowling?
    How do I knit a cable pattern on circular needles?
    Which stars make up Orion's belt?
    How deep is the Mariana Trench?
    What makes a curveball curve in baseball?
    How do salmon adapt from salt water to fresh water?
    When did the last woolly mammoths die out?
    What is the rhyme scheme of a Shakespearean sonnet?
    How do I prune an old apple tree in winter?
    Which tyre pressure is right for a gravel bike?
    How is a hot air balloon steered?
    What is the capital of Burkina Faso?
    How do ants carry loads heavier than themselves?
    Which wood is best for a longbow?
    How do I fold a paper crane?
    What did gladiators eat before a fight?
    How is maple syrup graded?
    Which camera lens suits portraits of children?
    How do tides differ between spring and neap?
    What is the life cycle of a dragonfly?
    How do I stop a kitchen tap from dripping?
    Which ballet has the dance of the little swans?
    How were the pyramids of Giza aligned with true north?
    What is the lightest class in amateur boxing?
    How do cuttlefish change their colour?
    Which knot joins two ropes of different thickness?
    How is saffron harvested?
    What is the plot of Wuthering Heights?
    How long do hamsters usually live?
    Which composer wrote the Goldberg Variations?
    How do I keep basil alive on a window sill?
    What is the record for the marathon?
    How does a pendulum clock keep time?
    """.strip().splitlines()
)
"""Of topics that few organisations write about."""
