"""Words cut at a line's end put together, the hyphen kept where the word has one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from pipelines.readers.printed.words import CUT_MARKS

_LONGEST = 65  # letters of a part of a word that is looked at, and its hyphen
_MOST_SEARCHES = 30  # in the texts, before all their words are listed
_TOKEN = re.compile(r"\w+(?:-\w+)*")
_ENDS_CUT = re.compile(rf"(\w{{1,64}})[-{CUT_MARKS}]\Z")
_BEGINS = re.compile(r"\w{1,64}")
_MAY_CUT = re.compile(rf"[{CUT_MARKS}]|-[ \t]{{0,9}}\r?\n")
_CUT = re.compile(rf"(?<!\w)\w{{0,64}}(?:[{CUT_MARKS}]|-[ \t]{{0,9}}\r?\n)\s{{0,9}}\w{{0,64}}")


class Vocabulary:
    """The words of a document, which tell how one that was cut is written.

    pdfium marks a hyphen of the word and one of the typesetting the same way. A word stays
    hyphenated where the document has it so elsewhere, or has both halves as words but not the whole
    ("stock-based" in a 10-Q, where nothing else is cut); in all else it was cut by typesetting.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._asked = 0

    def __contains__(self, word: str) -> bool:
        """Whether ``word``, in lower case, is one of the document."""
        self._asked += 1
        if self._asked > _MOST_SEARCHES:
            return word in self._words
        token = re.compile(rf"(?<!\w)(?<!\w-){re.escape(word)}(?!-?\w)")
        return any(word in text and token.search(text) for text in self._uncut)

    @cached_property
    def _uncut(self) -> list[str]:
        """The texts in lower case, without words that were cut."""
        return [
            (_CUT.sub(" ", text) if _MAY_CUT.search(text) else text).lower() for text in self._texts
        ]

    @cached_property
    def _words(self) -> set[str]:
        """All words: slow to make, so a document with few cuts is searched for each instead."""
        words: set[str] = set()
        for text in self._uncut:
            words.update(_TOKEN.findall(text))
        return words

    def joined(self, left: str, right: str) -> str | None:
        """What to write for ``left`` where ``right`` goes on with its last word, else None.

        ``left`` ends with a hyphen or a mark: "infor-" before "mation" gives "infor".
        """
        cut = _ENDS_CUT.search(left[-_LONGEST:])
        goes_on = _BEGINS.match(right)
        if not goes_on or not cut:
            return None
        before, after = cut[1], goes_on[0]
        bare = left[:-1]
        if not (before[-1].islower() and after[0].islower()):
            return f"{bare}-"
        whole, both = (before + after).lower(), f"{before}-{after}".lower()
        if whole in self:
            return bare
        parts_known = before.lower() in self and after.lower() in self
        return f"{bare}-" if both in self or parts_known else bare
