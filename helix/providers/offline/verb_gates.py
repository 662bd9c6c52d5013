"""Gates by a question's verb or role: how a court ruled, how fast it grew, who a partner is."""

from __future__ import annotations

import re

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.language.paraphrases import meanings
from helix.providers.offline.explanations import explains
from helix.providers.offline.figures import asks_for_change

_DECIDES = re.compile(
    rf"\b(?:how|what) (?:did|do|does|has|have|had|will)\b.*\b(?:{any_of('decides')})\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(rf"\b(?:{any_of('decided')})\b", re.IGNORECASE)
_PACE = re.compile(r"\bhow (?:fast|quickly|rapidly|strongly|steeply)\b", re.IGNORECASE)
_SHARE = re.compile(
    r"\d\s?(?:%|per ?cent\b|percentage points?\b)|\b(?:doubled|tripled|quadrupled|halved)\b",
    re.IGNORECASE,
)
_USE = re.compile(r"\bwhat (?:do|does|did|is|are|was|were)\b.*\buse[ds]?\b.*\bfor\W*$", re.I)
_USES = re.compile(
    r"\buse[ds]?\b(?! of\b)(?: [\w&’'-]+,?){0,8} (?:to|for|in order|as)\b", re.IGNORECASE
)
"""`We use pumps to drain` and not `the use of a pump`."""
_MARKET_SHARE = re.compile(r"\bwhat(?:['’]s| is| was| are| were)\b.*\bmarket share\b", re.I)
_WHOSE = re.compile(
    r"\bwho (?:is|are|was|were) (?:\S+ ){0,3}?\w[\w.&-]*['’]s? (?:[a-z-]+ ){0,3}?(?P<role>[a-z-]+)"
    r"(?= (?:in|of|for|at|on|to|with|by|from|during|as)\b|\W*$)",
    re.IGNORECASE,
)


def tells_what_is_asked(question: AskedQuestion, text: str, before: str) -> bool:
    """Whether ``text`` tells what the question's verb or role asks for; True where it has neither.

    `How did the court rule?` wants a ruling and not the suit, `how fast did sales grow?` a share
    and not the sales, and `who is Acme's partner?` somebody who is called so.

    Args:
        before: the sentence before, which may say who or what ``text`` is about.
    """
    asked = question.text
    if not explains(question, text, before) or (_USE.search(asked) and not _USES.search(text)):
        return False
    if _MARKET_SHARE.search(asked) and not _SHARE.search(text):
        return False
    if _DECIDES.search(asked) and not _DECIDED.search(text):
        return False
    if _PACE.search(asked) and asks_for_change(asked):
        return bool(_SHARE.search(text)) and asks_for_change(text)
    if question.kind is AnswerKind.NAME and (found := _WHOSE.search(asked)):
        role = set(meanings(found["role"]))
        return role <= set(meanings(text)) | set(meanings(before))
    return True
