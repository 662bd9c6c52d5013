"""One spelling for each address: what makes two links the same page, and what is on the site."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import httpx

from helix.errors import BadRequest
from pipelines.crawler.addresses import literal, unwrapped

LONGEST_URL = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

_TRACKING = re.compile(r"(?:utm_\w+|gclid|fbclid|msclkid|mc_cid|mc_eid|_ga)(?:=|$)", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NEVER = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
"""Browsers take a backslash for a slash, other parsers do not: two hosts in one address."""
_INDEX = re.compile(r"/index\.(?:html?|xhtml|php)$", re.IGNORECASE)


class BadUrl(BadRequest):
    """Not an address that can be imported; one line that says why."""


def normalise(url: str, base: str | None = None) -> str:
    """``url`` (relative to ``base``) in the one spelling: no fragment, default port or tracking.

    The host is in lower case and ASCII, an address among its spellings the usual one; escapes are
    as RFC 3986 wants them; dot segments are gone.

    Raises:
        BadUrl: no http or https address, or one with a user name, a backslash, no valid host.
    """
    text = re.sub(r"[\t\n\r]", "", url.strip())  # as browsers do with a link
    if len(text) > LONGEST_URL or _NEVER.search(text):
        raise BadUrl("not a web address: too long, or characters that no address has")
    try:
        parts = urlsplit(urljoin(base, text) if base else text)
        port = parts.port
    except ValueError:
        raise BadUrl("not a web address: its host or port is malformed") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadUrl("only http:// and https:// addresses can be imported")
    if "@" in parts.netloc:
        raise BadUrl("an address with a user name cannot be imported: leave out what is before @")
    host = normal_host(parts.hostname or "")
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != DEFAULT_PORTS[parts.scheme]:
        netloc = f"{netloc}:{port}"
    path = _without_dots(_escaped(parts.path, "/:@!$&'()*+,;="))
    return urlunsplit((parts.scheme, netloc, path, _query(parts.query), ""))


def try_normalise(url: str, base: str) -> str | None:
    """``normalise``, or None where it raises: mailto:, javascript: and the like."""
    try:
        return normalise(url, base)
    except BadUrl:
        return None


def normal_host(host: str) -> str:
    """``host`` in lower-case ASCII; an address as it is usually spelled, without brackets.

    Raises:
        BadUrl: neither a name nor an address.
    """
    host = unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower()
    host = host.removesuffix(".")
    try:
        if "%" in host:  # an escape, or the zone of a link-local address
            raise ValueError
        if not host.isascii():
            host = httpx.URL(f"http://{host}/").raw_host.decode("ascii")
        address = literal(host)
    except (ValueError, httpx.InvalidURL):
        raise BadUrl(f"not a web address: no valid host {host[:80]!a}") from None
    if address is not None:
        return str(unwrapped(address))
    if not _HOST_NAME.fullmatch(host):
        raise BadUrl("not a web address: it has no valid host")
    return host


def _escaped(text: str, safe: str) -> str:
    def one(match: re.Match[str]) -> str:
        if not match[1]:
            return "%25"
        character = chr(int(match[1], 16))
        return character if _UNRESERVED.fullmatch(character) else match[0].upper()

    return quote(_ESCAPE.sub(one, text), safe=safe + "%~")


def _without_dots(path: str) -> str:
    resolved: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return "/" + "/".join(resolved)


def _query(query: str) -> str:
    parameters = [part for part in query.split("&") if part and not _TRACKING.match(part)]
    return _escaped("&".join(parameters), "/?:@!$&'()*+,;=[]")


def identity(url: str) -> str:
    """The page that a normalised ``url`` shows: without the name of a folder's index file."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=_INDEX.sub("/", parts.path)))


def origin_of(url: str) -> str:
    """``scheme://host[:port]`` of a normalised URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def file_name(url: str) -> str:
    """The last part of the path; empty for a folder."""
    return urlsplit(url).path.rpartition("/")[2]


@dataclass(frozen=True)
class Site:
    """The bounds of a crawl: one origin, and one part of its paths.

    A ``prefix`` that ends with a slash is a folder; another one is that page and what is under it.
    """

    origin: str
    prefix: str

    @classmethod
    def around(cls, start: str, prefix: str | None = None) -> Site:
        """The site of a normalised ``start``.

        Without ``prefix``: the start's path where it is a folder or has no suffix, else the folder
        it is in. (``/docs`` covers ``/docs/a`` and not ``/docs-old``; ``/docs/a.html``, ``/docs/``)
        """
        if prefix is None:
            path = urlsplit(identity(start)).path
            folder, _, name = path.rpartition("/")
            prefix = f"{folder}/" if "." in name else path
        return cls(origin_of(start), prefix)

    def covers(self, url: str) -> bool:
        """True where a normalised ``url`` belongs to the site."""
        path = urlsplit(url).path
        folder = self.prefix if self.prefix.endswith("/") else f"{self.prefix}/"
        return origin_of(url) == self.origin and (path == self.prefix or path.startswith(folder))

    def adopt(self, url: str) -> str:
        """A link to the same host by http where the site has https, or the reverse, as the site's.

        Sitemaps of sites that moved to https often still say http.
        """
        mine, other = urlsplit(self.origin), urlsplit(url)
        same_host = mine.netloc == other.netloc and mine.port is None
        return urlunsplit(other._replace(scheme=mine.scheme)) if same_host else url
