"""Bare URLs: where one ends in running text, and whether it may stay there.

The reading is the strictest there is: a URL parser maps other full stops and letters to ASCII,
reads a backslash as a slash, drops tabs and line ends, and takes what stands before ``@`` for a
user name; some renderers link all up to the next white space. So after an allowed host nothing may
follow but ``/ ? #``, or the punctuation and the markers that close a sentence.
"""

from __future__ import annotations

import re

from helix.answering.guardrails.targets import URL_END, Targets, trimmed

STARTS = (
    r"(?<![A-Za-z0-9/])/"
    r"|(?<=(?<![A-Za-z0-9])www)[.。．｡]"
    r"|(?:(?<=(?<![A-Za-z0-9])https:)|(?<=(?<![A-Za-z0-9])http:)|(?<=(?<![A-Za-z0-9])ftp:)"
    r"|(?<=(?<![A-Za-z0-9])mailto:)|(?<=(?<![A-Za-z0-9])xmpp:))[^\s\"'`<>()\[\]{}|*,;.!?]"
)
"""The pattern of a bare URL's start, behind what has been let through."""

_PLAIN_RUN = re.compile(rf"[^{URL_END}]*+")
_RUN = re.compile(
    rf"(?>(?:[^{URL_END}]++|[。\\]+(?=[!-~])|[\t\r\n]+(?=[.@:\\/%。．｡])"
    r"|(?:\[\d{1,3}\]|[\"'|{}^`]+)(?=@))*)"
)
_RUN_MAY_GO_ON = re.compile(r"[。\\]*|[\t\r\n]*|\[\d{0,3}\]?|[\"'|{}^`]*")
_CLOSING = re.compile(
    r"(?>(?:[.,;:!?'\")\]}*_~>`|”’»」』）】》。，、；：！？…]"
    r"|\[\d{1,3}\]|</?[a-z]{1,10}\d? ?/?>)*)",
    re.IGNORECASE,
)
_CLOSING_MAY_GO_ON = re.compile(r"\[\d{0,3}|</?(?:[a-z]{1,10}\d? ?/?)?", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:$", re.IGNORECASE | re.ASCII)
_LINKED_SCHEMES = ("http:", "https:", "ftp:", "mailto:", "xmpp:")
_LEAD = re.compile(r"[/\\.。．｡]*+")
# a comment, an XPath: no host that is sold
_LOCAL = re.compile(r"[/\\]*+[\w-]*+(?>(?:/[\w-]++)*)/?+")


class BareUrl:
    """A bare URL, or what might become one.

    Args:
        before: the text that was let through, its last 40 characters at least.
        text: the text that follows, from a match of ``STARTS`` on.
    """

    def __init__(self, before: str, text: str) -> None:
        self._text = text
        run, plain = _RUN.match(text), _PLAIN_RUN.match(text)
        assert run is not None  # both may be empty
        assert plain is not None
        self.end, self.plain_end = run.end(), plain.end()
        scheme = _SCHEME.search(before) if text[0] not in ".。．｡" else None
        self._scheme = scheme[0].lower() if scheme else ""
        if self._scheme:
            self._prefix = scheme[0] if scheme else ""
        else:
            self._prefix = "https:" if text[0] == "/" else "http://www"

    @property
    def settled(self) -> bool:
        """True if the run's end stays the same whatever follows the text."""
        return _RUN_MAY_GO_ON.fullmatch(self._text, self.end) is None

    def nothing(self, *, last: bool) -> bool | None:
        """True if the run is no URL: a slash, a comment, a full stop; None: the text decides."""
        if self._scheme in _LINKED_SCHEMES or self._text[0] in ".。．｡":
            lead = _LEAD.match(self._text)
            assert lead is not None  # it may be empty
            only = not trimmed(self._text[: self.end]).lstrip("/\\.。．｡")
            return self._closed(lead.end(), last=last) if only else False
        if not self._text.startswith("//"):
            return True
        run = trimmed(self._text[: self.end])
        return not run.lstrip("/\\") if self._scheme else _LOCAL.fullmatch(run) is not None

    @property
    def taken(self) -> int:
        """Characters to take out where it may not stay."""
        return max(len(trimmed(self._text[: self.end])), 1)

    def allowed(self, targets: Targets, *, last: bool) -> bool | None:
        """True if the URL may stay; None: that depends on what follows the text."""
        spelled = self._prefix + self._text
        host = targets.host_end(spelled)
        if host is not None and spelled[host : host + 1] in ("/", "?", "#"):
            return True
        if host is not None:
            return self._closed(host - len(self._prefix), last=last)
        url = trimmed(self._prefix + self._text[: self.plain_end])
        if not any(targets.allows(one, image=False) for one in (url, url.removeprefix("http://"))):
            # `https://<server>/` or `{server}`, which a source has: no host, so it leads nowhere
            is_blank = bool(self._scheme) and self._text.startswith(("//<", "//{"))
            return self._quoted(targets, last=last) if is_blank else False
        end = len(url) - len(self._prefix)
        closed = self._closed(end, last=last)
        return closed if closed is not False else self._quoted(targets, last=last)

    def _closed(self, end: int, *, last: bool) -> bool | None:
        """True if only what closes a sentence stands between ``end`` and the next white space."""
        closing = _CLOSING.match(self._text, end)
        assert closing is not None  # it may be empty
        at = closing.end()
        if at == len(self._text) or _CLOSING_MAY_GO_ON.fullmatch(self._text, at):
            return (at == len(self._text)) if last else None
        return self._text[at].isspace() and self.end <= at

    def _quoted(self, targets: Targets, *, last: bool) -> bool | None:
        """True if a source has the URL and all behind it up to white space (if there is any)."""
        word = re.match(r"\S*+", self._text)
        assert word is not None  # it may be empty
        if word.end() == len(self._text) and not last:
            return None
        prefix = self._prefix.removeprefix("http://www") or "www"
        return targets.quotes(_without_closing(prefix + word[0]))


def _without_closing(word: str) -> str:
    """``word`` without the punctuation and the markers at its end."""
    while found := re.search(r"(?:\[\d{1,3}\]|[.,;:!?'\")*_~。，、；：！？…])\Z", word):
        word = word[: found.start()]
    return word
