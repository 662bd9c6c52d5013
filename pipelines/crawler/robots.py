"""robots.txt as RFC 9309 has it: the longest rule wins, ``*`` and ``$`` mean what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from protego import Protego

LARGEST = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309, 2.5)."""

# Protego compares names whole, and a group for a robot may name a version of it.
_VERSION = re.compile(r"^([^\S\n]*user-agent\s*:\s*[a-z_-]+)/\S*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Robots:
    """The rules of a site for the robot called ``product``; without ``rules`` all is allowed."""

    product: str = ""
    rules: Protego = field(default_factory=Protego)

    @property
    def delay(self) -> float:
        """Seconds between two requests that the site asks for."""
        return self.rules.crawl_delay(self.product) or 0.0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Addresses of sitemaps, as they are written."""
        return tuple(self.rules.sitemaps)

    def allows(self, url: str) -> bool:
        """True where a normalised ``url`` of this site may be asked for."""
        return self.rules.can_fetch(url, self.product)


def parse(text: str, product: str) -> Robots:
    """The rules of ``text`` for the robot called ``product``; what is no rule is passed over."""
    return Robots(product, Protego.parse(_VERSION.sub(r"\1", text.removeprefix("\ufeff"))))
