"""What instruction-like text looks like: phrases by kind and language.

Each pattern begins with a literal word and has bounded gaps, so that it is linear; each has words
one of which it cannot do without, so that text without them is never searched.
The phrases address a model or its rules. Imperatives alone ("ignore the warning light", "reply
only if you disagree") are what manuals are made of, and are let be.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Phrase(NamedTuple):
    """A pattern of one kind; each text that it is found in has one of ``words``, in lower case.

    And one of each of ``also``.
    """

    kind: str
    words: frozenset[bytes]
    also: tuple[frozenset[bytes], ...]
    pattern: re.Pattern[str]


_LETTERS = bytes(c if (c < 128 and chr(c).isalnum()) or c == 95 else 32 for c in range(256))
_WORD_SHAPE = bytes(48 if letter != 32 else 32 for letter in _LETTERS)
_DIGIT_SHAPE = bytes(48 if chr(c) in "+/-" else shape for c, shape in enumerate(_WORD_SHAPE))


def lower(text: str) -> bytes:
    """A text in lower case as words_of and has_run look at it."""
    low = text.lower()
    if not low.isascii():  # re.IGNORECASE takes these two for s and i
        low = low.replace("\u017f", "s").replace("\u0131", "i")
    return low.encode(errors="replace")


def words_of(low: bytes) -> list[bytes]:
    """The words of ``lower``, those with other than ASCII letters in pieces.

    It takes a quarter of the time that a regular expression would.
    """
    return low.translate(_LETTERS).split()


def has_run(low: bytes, digits: int, letters: int) -> bool:
    """Whether so many digits of Base64, in either alphabet, stand in it one after another.

    And somewhere so many letters, for hyphens and slashes stand between words too.
    """
    if b"0" * digits not in low.translate(_DIGIT_SHAPE):
        return False
    return b"0" * letters in low.translate(_WORD_SHAPE)


def _phrase(kind: str, words: str, *parts: str) -> Phrase:
    """``words``, and after each slash one of ``also``; of each word the longest piece is kept."""
    needed, *also = map(_pieces, words.split("/"))
    pattern = re.compile("|".join(parts), re.IGNORECASE | re.MULTILINE)
    return Phrase(kind, needed, tuple(also), pattern)


def _pieces(words: str) -> frozenset[bytes]:
    return frozenset(max(words_of(lower(word)), key=len) for word in words.split())


_GAP = r"[^.\n]{0,40}?\b"
_SHORT = r"[^.\n]{0,20}?\b"
_MODEL = (
    r"(?:ai|llm|chat ?bot|bot|language model|assistant|agent|gpt|dan|jailbroken|unrestricted)\b"
)
_TO_MODEL = (
    r"(?:you|your|ignore|disregard|forget|reply|respond|answer|do not|don't|always|never|from"
    r" now|new"
    r"|override|act as|say|output|print|reveal|the user)\b"
)

PHRASES: tuple[Phrase, ...] = (
    _phrase(
        "override",
        "ignore disregard forget override bypass follow attention "
        "/ instruction instructions prompt prompts rules guidelines directives programming training"
        " constraints context message messages above before told",
        r"(?<!not )(?<!never )(?<!n't )\b(?:ignore|disregard|forget|override|bypass|do not follow"
        r"|pay no attention to)\b"
        + _GAP
        + r"(?:previous|prior|above|earlier|preceding|foregoing|your|system|existing|original"
        r"|initial"
        r"|developer(?:'s)?|other)\b"
        + _SHORT
        + r"(?:instructions?|prompts?|rules|guidelines|directives|programming|training|constraints"
        r"|context|messages?)\b",
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything)(?: that)?(?: was| is| has"
        r" been)?"
        r"(?: said| written| told)?(?: to you)? (?:above|before this|you (?:were|have been)"
        r" told)\b",
    ),
    _phrase(
        "override",
        "instruction instructions prompt / new real actual updated",
        r"^\W{0,6}(?:new|real|actual|updated) (?:system )?(?:instructions?|prompt)\s*:",
    ),
    _phrase(
        "override",
        "ai ais llm llms chatbot chatbots bot bots language "
        "/ instruction instructions message note attention notice reminder",
        r"\b(?:instructions?|message|note|attention|notice|reminder)(?: to| for|:|,)? "
        r"(?:the |any |all |every )?(?:(?:ai|llm|chat ?bot|language model)s?\b)(?![ -](?:act"
        r"|system))",
    ),
    _phrase(
        "override",
        "ai llm chatbot bot language / you",
        r"\bif you are an? (?:ai|llm|language model|large language model|chat ?bot)\b",
    ),
    _phrase(
        "role",
        "now longer pretend act developer jailbreak dan god "
        "/ ai llm chatbot chat bot language assistant agent gpt dan jailbroken unrestricted"
        " mode free "
        "bound restricted limited answer reply respond obey",
        r"\byou are now (?:an? |the |my |called )?(?:\w+ ){0,3}?" + _MODEL,
        r"\byou are now (?:in (?:\w+ ){0,2}mode|free (?:of|from)|no longer (?:bound|restricted"
        r"|an? ))",
        r"\byou are no longer (?:bound|restricted|limited|an? (?:\w+ ){0,2}?" + _MODEL + ")",
        r"\b(?:act as|pretend (?:to be|you are|that you are)) (?:an? |the |if you (?:are|were) )?"
        r"(?:\w+ ){0,2}?" + _MODEL,
        r"\bfrom now on,? (?:you (?:will|must|shall|should|are to) (?:only |always )?(?:answer"
        r"|reply"
        r"|respond|obey|ignore|act|say|speak)|(?:only |always )?(?:answer|reply|respond|obey))\b",
        r"\b(?:enable|enter|activate) (?:developer|jailbreak|dan|god) mode\b",
    ),
    _phrase(
        "role tag",
        "im_start im_end system user assistant endoftext eot_id start_header_id end_header_id "
        "end_of_turn start_of_turn inst sys system_prompt instruction instructions tool_call "
        "tool_calls function_call function_calls",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id"
        r"|end_header_id|end|end_of_turn)\|>|<(?:start|end)_of_turn>",
        r"\[/?INST\]|<</?SYS>>",
        r"</?(?:system|assistant|system[-_]prompt|instructions?)>",
        r"</?(?:tool|function)_calls?>",
    ),
    _phrase(
        "role tag",
        "system assistant developer",
        r"^[\W_]{0,6}(?:system|assistant|developer)[\W_]{0,3}:[\W_]{0,6}" + _TO_MODEL,
        r"^[\W_]{0,6}(?:system|developer) (?:prompt|override|instructions?|message)[\W_]{0,3}:",
    ),
    _phrase(
        "format",
        "reply respond answer / only just exactly solely nothing exclusively always every any all",
        r"\b(?:reply|respond|answer)\b"
        + _GAP
        + r"(?:only|just|exactly|solely|nothing but|exclusively)"
        r" (?:with|by saying|the (?:words?|phrase|following|text))\b",
        r"\b(?:reply|respond|answer) (?:only|exactly|just|solely)?:? ?(?:with )?(?:only"
        r"|exactly|just)?:? ?"
        r"[\"“'][^\"”\n]{1,60}[\"”'] (?:to|for) (?:every|any|all)\b",
        r"\b(?:only|always) (?:reply|respond|answer) (?:with|by saying)\b",
    ),
    _phrase(
        "format",
        "reply answer response output / your",
        r"\byour (?:only|entire|whole|complete|full) (?:answer|reply|response|output) (?:must"
        r"|should|is"
        r"|shall|will)\b",
    ),
    _phrase(
        "citation",
        "cite mention quote include add / not never don / source sources citation citations marker"
        " markers number numbers instruction instructions prompt",
        r"\b(?:do not|don't|never|must not) (?:ever )?(?:cite|mention|quote|include|add)\b"
        r"(?: (?:any|the|your|these|those|this|that|all|a|of|source)){0,3} (?:sources?|citations?"
        r"|markers?|source numbers?|instructions?|prompt)\b",
    ),
    _phrase(
        "citation",
        "cite / not never don",
        r"^\W{0,6}(?:do not|don't|never) cite\b",
    ),
    _phrase(
        "citation",
        "tell inform alert warn / not / user",
        r"\bdo not (?:tell|inform|alert|warn) the user\b",
    ),
    _phrase(
        "prompt",
        "prompt instructions message verbatim rules guidelines above "
        "/ reveal show print repeat output display disclose leak recite expose echo write"
        " tell give "
        "quote copy",
        r"\b(?:reveal|show|print|repeat|output|display|disclose|leak|recite|echo|expose|write out"
        r"|tell me|give me|quote|copy)\b"
        + _GAP
        + r"(?:system prompt|system message|(?:hidden|initial|original|full) (?:system )?prompt"
        r"|(?:system|hidden|secret) instructions|developer message|prompt verbatim)\b",
        r"\b(?:reveal|print|repeat|output|disclose|leak|recite|echo)(?: me| back)? (?:all"
        r" )?(?:of )?your "
        r"(?:\w+ ){0,2}?(?:prompt|instructions|rules|guidelines)\b",
        r"\b(?:repeat|print|output|copy) (?:all (?:of )?)?the (?:text|words) above\b",
    ),
    _phrase(
        "exfiltration",
        "http https",
        r"!\[[^\]\n]{0,80}\]\(\s?https?://[^\s)]{1,200}?[?=/][^\s){\[<]{0,80}[{\[<$][^)\n]{1,60}\)",
        r"https?://[^\s\"'<>)\]{\[]{1,200}[?&/=][\[{<$]{1,3}(?:the |your |insert |user'?s? |base64 "
        r"|encoded |full |all )?[ _-]?(?:secrets?|answer|prompt|system[ _-]prompt|context|chat"
        r"|history"
        r"|conversation|summary|sources|question|stolen|data[ _-]here|encoded|insert)\b",
        r"https?://[^\s\"'<>)\]]{1,200}(?:SECRET|PROMPT|ANSWER|CONTEXT|DATA)(?:_?HERE|_GOES_HERE)",
    ),
    _phrase(
        "exfiltration",
        "send post forward upload exfiltrate transmit append include put encode "
        "/ conversation history prompt question secret secrets key keys password passwords"
        " credential "
        "credentials sources answer",
        r"\b(?:send|post|forward|upload|exfiltrate|transmit|append|include|put|encode)\b"
        + _GAP
        + r"(?:conversation|chat history|system prompt|this prompt|user'?s? question|secrets?"
        r"|api keys?"
        r"|passwords?|credentials|sources above|your answer)\b" + r"[^.\n]{0,30}?"
        r"\b(?:to|at|in|into|as) (?:the |an? )?(?:https?://|url|link|image|query string)",
    ),
    _phrase(
        "override",
        "ignorier ignoriere ignorieren ignoriert vergiss vergessen missachte missachten neue "
        "geänderte",
        r"\b(?:ignorier\w{0,4}|vergiss|vergessen sie|missachte\w{0,2})\b"
        + _GAP
        + r"(?:vorherig\w*|vorig\w*|vorangegangen\w*|bisherig\w*|obig\w*|früher\w*|deine\w?"
        r"|ursprünglich"
        r"\w*)\b"
        + _SHORT
        + r"(?:anweisung\w*|instruktion\w*|regeln|befehle\w?|vorgaben|prompts?)\b",
        r"\b(?:neue|geänderte) (?:system)?anweisung(?:en)?\s*:",
    ),
    _phrase(
        "role",
        "du sie",
        r"\b(?:du bist|sie sind)(?: jetzt| nun| ab sofort| ab jetzt) (?:kein|ein|der|die|das"
        r"|mein|im)\w{0,2}"
        r" (?:\w+ ){0,2}?(?:ki|bot|chatbot|assistent\w*|sprachmodell|modell|agent|dan)\b",
    ),
    _phrase(
        "format",
        "antworte antworten zitiere zitieren zitier nenne nennen erwähne erwähnen zeig zeige "
        "verrate gib wiederhole offenbare",
        r"\bantworte\w{0,2}\b" + _GAP + r"(?:nur|ausschließlich|lediglich|immer) mit\b",
        r"\b(?:zitier\w{0,3}|nenne\w?|erwähne\w?)(?: sie)? keine (?:quellen|zitate|belege)\b",
        r"\b(?:zeig\w?|verrate\w?|gib|nenne\w?|wiederhole\w?|offenbare\w?)\b"
        + _GAP
        + r"(?:system-?prompt|systemanweisung\w*|deine anweisungen)\b",
    ),
    _phrase(
        "override",
        "ignore ignores ignorez ignorer oublie oublies oubliez oublier compte abstraction "
        "ignora ignoren olvida olvide olviden descarta descarte omiso caso ignori ignorare",
        r"\b(?:ignore[sz]?|ignorer|oublie[sz]?|oublier|ne (?:tiens|tenez) pas compte de"
        r"|fa(?:is|ites) "
        r"abstraction de)\b"
        + _GAP
        + r"(?:instructions?|consignes?|règles|directives)\b"
        + _SHORT
        + r"(?:précédent\w*|antérieur\w*|ci-dessus|initial\w*)",
        r"\b(?:ignor[ae]|ignoren|olvid[ae]|olviden|descart[ae]|haz caso omiso de|no hagas caso a)\b"
        + _GAP
        + r"(?:instrucciones|órdenes|reglas|indicaciones)\b"
        + _SHORT
        + r"(?:anteriores|previas|precedentes|iniciales|de arriba)\b",
        r"\bignora\w?\b" + _GAP + r"(?:istruzioni|regole)\b" + _SHORT + r"precedenti\b",
        r"\bignor[ae]\b" + _GAP + r"(?:instruções|regras)\b" + _SHORT + r"anteriores\b",
    ),
    _phrase(
        "role",
        "maintenant désormais ahora partir",
        r"\b(?:tu es|vous êtes) (?:maintenant|désormais) (?:une? |le |la |mon )?(?:\w+ ){0,2}?"
        r"(?:ia|assistant\w?|robot|chatbot|modèle|agent|dan)\b",
        r"\b(?:ahora eres|eres ahora|a partir de ahora,? (?:eres|serás)) (?:una? |el |la |mi )?"
        r"(?:\w+ ){0,2}?(?:ia|asistente|bot|chatbot|modelo|agente|dan)\b",
    ),
    _phrase(
        "format",
        "réponds répondez responde responda contesta conteste cite citez mentionne mentionnez "
        "cites citen menciones mencione révèle montre affiche répète revela muestra imprime "
        "repite révèlez montrez affichez répétez",
        r"\b(?:réponds|répondez)\b" + _GAP + r"(?:uniquement|seulement|exclusivement|toujours) "
        r"(?:par|avec|en)\b",
        r"\b(?:responde|responda|contesta|conteste)\b" + _GAP + r"(?:solo|sólo|únicamente|solamente"
        r"|exclusivamente|siempre) con\b",
        r"\bne (?:cite|citez|mentionnez?) (?:pas|aucune?)\b" + _SHORT + r"sources?\b",
        r"\bno (?:cites|cite|citen|menciones|mencione)\b"
        + _SHORT
        + r"(?:fuentes?|citas|referencias)\b",
        r"\b(?:révèle|montre|affiche|répète)[sz]?\b" + _GAP + r"(?:prompt|tes instructions|vos "
        r"instructions|tes consignes)\b",
        r"\b(?:revela|muestra|imprime|repite)\b" + _GAP + r"(?:prompt|tus instrucciones)\b",
    ),
)

UNSPACED = _phrase(
    "override",
    "",
    r"(?:忽略|无视|無視)[^。\n]{0,12}(?:指令|指示|说明|提示|规则)",
    r"\b(?:игнорируй|забудь)(?:те)?\b" + _GAP + r"(?:инструкции|указания|правила)\b",
)
UNSPACED_TRACES = ("忽略", "无视", "無視", "гнорируй", "абудь")
"""Without a Latin letter, so that no word leads to it, but one of these pieces does."""

KNOWN = frozenset[bytes]().union(*(words for one in PHRASES for words in (one.words, *one.also)))
"""Every word that a phrase may need."""

BY_WORD: dict[bytes, list[Phrase]] = {}
for _one in PHRASES:
    for _word in _one.words:
        BY_WORD.setdefault(_word, []).append(_one)
