"""robots.txt as RFC 9309 has it: the longest rule wins, ``*`` and ``$`` mean what they say.

urllib.robotparser takes the first rule that fits and knows no wildcards, so it fetches what
``Disallow: /*/edit`` forbids.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipelines.crawler.urls import path_of

LARGEST = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309, 2.5)."""

_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#\r\n]*)")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_MOST_RULES = 5_000


@dataclass
class _Group:
    agents: list[str] = field(default_factory=list)
    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay: float = 0.0


@dataclass(frozen=True)
class Robots:
    """What a site allows: ``rules`` (pattern, allowed), ``delay`` in seconds, sitemap addresses."""

    rules: tuple[tuple[str, bool], ...] = ()
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """Whether a normalised ``url`` of this site may be asked for."""
        path = _plain(path_of(url))
        best = (-1, True)
        for pattern, allowed in self.rules:
            if len(pattern) >= best[0] and _matches(pattern, path):
                best = max(best, (len(pattern), allowed))  # of equal ones, the one that allows
        return best[1]


def parse(text: str, product: str) -> Robots:
    """The rules of ``text`` for the robot called ``product``; what is no rule is passed over."""
    groups: list[_Group] = []
    sitemaps: list[str] = []
    naming = False  # whether the line before named an agent
    for line in text.removeprefix("\ufeff").splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "sitemap":
            sitemaps.append(value)
        elif name == "user-agent":
            if not naming:
                groups.append(_Group())
            groups[-1].agents.append(value.lower())
        elif groups:
            _add(groups[-1], name, value)
        naming = name == "user-agent" or (naming and name == "sitemap")
    chosen = _chosen(groups, product.lower())
    rules = [rule for group in chosen for rule in group.rules]
    delay = max((group.delay for group in chosen), default=0.0)
    return Robots(tuple(rules[:_MOST_RULES]), delay, tuple(sitemaps))


def _add(group: _Group, name: str, value: str) -> None:
    if name in ("allow", "disallow") and value:  # an empty rule forbids nothing
        group.rules.append((_plain(value), name == "allow"))
    elif name == "crawl-delay" and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value):
        group.delay = float(value)


def _chosen(groups: list[_Group], product: str) -> list[_Group]:
    """All groups that name the robot, else all for everybody."""
    mine = [group for group in groups if product in map(_agent, group.agents)]
    return mine or [group for group in groups if "*" in group.agents]


def _agent(value: str) -> str:
    match = re.match(r"[a-z_-]+", value)
    return match[0] if match else ""


def _plain(path: str) -> str:
    """Escapes in one spelling, so that ``/%7ejoe`` and ``/~joe`` are the same."""
    encoded = "".join(c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode()) for c in path)

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if re.fullmatch(r"[A-Za-z0-9._~-]", character) else match[0].upper()

    return _ESCAPE.sub(one, encoded)


def _matches(pattern: str, path: str) -> bool:
    """``*`` is anything, ``$`` at the end the end; time grows with the two lengths, no faster.

    A regular expression with many ``*`` would take time without end on a path made for it.
    """
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not anchored or path == first
    position, last = len(first), rest.pop()
    for part in rest:
        found = path.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    if anchored:
        return len(path) - len(last) >= position and path.endswith(last)
    return path.find(last, position) >= 0
