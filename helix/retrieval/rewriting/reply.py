"""A model's reply as search terms: one short line of words, or nothing.

Whatever the model was talked into, this is all that it can do: words that are searched for.
"""

from __future__ import annotations

import re
import unicodedata

from helix.language.terms import terms

LONGEST = 300
"""Characters of search terms at most."""

_MARKUP = re.compile(r"[\"“”„‟«»`]|\*\*|__+|\[\d{1,4}\]")
_LIST_MARKER = re.compile(r"(?<!\s)\s*(?:[-*+•>]|#{1,6}|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"(?<!\s)\s*(?:search|query|queries|keywords?)(?: \w{1,12})?\s*+:\s*", re.IGNORECASE
)
_REFUSING = re.compile(
    r"(?:(?:i'm|i am|we're|we are) )?(?:(?:so|very) )?sorry\b"
    r"|i(?: can't| cannot| can not| won't| will not| don't have| do not have| must decline)\b"
    r"|(?:i'm|i am) (?:unable|not able|not allowed|an? (?:ai|language))\b"
    r"|as an? (?:ai|artificial|large|language)\b"
    r"|unfortunately\b",
    re.IGNORECASE,
)
_ENDS = " \t'‘’‚‛,;:"


def search_terms(reply: str, question: str) -> str | None:
    """The words of ``reply`` on one line of 1 to 300 characters without markup.

    None where they would find nothing new: no words, a refusal in English, or the question's own
    terms (function words and endings aside).
    """
    line = _one_line(reply)
    if _REFUSING.match(line.replace("’", "'")):
        return None
    line = _cut(line)
    found = set(terms(line))
    return line if found and found != set(terms(question)) else None


def _one_line(reply: str) -> str:
    """The reply's words; control, format and unassigned characters count as spaces."""
    lines = []
    for line in reply.splitlines():
        visible = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in line)
        lines.append(_LABEL.sub("", _LIST_MARKER.sub("", visible, 1), 1))
    return " ".join(_MARKUP.sub(" ", " ".join(lines)).split()).strip(_ENDS)


def _cut(line: str) -> str:
    """At most 300 characters, whole words where there are spaces."""
    if len(line) <= LONGEST:
        return line
    end = line.rfind(" ", 1, LONGEST + 1)
    return line[: end if end > 0 else LONGEST].strip(_ENDS)
