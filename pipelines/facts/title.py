"""A document's title: its own where it says something, else what its facts say it is."""

from __future__ import annotations

import re

from helix.domain.names import company_names
from helix.language.periods import DAY
from helix.language.word_lists import word_lists
from helix.language.words import copy_words
from pipelines.facts.front import Facts
from pipelines.facts.kind import FILINGS

_GENERIC = word_lists("documents")["generic_titles"]
_LEGAL = word_lists("documents")["legal_forms"]
_DAY = re.compile(DAY)
_FORM = re.compile(r"\b(?:form\s*)?(?:10-?[qk]|[86]-?k|20-?f|s-?1)(?:405|/a)?\b", re.IGNORECASE)
_TELLING = re.compile(r"[^\W\d_]{3,}")
_LONGEST = 200  # characters


def title_of(
    own_title: str | None, heading: str | None, facts: Facts, *, keep_own: bool
) -> str | None:
    """The title of a document, None where its file's name must do.

    Args:
        own: the one in its metadata, or its first heading.
        heading: the largest heading of its first page, where it is printed.
        facts: company, kind and period of it.
        keep_own: a title of its own that says nothing ("Overview") is better than none.
    """
    composed = _composed(facts)
    is_filing = "kind" in facts and facts["kind"].text in FILINGS
    if composed and is_filing:  # its cover is a form's, the same for all
        return composed
    for title in (own_title, heading):
        if title and is_informative(title, facts):
            return " ".join(title.split())[:_LONGEST]
    return composed or (own_title if keep_own else None)


def is_informative(title: str, facts: Facts) -> bool:
    """True where ``title`` has more than dates, forms, the company and words like "document"."""
    bare = _FORM.sub(" ", _DAY.sub(" ", title))
    company = facts["company"].text if "company" in facts else ""
    company_words = {word for name in company_names(company) for word in name.split()}
    words = set(copy_words(bare)) - _GENERIC - _LEGAL - company_words
    return any(_TELLING.fullmatch(word) for word in words)


def _composed(facts: Facts) -> str | None:
    """ "Apple Inc. 10-Q, quarter ended July 1, 2023": of company and kind at least."""
    if "company" not in facts or "kind" not in facts:
        return None
    period = f", {facts['period'].text}" if "period" in facts else ""
    return f"{facts['company'].text} {facts['kind'].text}{period}"[:_LONGEST]
