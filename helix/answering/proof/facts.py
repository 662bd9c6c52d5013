"""Facts of a short text that a rule can check: its tokens, numbers, names and negations."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from helix.answering.proof.lexicon import DENYING, EXCEPTIONS
from helix.answering.proof.number_parser import (
    BOUND_PHRASE,
    canonical,
    counts,
    implied_ones,
    numbers_of,
)
from helix.answering.proof.numbers import MONTHS, Number
from helix.answering.proof.units import UNIT_WORDS
from helix.language.terms import STOP_WORDS, terms
from helix.language.word_lists import word_lists

GERMAN_STOP_WORDS = word_lists("words")["german_stop_words"]
_GERMAN = frozenset("der das und ist ein eine wird werden nicht für mit sind dem auf".split())
"""German function words that are no English words: a text with one of them is German."""
UNIT_STEMS = frozenset(terms(" ".join(UNIT_WORDS)))
_TOKEN = re.compile(
    r"(?P<dotted>(?:[^\W\d_]\.){2,}(?:[^\W\d_](?![^\W_]))?)"  # U.S. is one name
    r"|(?P<number>\d+(?:[.,]\d+)+[^\W\d_]*)"  # 3.90 is one token, not 3 and 90
    r"|(?P<word>(?:[^\W_]|[\u0300-\u036f])+(?:['’][^\W_]+)?)"
    r"|(?P<stop>[.!?…:;,()\[\]—–。！？\n|])"
)
_CLAUSE_ENDS = frozenset(".!?…:;,()[]—–。！？|")
_SENTENCE_ENDS = frozenset(".!?…:\n。！？|")
_NUMERO = re.compile(r"\bno\.\s?(?=\d)", re.IGNORECASE)
_COUNT = re.compile(r"\d+(?:[.,]\d+)*([^\W\d_]*)\Z")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]{1,30}(?:[-‐‑_/][^\W_]{1,30}){1,6}(?![^\W_])")
_ADDRESS = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}|https?://[^\s\])>]+[^\s\])>.,;:]"
)
_LONGEST_WORD = 100
_LONG_RUN = re.compile(r"[^\W_]{101,}+")
# scripts that write no spaces, which `terms` takes in pairs, are left alone
_LONG_LETTERS = re.compile(r"[0-9A-Za-z\u00c0-\u0dff]{101,}+")
_NEAR = 3  # content words on either side of a negation that it may deny
_CONTRASTED = 10  # of `…, not wear, water damage or repairs`
_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it compares: ``low`` is case-folded; ``first`` of its sentence or not.

    It stands at ``text[at:]``.
    """

    low: str
    raw: str
    first: bool
    at: int = 0

    @property
    def capital(self) -> bool:
        return self.raw[:1].isupper()

    @property
    def code(self) -> bool:
        """True if the token is a name by its spelling alone: 404B, GPT, iPhone."""
        raw = self.raw
        count = _COUNT.match(raw)
        if count:  # 5G is a name, 5g and 5th are none
            return bool(count[1]) and not counts(count[1])
        return any(c.isdigit() for c in raw) or any(c.isupper() for c in raw[1:])


@dataclass(frozen=True, slots=True)
class Negation:
    """A word that denies, and the stems of the content words around it in its clause.

    ``contrasts``: it opens its clause, as in `faults, not wear, water damage or repairs`. It
    stands at ``text[at:]``.
    """

    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    contrasts: bool
    at: int

    @property
    def denied(self) -> tuple[str, ...]:
        """Words denied for certain: the nearest ones behind it, or a whole list of contrasts."""
        return self.after if self.contrasts else self.after[:2]

    @property
    def near(self) -> tuple[str, ...]:
        return self.before + self.after

    @property
    def excepts(self) -> bool:
        return self.word in EXCEPTIONS


class Facts:
    """A text taken apart, each part when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words, numbers among them."""
        return frozenset(terms(_without_long_words(self.text)))

    @cached_property
    def says(self) -> bool:
        """True if the text has any of ``stems``; mostly one is plain to see, without stemming."""
        return any(map(_is_plain, self.text.split())) or bool(self.stems)

    @cached_property
    def content(self) -> frozenset[str]:
        """Its stems without numbers and their units, which compare by value; all, if none else."""
        counted = " ".join(self.text[n.start : n.end] for n in self.numbers)
        units = UNIT_STEMS if any(n.unit for n in self.numbers) else frozenset()
        plain = self.stems.difference(terms(_without_long_words(counted)), units)
        if not self.stems.isdisjoint(_GERMAN):
            plain = plain - GERMAN_STOP_WORDS or plain
        # `2-year` is also a term whole
        return frozenset(stem for stem in plain if not stem[0].isdigit()) or self.stems

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers_of(self.text)

    def has_same_numbers(self, other: Facts) -> bool:
        """True if both have the same numbers in the same order, as a copy has: values and units."""
        return len(self.numbers) == len(other.numbers) and all(
            one.agrees(same) and one.unit == same.unit
            for one, same in zip(self.numbers, other.numbers, strict=True)
        )

    def number_at(self, token: Token) -> Number | None:
        """The number that a token is a part of; its unit is none of its parts."""
        return next((n for n in self.numbers if n.start <= token.at < n.end), None)

    def measures(self, token: Token) -> bool:
        """True if a token is a part of a number or of its unit."""
        return any(n.start <= token.at < n.until for n in self.numbers)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Part numbers and addresses, each whole: HX-2210, help@acme.example."""
        if not any(c in self.text for c in "-‐‑_/@"):
            return frozenset()
        found = {m[0] for m in _COMPOUND.finditer(self.text) if _is_code(m[0])}
        if "@" in self.text or "://" in self.text:
            found.update(m[0].casefold() for m in _ADDRESS.finditer(self.text))
        return frozenset(found)

    @cached_property
    def implied(self) -> list[Number]:
        return implied_ones(self.text)

    @cached_property
    def _scan(self) -> tuple[list[Token], list[Negation]]:
        return _scanned(self.text)

    @property
    def tokens(self) -> list[Token]:
        return self._scan[0]

    @property
    def negations(self) -> list[Negation]:
        return self._scan[1]

    def is_negation(self, token: Token) -> bool:
        """True if a token denies: `no` of `no more than` does not."""
        return token.low in DENYING and any(n.at == token.at for n in self.negations)

    @cached_property
    def lows(self) -> list[str]:
        return [token.low for token in self.tokens]

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, case-folded, and the stems of all of them."""
        return frozenset(self.lows) | self.stems

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Words that stand in it with a capital elsewhere than at a sentence's start."""
        return frozenset(t.low for t in self.tokens if t.capital and not t.first)

    @cached_property
    def raws(self) -> frozenset[str]:
        return frozenset(token.raw for token in self.tokens)

    @cached_property
    def initials(self) -> str:
        """First letters of its capitalised words: where EU may stand for European Union."""
        return "".join(token.raw[0] for token in self.tokens if token.capital)


def _is_code(compound: str) -> bool:
    """True if a compound has a digit and a part in capitals: AU-300S, but not mid-1990s."""
    parts = re.split("[-‐‑_/]", compound)
    return any(map(str.isupper, parts)) and any(c.isdigit() for c in compound)


def _is_plain(word: str) -> bool:
    """True if ``terms`` makes a term of the word, wherever it stands between spaces."""
    bare = word.isascii() and word.isalpha() and 1 < len(word) <= _LONGEST_WORD
    return bare and word.lower() not in STOP_WORDS


def _without_long_words(text: str) -> str:
    """The text without words that are none: stemming takes quadratic time on their letters."""
    parts = text.split()
    if max(map(len, parts), default=0) <= _LONGEST_WORD:
        return text
    return _LONG_RUN.sub(" ", text) if text.isascii() else _LONG_LETTERS.sub(" ", text)


def _scanned(text: str) -> tuple[list[Token], list[Negation]]:
    tokens: list[Token] = []
    marks: list[tuple[int, str, int, int]] = []  # place of a negation, word, clause's start and end
    clause, first, open_marks = 0, True, 0
    silent = [m.span() for m in BOUND_PHRASE.finditer(text)] if " than" in text else []
    silent += [m.span() for m in _NUMERO.finditer(text)] if "o. " in text or "o." in text else []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        if match.lastgroup == "stop":
            first = first or raw in _SENTENCE_ENDS
            if raw in _CLAUSE_ENDS:
                for at in range(open_marks, len(marks)):
                    marks[at] = (*marks[at][:3], len(tokens))
                clause, open_marks = len(tokens), len(marks)
            continue
        number = match.lastgroup == "number"
        parts = (raw,) if number else _words(raw, dotted=match.lastgroup == "dotted")
        for part in parts:
            low = canonical(part) if number else _low(part)
            if low in DENYING and not any(a <= match.start() < b for a, b in silent):
                marks.append((len(tokens), low, clause, -1))
            tokens.append(Token(low, part, first, match.start()))
            first = False
    return tokens, [_negation(tokens, *mark) for mark in marks]


def _words(raw: str, *, dotted: bool) -> tuple[str, ...]:
    """`don't` as do, not; `cannot` as can, not; `U.S.` as US; `Helix's` as Helix."""
    if dotted:
        return (raw.replace(".", ""),)
    if raw in ("cannot", "Cannot"):
        return (raw[:3], "not")
    if len(raw) > 2 and raw[-2] in "'’":
        if raw[-1] in "sS":
            return (raw[:-2],)
        if raw[-1] in "tT" and raw[-3] in "nN":
            stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(raw[:-3].lower(), raw[:-3])
            return (stem, "not") if stem else ("not",)
    return (raw,)


def _low(word: str) -> str:
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    low = word.casefold()
    return _MONTHS.get(low, low) if len(low) <= 4 and low != word else low


def _negation(tokens: list[Token], at: int, word: str, start: int, end: int) -> Negation:
    contrasts = at == start and at > 0 and not tokens[at].first
    end = len(tokens) if end < 0 or contrasts else end
    before = [stem for token in tokens[max(start, at - 8) : at] for stem in _content(token.low)]
    following = tokens[at + 1 : min(end, at + 20 if contrasts else at + 9)]
    firsts = (n for n, token in enumerate(following) if token.first)
    sentence = next(firsts, len(following))
    after = [stem for token in following[:sentence] for stem in _content(token.low)]
    reach = _CONTRASTED if contrasts else _NEAR
    return Negation(word, tuple(before[-_NEAR:]), tuple(after[:reach]), contrasts, tokens[at].at)


def _content(word: str) -> list[str]:
    return [] if word in STOP_WORDS or len(word) > 60 else terms(word)
