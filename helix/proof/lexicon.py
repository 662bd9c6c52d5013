"""Words that deny, and words that say the opposite of one another."""

from __future__ import annotations

import re

# Longer lists than helix.context's, which only has to tell near copies apart.
NEGATIONS = frozenset(
    "not no never none nor neither without nobody nothing nowhere non except unless excluding "
    "barring nicht kein keine keinen keiner keinem keines nie niemals nichts niemand weder ohne "
    "außer ausgenommen pas jamais sans nunca jamás".split()
)

EXCEPTIONS = frozenset("except unless excluding barring außer ausgenommen".split())
# Words that deny as `not` does, for texts that say the same in other words.
DENYING = re.compile(
    r"(?:exclu|prohibit|forbid|forbad|ban(?:s|ned)?$|refus|reject|den(?:y|ie)|declin|lack|fail|void"
    r"|prevent|avoid|absen|only$|other|instead|rather|hardly|rarely|barely|seldom|little$|few$|miss"
    r"|dis[a-z]{5}|un(?!i|der|til|cle)[a-z]{4}|in(?:eligib|valid|suffic|complet|admiss|capab"
    r"|correct|activ)|im(?:poss|proper)|il(?:leg|lic)|ir(?:reg|rev)|ausgeschlossen|verboten)"
)
_OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        (
            "allow allows allowed permit permits permitted accept accepts accepted approve "
            "approves approved grant grants granted admit admitted erlaubt "
            "gestattet zulässig genehmigt",
            "forbid forbids forbidden prohibit prohibits prohibited reject rejects rejected refuse "
            "refuses refused deny denies denied ban bans banned disallow disallowed dismiss "
            "dismisses dismissed decline declined verboten untersagt unzulässig abgelehnt",
        ),
        (
            "increase increases increased increasing rise rises rose risen rising grow grows grew "
            "grown raise raised gain gained stieg steigt stiegen steigen gestiegen wuchs wächst",
            "decrease decreases decreased decreasing fall falls fell fallen falling decline "
            "declines declined drop dropped drops reduce reduced reduces shrink shrank sank sinkt "
            "sanken sinken gesunken fiel fällt fielen gefallen",
        ),
        ("before vor", "after nach"),
        ("add adds added introduce introduced", "drop dropped drops remove removes removed"),
        ("enable enables enabled", "disable disables disabled"),
        (
            "start starts started begin begins began beginnt begann opens",
            "end ends ended finish finished endet endete",
        ),
        ("present", "absent missing"),
        ("cheaper cheapest", "dearer costlier"),
        ("faster fastest quicker", "slower slowest"),
        ("longer longest", "shorter shortest"),
        ("older oldest", "younger youngest newer newest"),
        ("stronger", "weaker"),
        ("larger bigger", "smaller"),
        ("heavier", "lighter"),
        ("mindestens", "höchstens maximal"),
        ("mehr", "weniger"),
        ("attach attached", "detach detached"),
        ("mit", "ohne"),
        ("more greater higher larger above", "less fewer lower smaller below"),
        ("maximum max most", "minimum min least"),
        ("include includes included including", "exclude excludes excluded excluding"),
        ("required mandatory compulsory obligatory", "optional voluntary"),
        ("always", "never rarely"),
        ("with", "without"),
        ("possible", "impossible"),
        ("legal lawful", "illegal unlawful"),
        ("valid", "invalid void"),
        ("win wins won", "lose loses lost"),
        ("success successful successfully succeeded", "failure unsuccessful failed"),
        ("earlier earliest", "later latest"),
        ("buy buys bought", "sell sells sold"),
        ("positive", "negative"),
        ("refundable", "nonrefundable"),
        ("open opened", "closed unopened"),
        ("used", "unused"),
    )
)
OPPOSITE: dict[str, frozenset[str]] = {}
for _one, _other in (order for pair in _OPPOSITES for order in (pair, pair[::-1])):
    for _word in _one:
        OPPOSITE[_word] = OPPOSITE.get(_word, frozenset()) | _other

_CONTRASTS = (
    "left right", "hot cold", "first last", "morning afternoon evening night", "upper lower",
    "north south east west", "northern southern eastern western", "internal external",
    "import export", "imports exports", "men women", "male female", "adults children",
    "spring summer autumn winter", "weekday weekend", "weekdays weekends", "front back rear",
    "hourly daily weekly monthly quarterly yearly", "top bottom", "input output", "minimum maximum",
)  # fmt: skip
CONTRAST = {word: group for group in _CONTRASTS for word in group.split()}
"""Words of one kind, of which each rules the others out where one stands in another's place."""

_PREFIXED = re.compile(
    r"(?:un(?=[a-z]{5})(?!der|til|cle|ited|ion|iver|ique)|non(?=[a-z]{5})"
    r"|(?:in|im|ir|il|dis)(?=[a-z]{2,}(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z))([a-z]+)"
)
_ADJECTIVE = re.compile(r"[a-z]+(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z")


def opposites(word: str) -> frozenset[str]:
    """Words that say the opposite of a word: those listed, and `unstable` of `stable`."""
    found = OPPOSITE.get(word, frozenset())
    if len(word) < 5:
        return found
    prefixed = _PREFIXED.match(word)
    more = [f"un{word}", f"non{word}"]
    if _ADJECTIVE.match(word):
        more += [f"{prefix}{word}" for prefix in ("in", "im", "ir", "il", "dis")]
    return found.union(more, (prefixed[1],) if prefixed else ())


STRONG_DENIAL = re.compile(
    r"(?:fail(?:s|ed|ing)?|lack(?:s|ed|ing)?|refus(?:e[sd]?|ing)|reject(?:s|ed|ing)?|den(?:y|ie[sd])"
    r"|prohibit(?:s|ed)?|forbids?|forbad[e]?|forbidden|bans?|banned|prevent(?:s|ed|ing)?"
    r"|exclud(?:e[sd]?|ing)|dismiss(?:es|ed)?|unable|neglect(?:s|ed)|disput(?:e[sd])|disprov(?:es|ed)"
    r"|false|untrue|verboten|untersagt|verweigert|abgelehnt|verhindert)\Z"
)
"""Words that deny what stands next to them: a statement that leaves them out says the opposite."""

STRONG_PARTICIPLE = re.compile(
    r"(?:denied|refused|rejected|prohibited|forbidden|banned|excluded|dismissed|prevented|verboten"
    r"|untersagt|verweigert|abgelehnt|verhindert)\Z"
)
"""Of those the ones that may stand behind what they deny."""
