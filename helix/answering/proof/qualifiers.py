"""Qualifiers of a claim: quantifiers, modal verbs, bounds and conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from helix.answering.proof.facts import Facts, Token
from helix.language.terms import STOP_WORDS, terms
from helix.language.word_lists import expression, tables, word_lists

_LISTS = word_lists("qualifiers")
_QUANTITY = {
    word: rank
    for rank, words in enumerate(tables("qualifiers")["quantities"])
    for word in words.split()
}
_ALL = 3
"""Rank of the words that claim it of all; those of lower rank claim it of fewer."""
_ONLY = _LISTS["only"]
_LIMITING = _ONLY | _LISTS["limiting"]
_MODAL, _MEANS = (
    {word: duty for duty, words in tables("qualifiers")[table].items() for word in words.split()}
    for table in ("modals", "duties")
)
_HEDGES = _LISTS["hedges"]
_CONDITIONAL = _LISTS["conditional"]
_REPORT = re.compile(
    rf"\b(?:{expression('qualifiers', 'report')})\s+(?:that|to)\s+([^.;\n]{{1,80}})", re.IGNORECASE
)
"""Words that report a plan or a rumour: the first words behind them are no fact."""
_REPORTED = 6  # words
_NO_FACT = _LISTS["no_fact"]
_POSSIBLY = frozenset("may might could".split())
_CONDITION = re.compile(
    r"(?<!even )(?<!as )(?<!\bonly )\b"
    r"(if|unless|provided(?: that)?|as long as|wenn|falls|sofern)\b",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(r"[;.!?|]|,?\s(?:and|but|und|aber)\s")
_BOUNDS = re.compile(r"\b(?:up to|at least|at most|mindestens|höchstens|bis zu)\s+(?=\S)", re.I)
_LIMITS = re.compile(rf"\b(?:{expression('qualifiers', 'limits')})\b", re.IGNORECASE)
_NEAR = 3


def claims_more(claim: Facts, span: Facts) -> bool:
    """True if the claim claims another quantity, duty or condition than the span."""
    return (
        _other_quantity(claim, span)
        or _other_duty(claim, span)
        or _report_dropped(claim, span)
        or _adds_bound(claim, span)
        or _drops_condition(claim, span)
    )


def _other_quantity(claim: Facts, span: Facts) -> bool:
    ours, theirs = set(claim.lows), set(span.lows)
    if ours & _ONLY and not theirs & _LIMITING:
        return True
    claim_ranks, ranks = (
        {_QUANTITY[w] for w in words if w in _QUANTITY} for words in (ours, theirs)
    )
    if _only_dropped(claim, span):
        return True
    if not claim_ranks or not ranks:
        return False
    less = 0 in claim_ranks and 0 not in ranks
    return (less or max(claim_ranks) > max(ranks)) and _about_same(claim, span)


def _about_same(claim: Facts, span: Facts) -> bool:
    """True if a word follows the quantifiers of both."""
    ours, theirs = (
        {
            stem
            for _, following in _behind(facts, _QUANTITY.keys(), 2 * _NEAR)
            for token in following[:_NEAR]
            for stem in terms(token.low)
        }
        for facts in (claim, span)
    )
    return not ours.isdisjoint(theirs)


def _behind(facts: Facts, words: Set[str], reach: int) -> Iterator[tuple[Token, list[Token]]]:
    """Each token that is one of ``words``, and the content words among the ``reach`` behind it."""
    for at, token in enumerate(facts.tokens):
        if token.low in words:
            behind = facts.tokens[at + 1 : at + 1 + reach]
            yield token, [each for each in behind if each.low not in STOP_WORDS]


def _only_dropped(claim: Facts, span: Facts) -> bool:
    """`Only managers may` told of anyone else: what `only` stands in front of is not claim."""
    if not _ONLY & set(span.lows) or _LIMITING & set(claim.lows):
        return False
    for _, following in _behind(span, _ONLY, 5):
        for next_one in following[:1]:
            if next_one.raw[0].isdigit() or span.number_at(next_one):
                continue
            rest = {s for t in following[1:] for s in terms(t.low)}
            if not set(terms(next_one.low)) & claim.stems and rest & claim.stems:
                return True
    return False


def _other_duty(claim: Facts, span: Facts) -> bool:
    if claim.negations or claim.denies:
        return False
    ours, theirs = ({_MODAL[w] for w in f.lows if w in _MODAL} for f in (claim, span))
    meant, known = ({_MEANS[w] for w in f.lows if w in _MEANS} for f in (claim, span))
    if "must" in ours and "must" not in theirs:
        return bool(theirs) or ("must" not in known and bool(known & {"should", "may"}))
    if "should" in ours and "should" not in theirs | known:
        return bool(theirs)
    if "may" in ours and not theirs & {"may"} and "may" not in known:
        return bool(theirs) and not span.negations
    hedged = any(low in _HEDGES for low in span.lows)
    return hedged and not ours and not meant and _hedge_dropped(claim, span)


def _hedge_dropped(claim: Facts, span: Facts) -> bool:
    """True if the claim states as a fact the verb that stands behind a `may` of the span."""
    return any(
        following
        and not (token.capital and not token.first)
        and not claim.stems.isdisjoint(terms(following[0].low))
        for token, following in _behind(span, _HEDGES, 3)
    )


def _report_dropped(claim: Facts, span: Facts) -> bool:
    """True if the claim tells as a fact what the span only tells as planned or alleged."""
    if _REPORT.search(claim.text) or not _NO_FACT.isdisjoint(claim.lows):
        return False
    return any(
        not claim.stems.isdisjoint(terms(" ".join(found[1].split()[:_REPORTED])))
        for found in _REPORT.finditer(span.text)
    )


def _adds_bound(claim: Facts, span: Facts) -> bool:
    """True if the claim bounds what the span tells without a limit and as no mere possibility."""
    if _BOUNDS.search(claim.text):
        return not _LIMITS.search(span.text) and not _POSSIBLY & set(span.lows)
    return False


def _drops_condition(claim: Facts, span: Facts) -> bool:
    """True if the span says the claim under a condition, of which the claim has no word."""
    if _CONDITIONAL & set(claim.lows):
        return False
    for match in _CONDITION.finditer(span.text):
        host, condition = _host(span.text, match)
        hosts, conditions = set(terms(host)), set(terms(condition))
        meant = claim.content
        # what is also claim elsewhere in the span may be of a clause without a condition
        if (meant & span.stems) - hosts or not hosts or conditions & (meant - hosts):
            continue
        if 2 * len(meant & hosts) >= len(meant):
            return True
    return False


def _host(text: str, match: re.Match[str]) -> tuple[str, str]:
    """The words that hold under a condition, and the condition."""
    before = text[: match.start()]
    starts = [m.end() for m in _BOUNDARY.finditer(before)]
    start = starts[-1] if starts else 0
    stop = _BOUNDARY.search(text, match.end())
    end = stop.start() if stop else len(text)
    if not any(c.isalnum() for c in text[start : match.start()]):  # `If so, then so`
        comma = text.find(",", match.end())
        if comma < 0:
            return "", ""
        stop = _BOUNDARY.search(text, comma + 1)
        return text[comma : stop.start() if stop else len(text)], text[match.end() : comma]
    return text[start : match.start()], text[match.end() : end]
