"""The facts on a document's first pages, read by rule: company, kind, period, author.

A rule that is not sure says nothing: a fact is shown to people, and documents are preferred by it.
Each is a text with the characters that it was read from. A new rule is a function and a line.
"""

from __future__ import annotations

from collections.abc import Callable

from helix.domain.facts import PERIOD_END, period_end
from pipelines.facts.company import company_facts
from pipelines.facts.front import Fact, Facts, Front, front_of
from pipelines.facts.time import time_facts
from pipelines.facts.title import author_facts, kind_facts
from pipelines.readers import ReadText

Rule = Callable[[Front, Facts], Facts]
RULES: tuple[Rule, ...] = (kind_facts, company_facts, time_facts, author_facts)
"""In this order: a rule sees what the rules before it have found."""


def facts_of(text: ReadText, file_name: str) -> Facts:
    """The facts of what was read of a file; each rule's at most once."""
    front, facts = front_of(text, file_name), Facts()
    for rule in RULES:
        facts |= rule(front, facts)
    if "period" in facts and (day := period_end(facts["period"].text)):
        facts[PERIOD_END] = Fact(day)
    return facts
