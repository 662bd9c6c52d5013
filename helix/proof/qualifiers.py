"""How much a text claims: quantifiers, modal verbs, conditions, and who does what to whom."""

from __future__ import annotations

import re

from helix.proof.facts import Facts, Token
from helix.terms import STOP_WORDS, terms

_QUANTITY = {
    word: rank
    for rank, words in enumerate(
        (
            "few rarely seldom hardly scarcely wenige selten",
            "some sometimes several occasionally partly manche einige manchmal",
            "most mostly usually mainly majority generally typically meist meisten meistens",
            "all every each always everyone everybody entire alle jede jeder jedes jeden immer",
        )
    )
    for word in words.split()
}
_ALL = 3
"""Rank of the words that claim it of all; those of lower rank claim it of fewer."""
_ONLY = frozenset("only solely exclusively merely nur ausschließlich lediglich".split())
_LIMITING = _ONLY | frozenset(
    "except unless alone limited restricted reserved just no none not single sole other than "
    "außer kein keine nicht".split()
)
_MODAL = {
    **dict.fromkeys("may might could can darf dürfen kann können".split(), "may"),
    **dict.fromkeys("should ought soll sollte sollten sollen".split(), "should"),
    **dict.fromkeys("must muss müssen".split(), "must"),
}
_MEANS = {
    **dict.fromkeys("required mandatory obliged obligatory compulsory need needs".split(), "must"),
    **dict.fromkeys(
        "have has shall requires require necessary needed erforderlich".split(), "must"
    ),
    **dict.fromkeys("recommended advised advisable supposed empfohlen".split(), "should"),
    **dict.fromkeys("allowed permitted able possible possibly optional entitled".split(), "may"),
    **dict.fromkeys("eligible erlaubt möglich perhaps maybe potentially free".split(), "may"),
    **dict.fromkeys("potential risk option up right accepted".split(), "may"),
}
_HEDGES = frozenset("may might could dürfen darf".split())
_CONDITION = re.compile(
    r"(?<!even )(?<!as )(?<!\bonly )\b"
    r"(if|unless|provided(?: that)?|as long as|wenn|falls|sofern)\b",
    re.IGNORECASE,
)
_CONDITIONAL = frozenset(
    "if unless provided when where whenever once case except without subject depending long who "
    "wenn falls sofern bei".split()
)
_BOUNDARY = re.compile(r"[;.!?|]|,?\s(?:and|but|und|aber)\s")
_BOUNDS = re.compile(r"\b(?:up to|at least|at most|mindestens|höchstens|bis zu)\s+(?=\S)", re.I)
_LIMITS = re.compile(
    r"\b(?:up to|at least|at most|max\w*|min\w*|limit\w*|least|most|than|within|until|under|over"
    r"|above|below|exceed\w*|to|mindestens|höchstens|bis|innerhalb|or (?:more|less|fewer))\b",
    re.I,
)
_PASSIVE = frozenset("by von durch wurde wurden whom whose which who".split())
_NEAR = 3
_GERMAN_STOP = frozenset(
    "der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden hat "
    "haben und oder in im an am auf aus bei für mit nach seit zu zum zur es sich auch nur um über "
    "innerhalb".split()
)
_SILENT = STOP_WORDS | _GERMAN_STOP


def claims_more(said: Facts, span: Facts) -> bool:
    """Whether the statement claims another quantity, duty or condition than the span."""
    return (
        _other_quantity(said, span)
        or _other_duty(said, span)
        or _adds_bound(said, span)
        or _drops_condition(said, span)
    )


def _other_quantity(said: Facts, span: Facts) -> bool:
    ours, theirs = set(said.lows), set(span.lows)
    if ours & _ONLY and not theirs & _LIMITING:
        return True
    said_ranks, ranks = (
        {_QUANTITY[w] for w in words if w in _QUANTITY} for words in (ours, theirs)
    )
    if _only_dropped(said, span):
        return True
    if not said_ranks:
        return _quantity_dropped(said, span)
    if not ranks:
        return False
    less = 0 in said_ranks and 0 not in ranks
    return (less or max(said_ranks) > max(ranks)) and _about_same(said, span)


def _about_same(said: Facts, span: Facts) -> bool:
    """Whether what follows the quantifier of one follows that of the other."""
    ours, theirs = ({s for t in _behind(f, _QUANTITY) for s in terms(t.low)} for f in (said, span))
    return not ours.isdisjoint(theirs)


def _behind(facts: Facts, words: object) -> list[Token]:
    tokens = facts.tokens
    near: list[Token] = []
    for at, token in enumerate(tokens):
        if token.low in words:  # type: ignore[operator]
            following = [t for t in tokens[at + 1 : at + 1 + 2 * _NEAR] if t.low not in STOP_WORDS]
            near += following[:_NEAR]
    return near


def _only_dropped(said: Facts, span: Facts) -> bool:
    """`Only managers may` told of anyone else: what `only` stands in front of is not said."""
    if not _ONLY & set(span.lows) or _LIMITING & set(said.lows):
        return False
    for at, token in enumerate(span.tokens):
        if token.low in _ONLY:
            following = [t for t in span.tokens[at + 1 : at + 6] if t.low not in STOP_WORDS]
            for next_one in following[:1]:
                if next_one.raw[0].isdigit() or span.number_at(next_one):
                    continue
                rest = {s for t in following[1:] for s in terms(t.low)}
                if not set(terms(next_one.low)) & said.stems and rest & said.stems:
                    return True
    return False


def _quantity_dropped(said: Facts, span: Facts) -> bool:
    """`Some employees` told of employees: what follows a lesser quantifier is said without it."""
    for at, token in enumerate(span.tokens):
        if _QUANTITY.get(token.low, _ALL) < _ALL - 1 and not _MODAL_SET & set(said.lows):
            following = [t for t in span.tokens[at + 1 : at + 4] if t.low not in STOP_WORDS][:1]
            if following and set(terms(following[0].low)) & set(_subject(said)):
                return True
    return False


_MODAL_SET = frozenset("may might could".split())


def _subject(said: Facts) -> list[str]:
    content = [t for t in said.tokens if t.low not in STOP_WORDS][:2]
    return [stem for t in content for stem in terms(t.low)]


def _other_duty(said: Facts, span: Facts) -> bool:
    if said.negations or said.denies:
        return False
    ours, theirs = ({_MODAL[w] for w in f.lows if w in _MODAL} for f in (said, span))
    meant, known = ({_MEANS[w] for w in f.lows if w in _MEANS} for f in (said, span))
    if "must" in ours and "must" not in theirs:
        return bool(theirs) or ("must" not in known and bool(known & {"should", "may"}))
    if "should" in ours and "should" not in theirs | known:
        return bool(theirs)
    if "may" in ours and not theirs & {"may"} and "may" not in known:
        return bool(theirs) and not span.negations
    hedged = any(low in _HEDGES for low in span.lows)
    return hedged and not ours and not meant and _hedge_dropped(said, span)


def _hedge_dropped(said: Facts, span: Facts) -> bool:
    """Whether the verb behind a `may` of the span is the statement's, as a fact."""
    tokens = span.tokens
    for at, token in enumerate(tokens):
        if token.low in _HEDGES and not (token.capital and not token.first):
            following = [t for t in tokens[at + 1 : at + 4] if t.low not in STOP_WORDS]
            if following and set(terms(following[0].low)) & said.stems:
                return True
    return False


def _adds_bound(said: Facts, span: Facts) -> bool:
    """Whether a bound is put to a number that the span has without any, or the other way."""
    if _BOUNDS.search(said.text):
        return not _LIMITS.search(span.text) and not _MODAL_SET & set(span.lows)
    return False


def _drops_condition(said: Facts, span: Facts) -> bool:
    """Whether the span says it under a condition, of which the statement has no word."""
    if _CONDITIONAL & set(said.lows):
        return False
    for match in _CONDITION.finditer(span.text):
        host, condition = _host(span.text, match)
        hosts, conditions = set(terms(host)), set(terms(condition))
        meant = said.content
        # what is also said elsewhere in the span may be of a clause without a condition
        if (meant & span.stems) - hosts or not hosts or conditions & (meant - hosts):
            continue
        if 2 * len(meant & hosts) >= len(meant):
            return True
    return False


def _host(text: str, match: re.Match[str]) -> tuple[str, str]:
    """What holds under a condition, and the condition."""
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


def roles_swapped(said: Facts, span: Facts) -> bool:
    """Whether two things have changed places around a word that both have between them.

    `Carthage defeated Rome`, of `Rome defeated Carthage`; not where one of them is passive, nor
    in a list, nor where clauses stand in another order. Sentences of names and other words alike.
    """
    ours, theirs = _places(said), _places(span)
    if len(ours) < 3 or not _mostly(ours, theirs):
        return False
    if _PASSIVE & (set(said.lows) ^ set(span.lows)):
        return False
    if said.negations or span.negations:
        return False
    common = [key for key in theirs if key in ours]
    alike = len(common) >= 0.8 * len(theirs)
    for middle in common:
        if _listed(said, ours[middle]) or _listed(span, theirs[middle]):
            continue
        if not _is_word(span.tokens[theirs[middle]]):
            continue
        first = [k for k in common if theirs[k] < theirs[middle] and ours[k] > ours[middle]]
        second = [k for k in common if theirs[k] > theirs[middle] and ours[k] < ours[middle]]
        if first and second and (alike or (_named(span, theirs, first)
                                           and _named(span, theirs, second))):  # fmt: skip
            return True
    return False


def _named(span: Facts, theirs: dict[str, int], keys: list[str]) -> bool:
    tokens = [span.tokens[theirs[key]] for key in keys]
    return any(token.capital or token.code for token in tokens)


def _mostly(ours: dict[str, int], theirs: dict[str, int]) -> bool:
    return len(ours.keys() & theirs.keys()) >= 0.8 * len(ours) and len(theirs) <= 40


def _is_word(token: Token) -> bool:
    return not token.capital or token.first


def _places(facts: Facts) -> dict[str, int]:
    """Where each content word stands that comes once; numbers left out."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for at, token in enumerate(facts.tokens):
        single = len(token.raw) == 1 and token.capital and not token.first and token.raw != "I"
        if (token.low in _SILENT and not single) or facts.measures(token):
            continue
        key = token.raw if single else next(iter(terms(token.low)), token.low)
        if key in found:
            twice.add(key)
        found[key] = at
    return {key: at for key, at in found.items() if key not in twice}


def _listed(facts: Facts, at: int) -> bool:
    """Whether a word is one of a list: next to a comma, `and` or `or`."""
    tokens = facts.tokens
    near = {t.low for t in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])}
    token = tokens[at]
    end = token.at + len(token.raw)
    commas = "," in facts.text[max(0, token.at - 2) : token.at] + facts.text[end : end + 1]
    return commas or not near.isdisjoint(("and", "or", "und", "oder"))
