"""A search that found one chunk of a policy, and the model of the gate that Helix has packaged."""

from __future__ import annotations

from helix.domain.records import Candidate, Hit, SearchResult
from helix.language.terms import question_words
from helix.retrieval.calibration.fits import PACKAGED

POLICY = (
    "Refunds are accepted within 30 days of purchase. The warehouse in Hamburg does not ship"
    " batteries by air. Anna Schmidt answers every complaint in writing."
)
(MODEL,) = PACKAGED.values()


def found(text: str, question: str, distance: float = 0.5, score: float = 3.0) -> SearchResult:
    """One chunk in a corpus of a hundred, where a word of the question that it has is in five."""
    hit = Hit(1, 1, "Refund Policy", "a.txt", 0, text, 0, len(text), "n", distance)
    words = {number: form for form, number in reversed(question_words(question).items())}
    folded = f"{hit.title} {text}".lower()
    counts = tuple(5 if words[n][:4] in folded else 0 for n in sorted(words))
    return SearchResult(
        [Candidate(hit, 1.0, 1, score, 1)], distance, len(counts), 0, 1, counts, 100
    )
