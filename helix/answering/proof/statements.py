"""An answer as the statements it makes: its sentences, each with the sources it cites.

And the claims of a part that has several sentences: cells of a row, or run together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from helix.answering.proof.facts import Facts
from helix.answering.proof.numbers import NUMBER_WORDS
from helix.domain.citations import MARKER, is_refusal, marker_numbers
from helix.language.sentences import Span, sentence_spans, sentences
from helix.language.terms import terms
from helix.language.word_lists import expression, word_lists

_LEAD = re.compile(r"(?<!\s)\s*+(?:(?:[-*+•‣◦▪>]|\(?\d{1,3}[.)]|#{1,6})\s+)+")
_EMPHASIS = re.compile(r"`+|(?<!\*)(?:(?<!\d)\*++|\*++(?!\d))|(?<![^\W_])_+|_+(?![^\W_])|~~+")
"""Marks of Markdown; `2**53`, between two digits, is arithmetic."""
_YES_OR_NO = re.compile(r"(?<!\s)\s*+(?:yes|no|ja|nein)\s*+[,.:!;–—-]\s+(?=\S)", re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*\n]{1,200}\*\*:?\s*\Z|__[^_\n]{1,200}__:?\s*\Z)")
_RULE = re.compile(r"\s*+(?:\|?[\s:|\-=_*~]*+|`{3,}+\w*+|~{3,}+\w*+)\s*\Z")
_BLOCK = re.compile(r"^ {0,3}```[^\n`]*\n(.*?)^ {0,3}```", re.MULTILINE | re.DOTALL)
_UNDERLINE = re.compile(r"\s*+\|?\s*+:?-{2,}+[\s:|-]*\Z")
_COLON = re.compile(r":[*_\s]*\Z")
_QUESTION = re.compile(r"[?？][\"'”’)*_\s]*\Z")

# What a heading has that claims something; a number that only counts headings is none.
_MOST_HEADING = 9  # words
_LABEL = re.compile(
    r"\A\W*(?:\d+(?:\.\d+)*|[a-z])[.):]?(?:\s|\Z)"
    rf"|\b(?:{expression('statements', 'numbered')})\s+\d+(?:\.\d+)*",
    re.IGNORECASE,
)
_LISTS = word_lists("statements")
_FINITE = _LISTS["finite_verbs"]
_ASKING = _LISTS["asking"]
_NUMBERED = re.compile(rf"\d|\b(?:{'|'.join(sorted(NUMBER_WORDS - {'one', 'first', 'second'}))})\b")
_TELLING = re.compile(expression("statements", "telling"), re.IGNORECASE)

_ANNOUNCING = frozenset(term for word in _LISTS["announcing"] for term in terms(word))
"""Words of a sentence that only announces an answer or closes it, and claims nothing itself."""
_FEW = 2  # content words, below which the text in front of a marker claims nothing alone
_SENTENCE = re.compile(r"[.!?…؟۔।॥。！？][\"'”’»›)\]]*\Z")
_LEAST_SAID = 3
"""Words with a meaning of a sentence that claims something. Read as one row, two claims that people
found borne out passed in 51 of 65 cases, cell by cell in 65; a true one in front of a foreign one
in 5 of 80, cell by cell in 3."""


@dataclass(slots=True)
class CitedPart:
    """The text in front of a marker, without markers, and the source numbers that it cites."""

    text: str
    numbers: tuple[int, ...]


@dataclass(slots=True)
class CitedSentence:
    """One sentence: ``answer[start:end]``, markers included, and its parts, one at least."""

    start: int
    end: int
    parts: list[CitedPart] = field(default_factory=list)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers cited, each once, in order."""
        return tuple(dict.fromkeys(number for part in self.parts for number in part.numbers))

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


def statements_of(answer: str) -> list[CitedSentence]:
    """The statements of an answer, in order; none of a refusal.

    A heading, a table's header, a rule, a question and a sentence that only announces the answer
    are none, unless they cite. A heading with a number, a verb or a full stop is a statement, and
    so is a question that tells something: `Did you know that …?` Markers on their own belong to the
    sentence in front of them. A sentence that ends in a colon and cites nothing is cited to what
    its list's first item is.
    """
    if is_refusal(answer):
        return []
    found: list[CitedSentence] = []
    for start, end in _without_headers(answer, _with_code_whole(answer, sentence_spans(answer))):
        text = answer[start:end]
        plain = MARKER.sub(" ", text)
        if not any(c.isalnum() for c in plain):
            _add_markers(found, end, tuple(marker_numbers(text)))
        elif not _says_nothing(text, plain):
            found.append(CitedSentence(start, end, _parts(text)))
    _announce(answer, found)
    return found


def _with_code_whole(answer: str, spans: list[Span]) -> list[Span]:
    """The spans, those of the lines of a block of code as one."""
    blocks = [match.span(1) for match in _BLOCK.finditer(answer)]
    whole: list[Span] = []
    for start, end in spans:
        inside = next((one for one in blocks if one[0] <= start < one[1]), None)
        if inside and whole and inside[0] <= whole[-1][0]:
            start, _ = whole.pop()
        whole.append((start, end))
    return whole


def _without_headers(answer: str, spans: list[Span]) -> Iterator[Span]:
    """The spans but the row in front of a table's underline."""
    for place, (start, end) in enumerate(spans):
        following = spans[place + 1] if place + 1 < len(spans) else (end, end)
        if "|" in answer[start:end] and _UNDERLINE.match(answer[slice(*following)][:2000]):
            continue
        yield start, end


def _says_nothing(text: str, plain: str) -> bool:
    if _RULE.match(text) or is_refusal(text):
        return True
    if MARKER.search(text):
        return False
    if _HEADING.match(text):
        return not _claims(plain)
    if _QUESTION.search(text):
        return not any(map(_tells, pieces_of(plain)))
    content = terms(plain[:400])
    return all(term in _ANNOUNCING for term in content) and len(plain) <= 400


def _tells(piece: str) -> bool:
    """True if a sentence beside a question says something, or a question itself does."""
    if not _QUESTION.search(piece):
        return bool(terms(piece))
    return bool(_TELLING.search(piece) or _NUMBERED.search(_LABEL.sub(" ", piece.casefold())))


def _claims(heading: str) -> bool:
    """True if a heading says something: a number, a finite verb, a full stop, or many words."""
    bare = heading.strip(" #*_:\n\t")
    words = bare.casefold().replace("’", "'").split()
    if not words or words[0].strip("*_") in _ASKING:
        return False
    return (
        bare[-1] in ".!。！"
        or len(words) > _MOST_HEADING
        or not _FINITE.isdisjoint(words)
        or bool(_NUMBERED.search(_LABEL.sub(" ", bare.casefold())))
    )


def _add_markers(found: list[CitedSentence], end: int, numbers: tuple[int, ...]) -> None:
    if found and numbers:
        last = found[-1]
        last.end = end
        last.parts[-1].numbers = tuple(dict.fromkeys(last.parts[-1].numbers + numbers))


def _parts(text: str) -> list[CitedPart]:
    """The sentence in pieces that each end with markers; what says nothing alone joins the next."""
    parts: list[CitedPart] = []
    pending: list[str] = []
    cited: dict[int, None] = {}
    position = 0
    for marker in MARKER.finditer(text):
        between, position = text[position : marker.start()], marker.end()
        says = any(c.isalnum() for c in between)
        if says and cited and len(terms(" ".join(pending))) >= _FEW:
            parts.append(_part(pending, cited, first=not parts))
            pending, cited = [], {}
        if says:
            pending.append(between)
        cited |= dict.fromkeys(map(int, marker[1].split(",")))
    if cited and pending:
        parts.append(_part(pending, cited, first=not parts))
        pending, cited = [], {}
    _add_rest(parts, " ".join([*pending, text[position:]]), tuple(cited))
    return parts


def _part(pending: list[str], cited: dict[int, None], *, first: bool) -> CitedPart:
    return CitedPart(_bare(" ".join(pending), first=first), tuple(cited))


def _add_rest(parts: list[CitedPart], rest: str, numbers: tuple[int, ...]) -> None:
    """Add the text behind the last marker to the part in front, so that it cites the same."""
    says = any(c.isalnum() for c in rest)
    if parts and says:
        parts[-1].text += _bare(f" {rest}", first=False)
    elif not parts:
        parts.append(CitedPart(_bare(rest, first=True), numbers))


def _bare(text: str, *, first: bool) -> str:
    """The text without Markdown's marks and, at its beginning, a list's mark or a `Yes,`."""
    for pattern in (_LEAD, _YES_OR_NO) if first else ():
        match = pattern.match(text)
        text = text[match.end() :] if match else text
    return _EMPHASIS.sub("", text) if any(c in text for c in "*`_~") else text


def _announce(answer: str, found: list[CitedSentence]) -> None:
    for said, following in pairwise(found):
        if not said.numbers and _COLON.search(answer, max(said.start, said.end - 8), said.end):
            said.parts[0].numbers = following.numbers


class Claims(NamedTuple):
    """The sentences of a part; the words beside them are one more where they say enough.

    Otherwise they are its ``label``, which claims nothing alone: only its names and numbers count.
    """

    sentences: list[str]
    label: str


def claims_of(text: str) -> Claims | None:
    """The claims of a part; None where it is one claim alone, label or not."""
    pieces = pieces_of(text)
    whole = [piece for piece in pieces if _SENTENCE.search(piece) and _says(piece)]
    rest = " | ".join(piece for piece in pieces if piece not in whole)
    said = [*whole, rest] if whole and _says(rest) else whole
    return Claims(said, "" if rest in said else rest) if len(said) > 1 else None


def pieces_of(text: str) -> list[str]:
    """The sentences of a text, a cell of a row being one at least."""
    return [piece for cell in text.split("|") for piece in sentences(cell)]


def _says(text: str) -> bool:
    return len(Facts(text).content) >= _LEAST_SAID
