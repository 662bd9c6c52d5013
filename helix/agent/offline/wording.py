"""Regular expressions for the wording of questions that ask for a computed number. Pure."""

from __future__ import annotations

import re

CHANGE_WORDS = (
    r"(?:chang\w*|increas\w*|decreas\w*|gr[eo]w\w*|declin\w*|fluctuat\w*|rise|rose|fell|drop\w*)"
)
PERCENT = r"(?:percent(?:age)?|per cent|%)"
COMPUTING = re.compile(
    rf"{PERCENT}|\b(?:{CHANGE_WORDS}(?: rate)?|rate of {CHANGE_WORDS}"
    r"|differences?|averages?|mean"
    r"|sum|ratio|proportion|share of|fraction|combined|together|altogether"
    r"|aggregate|in total|constitution|nominal|annual|both"
    r"|fys?|year[- ]on[- ]year|value|amount|number|company'?s?|respectively|during|across"
    r"|within|absolute|compar(?:ed|ing)"
    r"|higher|lower|more|less|larger|all|years?|period)\b",
    re.IGNORECASE,
)
"""Words of a question that name the computation, and not the values."""
AS_SHARE = re.compile(
    rf"\bas an? (?:{PERCENT}|proportion|share|fraction) of(?: the)?\b", re.IGNORECASE
)
SHARE_OF = re.compile(
    rf"\b(?:what|which|how much)?\s*(?:{PERCENT}|proportion|share|fraction) of(?: the)?\b"
    r"(?P<whole>.{1,200}?)\b(?:is|are|was|were|did|does|do|came|come|comes|consists?|represents?"
    r"|that)\b(?P<part>.+)",
    re.IGNORECASE,
)
IN_TOTAL = re.compile(
    rf"\b(?:{PERCENT}|proportion|share|fraction)(?: constitution)?(?: of)?(?: the)?"
    r"(?P<part> .{1,200}?)\b(?:in|of|out of|over|against|to|among)(?: the)? (?P<whole>total\b.+)"
    rf"|{PERCENT} (?:of )?constitution of(?P<part2> .{{1,200}}?)\b(?:in|among|of)\b(?P<whole2>.+)",
    re.IGNORECASE,
)
RATIO = re.compile(
    r"\bratio of(?: the)?\b(?P<part>.{1,200}?)\bto\b(?P<whole>.+)"
    r"|\A(?P<part2>.+?)\bas a ratio of\b(?P<whole2>.+)"
    r"|\A\W*+\b(?P<part3>.+?)\b(?:divided by|compared to|relative to)\b(?P<whole3>.+)",
    re.IGNORECASE,
)
PERCENT_CHANGE = re.compile(
    rf"{PERCENT}\W{{1,9}}(?:of )?(?:the )?(?:\w+ )?{CHANGE_WORDS}|{PERCENT} difference"
    r"|\bgrowth rate\b|\brate of (?:growth|change|increase|decrease)\b"
    rf"|\bhow (?:many|much) {PERCENT}\b.{{0,200}}?{CHANGE_WORDS}|\bby what {PERCENT}",
    re.IGNORECASE,
)
CHANGE = re.compile(rf"\b{CHANGE_WORDS}\b|\bhow much (?:more|less)\b", re.IGNORECASE)
DECREASE = re.compile(r"\b(?:decreas|declin|fell|fall|drop|reduc)\w*", re.IGNORECASE)
INCREASE = re.compile(r"\b(?:chang|increas|gr[eo]w|rise|rose|fluctuat)\w*", re.IGNORECASE)
POINTS = re.compile(
    rf"\babsolute {PERCENT}(?: point)? {CHANGE_WORDS}|{PERCENT} points?\b", re.IGNORECASE
)
AS_PERCENT = re.compile(rf"{PERCENT}|\b(?:proportion|share) of\b", re.IGNORECASE)
COMPARE = re.compile(r"\bcompar(?:e|ed|ing|ison)\b", re.IGNORECASE)
DIFFERENCE = re.compile(r"\bdifferences?\b|\bhow much (?:higher|lower|more|less|larger)\b", re.I)
AVERAGE = re.compile(r"\b(?:average|mean)\b", re.IGNORECASE)
SUM = re.compile(r"\b(?:sum|combined|together|altogether|aggregate|in total)\b", re.I)
BETWEEN = re.compile(r"\bbetween(?: the)?\b(?P<one>.{1,200}?)\band(?: the)?\b(?P<other>.+)", re.I)
ADDED = re.compile(r"\b(?:sum|combined|together|altogether|aggregate|average)\b", re.IGNORECASE)
COMPUTED = re.compile(r"\b(?:average|mean|difference|ratio)\b", re.IGNORECASE)
NOT_ASKED = re.compile(
    r"^\s*(?:why|how (?:is|are|does|do)\b|(?:what|which) (?:\w+ )?(?:cause[sd]?|drove|led)\b"
    r"|(?:what|which) (?:is|are|was|were) the (?:reasons?|causes?|drivers?)\b)",
    re.IGNORECASE,
)
ASKED_FOR = re.compile(
    r"^(?:what|how|which)\b.{0,20}?\b(?:is|are|was|were|did|do|does|has|have)\b(?: the)?"
    r"(?: (?:of|in|between))?(?: the)? ",
    re.IGNORECASE,
)
THAN = re.compile(r"\A(?P<one>.+?)\bthan(?: that| those)?(?: of| in| for)?(?P<other>.+)", re.I)
AND = re.compile(r"\A(?P<one>.+?)\band\b(?P<other>.+)", re.IGNORECASE)
YEARS = re.compile(r"\b((?:19|20)\d\d)\s?[-–]\s?((?:19|20)\d\d)\b")
GLUED = re.compile(r"(?<=\b\d{4}),(?=\d{4}\b)")
KEPT = re.compile(r"\b(?:other(?! than)|total)\b", re.IGNORECASE)
"""Words of many rows that still distinguish the row that is asked for from its neighbours."""
