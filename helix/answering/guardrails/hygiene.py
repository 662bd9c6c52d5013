"""Output hygiene: a filter over an answer's deltas that lets nothing load or lead where it may not.

A page that shows an answer as Markdown loads its images unasked, and a model that was talked into
it can put what it read into an address. So what leads elsewhere than ``targets`` allows is taken
out: images, links, definitions of links, autolinks, bare URLs, HTML that loads or leads.

What is looked at is what was let through so far and what comes next, so taking something out cannot
put together what would have been taken out. What is decided never depends on how the text was cut
into deltas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from helix.answering.guardrails.targets import URL_END, Targets
from helix.answering.guardrails.urls import STARTS, BareUrl
from helix.domain.context import Source
from helix.language.word_lists import expression, word_lists

# Quotes count where a value begins: a browser, too, reads on over a ``>`` between them.
_TAG = re.compile(r"<(?>(?:[^=>]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])))*)>")
_TAG_NAME = re.compile(r"</?([a-z][^\s/>]*+)", re.IGNORECASE)
_ACTIVE = frozenset({"script", "style"})
_LOADING = word_lists("markup")["loading"]
_LOADING_ATTRIBUTE = re.compile(
    rf"[\s/\"'](?:{expression('markup', 'loading_attribute')})\s*+=", re.IGNORECASE
)
_ADDRESS = re.compile(r"url\s*+\(|[/\\]{2}|:[/\\]", re.IGNORECASE)
# What might be taken out of a tag, and so move its end.
_INSIDE = re.compile(r"\][(:]|[/\\:][/\\]|www[.。．｡]|(?:https?|ftp|mailto|xmpp):\S", re.IGNORECASE)
_INSIDE_NESTED = re.compile(r"[=:\"'`]|script|style", re.IGNORECASE)


def whole_tag(text: str) -> str | None:
    """The tag that ``text`` begins with; None where it has no end, or a quote has none."""
    found = _TAG.match(text) if ">" in text else None
    return found[0] if found else None


def may_load(tag: str) -> bool:
    """True if a browser might load something for ``tag``, or run it, or go somewhere by it."""
    name = _TAG_NAME.match(tag)
    lowered = name[1].lower() if name else ""
    if lowered in _ACTIVE or _LOADING_ATTRIBUTE.search(tag):
        return True
    return "=" in tag and bool(lowered in _LOADING or _ADDRESS.search(tag, tag.index("=")))


def may_change(tag: str) -> bool:
    """True if something inside ``tag`` might be taken out, after which it would end elsewhere."""
    nested = "<" in tag[1:] and _INSIDE_NESTED.search(tag)
    return bool(nested or _INSIDE.search(tag, 1))


LIMIT = 2048
"""Characters that are held back at most; a target or a tag that is longer is taken out."""
REMOVED = "(link removed)"
"""The text that replaces a URL which was its own visible text."""

_PIECE = 256  # a delta is dealt with in pieces, so that what is held stays short: linear time
_TAIL = 40  # characters let through that a trigger may depend on: the longest scheme
_TRIGGER = re.compile(rf"(?<=\])[(:]|<|(?<=!)\[|{STARTS}", re.IGNORECASE)

_DESTINATION = r"(?:<([^<>\n]*+)>|([^\s()<>]*+(?>(?:\([^\s()<>]*+\)[^\s()<>]*+)*)))"
_TITLE = r"\s++(?:\"(?>(?:[^\"\\]|\\.)*)\"|'(?>(?:[^'\\]|\\.)*)'|\((?>(?:[^()\\]|\\.)*)\))"
_LINK = re.compile(rf"\(\s*+{_DESTINATION}(?>({_TITLE})?)\s*+\)", re.DOTALL)
_PLAIN_TITLE = re.compile(r"[^\[\]<>:/\\`]*+")
_PROSE = re.compile(
    rf"\(\s*+(?:[^\s()<>]++\s++[^\s\"'()]|{_DESTINATION}{_TITLE}\s*+[^\s)])", re.DOTALL
)
_FIRST_WORD = re.compile(r"[(:][\s>]*+(\S*+)")
_WORD_AND_END = re.compile(r":[\s>]*+(\S++)\s")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_ADDRESS_LIKE = re.compile(r"[:/\\&%?#.@=<]")
_ABSOLUTE = re.compile(r"^[\x00-\x20<]*+[a-z][\w+.-]*+:\S|[/\\]{2}|&#?\w++;", re.IGNORECASE)
_QUERY = re.compile(r"\?[^\s?.!,;:)]")
_PLACE_OF_OWN = re.compile(r"[\w-]++(?:/[\w-]++)+(?:\.\w{1,8})?", re.ASCII)

_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*+)>", re.IGNORECASE)
_LINK_TAG = re.compile(r"<a\s++href=\"([^\"]*+)\"\s*+>", re.IGNORECASE)
_IMAGE_TAG = re.compile(
    r"<img\s++(?:alt=\"[^\"]*+\"\s++)?src=\"([^\"]*+)\"(?:\s++alt=\"[^\"]*+\")?\s*+/?>",
    re.IGNORECASE,
)


class _Step(NamedTuple):
    """A decision: ``taken`` characters are dealt with, and ``given`` is let through for them."""

    taken: int
    given: str


class Hygiene:
    """A filter for one answer: feed it the deltas, send what it gives, and at the end the rest.

    ``removed`` counts what was taken out. Text without any trigger passes at once and unchanged;
    from a trigger on, at most LIMIT characters are held back.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.removed = 0
        self._targets = Targets(sources)
        self._tail = ""
        self._held = ""
        self._image = False
        self._skipping: re.Pattern[str] | None = None

    def feed(self, delta: str) -> str:
        """The further part of the answer that may be sent, now that ``delta`` has come."""
        given: list[str] = []
        for start in range(0, len(delta), _PIECE):
            self._held += delta[start : start + _PIECE]
            given.append(self._drain(last=False))
        return "".join(given)

    def end(self) -> str:
        """The text held back, now that nothing follows it."""
        return self._drain(last=True)

    def _drain(self, *, last: bool) -> str:
        given: list[str] = []
        while self._held:
            if self._skipping and not self._skip(self._skipping):
                break
            text = self._tail + self._held
            trigger = _TRIGGER.search(text, len(self._tail))
            plain = trigger.start() - len(self._tail) if trigger else len(self._held)
            given.append(self._give(_Step(plain, self._held[:plain])))
            if trigger is None or (step := self._decide(last=last)) is None:
                break
            given.append(self._give(step))
        return "".join(given)

    def _give(self, step: _Step) -> str:
        self._held = self._held[step.taken :]
        self._tail = (self._tail + step.given)[-_TAIL:]
        return step.given

    def _skip(self, ends: re.Pattern[str]) -> bool:
        """Drop the held text up to the end of an overlong target; true if it ended."""
        end = ends.search(self._held)
        self._held = self._held[end.start() :] if end else ""
        self._skipping = None if end else ends
        return end is not None

    def _decide(self, *, last: bool) -> _Step | None:
        """The next step for the trigger that is held; None: it depends on what follows."""
        character = self._held[0]
        if character == "[":
            self._image = True  # from here on: which bracket a target belongs to is hard to say
            return _Step(1, "[")
        if character == "(":
            return self._target(self._held[:LIMIT], last=last)
        if character == ":":
            return self._definition(self._held[:LIMIT], last=last)
        if character == "<":
            return self._tag(self._held[:LIMIT], last=last)
        return self._url(self._held[:LIMIT], last=last)

    def _remove(self, taken: int, instead: str = "") -> _Step:
        self.removed += 1
        before = self._tail[-1:]
        if before in tuple("</\\") or (
            instead and before and not before.isspace() and before != "("
        ):
            instead = " " + instead
        return _Step(taken, instead)

    def _too_long(self, ends: str, instead: str = "") -> _Step:
        self._skipping = re.compile(ends)
        return self._remove(LIMIT, instead)

    def _target(self, text: str, *, last: bool) -> _Step | None:
        """``](`` was seen; ``text`` begins with the bracket of a target, or of an aside."""
        blank = _BLANK_LINE.search(text)
        text = text[: blank.start()] if blank else text
        if link := _LINK.match(text):
            target = link[1] if link[1] is not None else link[2]
            if not _ADDRESS_LIKE.search(target) and link[1] is None:
                return _Step(1, "(")
            if not self._image and _PLACE_OF_OWN.fullmatch(target):
                return _Step(1, "(")
            plain = _PLAIN_TITLE.fullmatch((link[3] or "").strip())
            if plain and self._targets.allows(target, image=self._image):
                return _Step(link.end(), link[0])
            return self._remove(link.end())
        if blank or last or _PROSE.match(text):
            return self._aside(text)
        return self._too_long(r"[)\n]") if len(text) >= LIMIT else None

    def _aside(self, text: str) -> _Step:
        """No target by the rules; where a lenient reader might see one, it goes."""
        word = _FIRST_WORD.match(text)
        if word and self._suspect(word[1], word[1]):
            return self._remove(word.end(), "(")
        return _Step(1, "(")

    def _suspect(self, word: str, target: str) -> bool:
        leads = _ABSOLUTE.search(word) or _QUERY.search(word) or re.match(r"<?[/\\]\Z", word)
        return bool(leads) and not self._targets.allows(target, image=True)

    def _definition(self, text: str, *, last: bool) -> _Step | None:
        """``]:`` was seen; an image may use what is defined."""
        word = _WORD_AND_END.match(text) or (_FIRST_WORD.match(text) if last else None)
        if word is None:
            return self._remove(1) if len(text) >= LIMIT else None
        target = word[1].strip("<>")
        if self._suspect(word[1], target):
            return self._remove(word.end(1), REMOVED)
        return _Step(1, ":")

    def _url(self, text: str, *, last: bool) -> _Step | None:
        """The next step for a possible bare URL; a scheme before it has been let through."""
        url = BareUrl(self._tail, text)
        if not last and len(text) < LIMIT and not url.settled:
            return None
        if url.end >= LIMIT:
            return self._too_long(rf"[{URL_END}]", REMOVED)
        nothing = url.nothing(last=last)
        allowed = nothing if nothing is not False else url.allowed(self._targets, last=last)
        if allowed is None and not last and len(text) < LIMIT:
            return None
        if nothing:
            return _Step(1, text[0])
        if allowed:
            return _Step(url.plain_end, text[: url.plain_end])
        return self._remove(url.taken, REMOVED)

    def _tag(self, text: str, *, last: bool) -> _Step | None:
        """``<`` was seen: a tag, an autolink, or nothing of the kind."""
        if len(text) > 1 and not (text[1].isalpha() or text[1] in "/!?"):
            return _Step(1, "<")
        short = text[: text.find(">") + 1]
        tag = whole_tag(text)
        if autolink := _AUTOLINK.fullmatch(short):
            if tag == short and self._targets.allows(autolink[1], image=False):
                return _Step(len(short), short)
            return self._remove(len(short), REMOVED)
        if tag is None:
            return self._open_tag(text, short, last=last)
        if self._allowed_tag(tag):
            return _Step(len(tag), tag)
        if may_load(tag):
            return self._remove(1 if "<" in tag[1:] else len(tag))
        return self._remove(1) if may_change(tag) else _Step(1, "<")

    def _open_tag(self, text: str, short: str, *, last: bool) -> _Step | None:
        """A tag without an end, or with a quote that has none: ``short`` is what one may take."""
        if not last:
            return self._remove(1) if len(text) >= LIMIT else None
        if short:
            return self._remove(1 if "<" in short[1:] else len(short))
        if may_load(text):
            return self._remove(1 if "<" in text[1:] else len(text))
        return self._remove(1) if may_change(text) else _Step(1, "<")

    def _allowed_tag(self, tag: str) -> bool:
        link, image = _LINK_TAG.fullmatch(tag), _IMAGE_TAG.fullmatch(tag)
        found = link or image
        return found is not None and self._targets.allows(found[1], image=link is None)
