"""Words cut at a line's end put together, the hyphen kept where the word has one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from pipelines.readers.printed.words import CUT_MARKS

_LONGEST = 65  # letters of a part of a word that is looked at, and its hyphen
_MOST_SEARCHES = 100  # in the texts, before all their words are listed, which takes 250 times one
_MOST_PLACES = 500  # of one word that are looked at before that
_TOKEN = re.compile(r"\w+(?:-\w+)*")
_ENDS_CUT = re.compile(rf"(\w{{1,64}})[-{CUT_MARKS}]\Z")
_BEGINS = re.compile(r"\w{1,64}")
_LINE_CUT = re.compile(r"-[ \t]{0,9}\r?\n")
_CUT = re.compile(rf"[{CUT_MARKS}]|{_LINE_CUT.pattern}")
_BEFORE_CUT = re.compile(r"(?<!\w)\w*\Z")
_BEHIND_CUT = re.compile(r"\s{0,9}\w{0,64}")
_BEFORE_TOKEN = re.compile(r"\w-?\Z")
_BEHIND_TOKEN = re.compile(r"-?\w")
_BETWEEN = "\0"  # two texts: neither of a word nor white space


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
        """True where ``word``, in lower case, is one of the document."""
        self._asked += 1
        if self._asked > _MOST_SEARCHES:
            return word in self._words
        text, at = self._uncut, -1
        for _ in range(_MOST_PLACES):
            if (at := text.find(word, at + 1)) < 0:
                return False
            before = text[max(at - 2, 0) : at]
            if not (_BEFORE_TOKEN.search(before) or _BEHIND_TOKEN.match(text, at + len(word))):
                return True
        return word in self._words

    @cached_property
    def _uncut(self) -> str:
        """All texts in lower case, without words that were cut."""
        return _BETWEEN.join(map(_without_cut, self._texts)).lower()

    @cached_property
    def _words(self) -> set[str]:
        """All words: slow to make, so a document with few cuts is searched for each instead."""
        return {match[0] for match in _TOKEN.finditer(self._uncut)}

    def joined(self, left: str, right: str) -> str | None:
        """The text to write for ``left`` where ``right`` goes on with its last word, else None.

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


def _without_cut(text: str) -> str:
    """The text with a space for each word that was cut, of at most 64 letters a side."""
    has_marks = any(mark in text for mark in CUT_MARKS)
    cuts = _CUT if has_marks else _LINE_CUT  # which takes a seventieth of the time
    kept, end = [], 0
    for cut in cuts.finditer(text):
        before = _BEFORE_CUT.search(text[max(cut.start() - _LONGEST, 0) : cut.start()])
        letters = len(before[0]) if before else 0
        if letters < _LONGEST and cut.start() - letters >= end:
            kept.append(text[end : cut.start() - letters])
            behind = _BEHIND_CUT.match(text, cut.end())
            end = behind.end() if behind else cut.end()
    return " ".join([*kept, text[end:]])
