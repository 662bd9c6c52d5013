"""The language of a text, told by py3langid: a small model of byte sequences, in its package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "english"
SIMPLE = "simple"

STEMMED = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": ENGLISH, "eo": "esperanto", "es": "spanish", "et": "estonian",
    "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""The languages that py3langid tells and Snowball stems: the name of the stemmer by ISO code."""
OTHERS = tuple(dict.fromkeys(name for name in STEMMED.values() if name != ENGLISH))
"""The stemmers of languages other than English."""

_SURE = 0.999
"""Least probability of a language that is told: prose gets 1, six names of companies 0.994."""
_READ = 4_000  # characters; each costs a step in Python


def told_language(text: str) -> str | None:
    """The stemmer of the language that the beginning of ``text`` is in, by Snowball's name.

    None where it is not sure, or nothing stems the language: Chinese, Japanese, a list of names.
    """
    code, probability = _identifier().classify(text[:_READ])
    return STEMMED.get(code) if probability >= _SURE else None


@cache
def _identifier() -> LanguageIdentifier:
    """The model, some 30 MB of memory; loaded for the first text that is hardly English."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
