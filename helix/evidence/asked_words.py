"""Words of a question that an answer has, or lacks, by letters and by how much they say. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from helix.evidence.features import EXACT
from helix.evidence.words import SAYS_MUCH, SAYS_NOTHING, Vocabulary, Word, words_of

_MUCH_LEFT = 4.0
"""The weight above a function word's of a word of a question that is asked for again."""


def heaviest(text: str) -> str:
    """The word of a text that says most, by its form; '' where none says much."""
    forms = {word.form for word in words_of(text)}
    says = {form: weight for form, weight in _weights(forms).items() if weight > SAYS_MUCH}
    return max(says, key=lambda form: says[form], default="")


def is_met(form: str, others: Collection[str]) -> bool:
    """True if one of ``others`` is the word ``form`` or begins alike; of '' always."""
    if not form or form in others:
        return True
    vocabulary = Vocabulary([words_of(form), words_of(" ".join(others))])
    return bool((vocabulary.likeness([vocabulary.place_of[form]])[0, 1:] >= EXACT).any())


def rest_of(question: str, said: str) -> tuple[str, str]:
    """The part of a question that ``said`` has not answered, and the word of it that says most.

    The part is the question's end or beginning behind or before the words that ``said`` has, or
    the whole where they are between. Both are '' where what is left says little.
    """
    asked, told = words_of(question), words_of(said)
    vocabulary = Vocabulary([asked, told])
    places = [vocabulary.place_of[word.form] for word in asked]
    if not places or not told:
        return "", ""
    alike = vocabulary.likeness(places)[:, [vocabulary.place_of[word.form] for word in told]]
    met = np.asarray((alike >= EXACT).any(axis=1))
    says = np.maximum(vocabulary.weights[places] - SAYS_NOTHING, 0)
    left = np.where(met, 0, says)
    if left.max() < _MUCH_LEFT or not met.any():
        return "", ""
    needed = asked[int(left.argmax())].form
    gains = left - np.where(met, says, 0)
    first = int(gains[::-1].cumsum()[::-1].argmax())
    last = int(gains.cumsum().argmax())
    if left[first:].sum() >= _MUCH_LEFT and met[:first].any():
        return question[_offset(question, asked, first) :], needed
    if left[: last + 1].sum() >= _MUCH_LEFT and met[last:].any():
        return question[: _offset(question, asked, last) + len(asked[last].written)], needed
    return question, needed


def _offset(text: str, found: Sequence[Word], number: int) -> int:
    """The place of a word; pairs of characters of spaceless scripts overlap."""
    at = -1
    for word in found[: number + 1]:
        at = text.index(word.written, at + 1)
    return at


def _weights(forms: Iterable[str]) -> dict[str, float]:
    vocabulary = Vocabulary([words_of(" ".join(forms))])
    return dict(zip(vocabulary.forms, map(float, vocabulary.weights), strict=True))
