"""Words cut at a line's end put together, the hyphen kept where the word has one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from pipelines.readers.printed.words import CUT_MARKS

_LONGEST = 65  # letters of a part of a word that is looked at, and its hyphen
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

    @cached_property
    def _words(self) -> set[str]:
        """Made when the first word that was cut turns up: many documents have none."""
        words: set[str] = set()
        for text in self._texts:
            uncut = _CUT.sub(" ", text) if _MAY_CUT.search(text) else text
            words.update(map(str.lower, _TOKEN.findall(uncut)))
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
        if whole in self._words:
            return bare
        parts_known = before.lower() in self._words and after.lower() in self._words
        return f"{bare}-" if both in self._words or parts_known else bare
