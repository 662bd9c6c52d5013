"""The readers of files by the shares of Nextcloud and ownCloud, asked for with the listing itself.

A share is told where it was made, and holds for all that lies below. ownCloud tells owners and
links alone; servers of plain WebDAV answer that there are no such properties.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from httpx import HTTPError
from webdav4.client import Client
from webdav4.multistatus import parse_multistatus_response

from pipelines.sources.listed_permissions import Told

Readers = tuple[str, ...] | None

_OC, _NC = "http://owncloud.org/ns", "http://nextcloud.org/ns"
_ASKED = (
    f'<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:" xmlns:oc="{_OC}"'
    f' xmlns:nc="{_NC}"><d:prop><d:resourcetype/><d:getcontentlength/><d:getetag/>'
    "<d:getlastmodified/><oc:owner-id/><oc:share-types/><nc:sharees/></d:prop></d:propfind>"
)
_LINK = "3"
_KINDS = {"0": "person", "1": "group", "4": "mail", "6": "remote", "7": "circle", "10": "room"}
"""The numbers that shares have there (OCP\\Share\\IShare); of others nobody is let in."""


class SharesClient(Client):  # type: ignore[misc]  # it is of no type
    """A client of WebDAV whose listings tell ``shared`` of each file and folder."""

    _told: dict[str, Readers]

    def propfind(self, path: str, data: str | None = None, *given: Any, **more: Any) -> Any:
        """The answer to a request that asks for shares too."""
        found = super().propfind(path, data or _ASKED, *given, **more)
        self._told = {
            each.path_relative_to(self.base_url): shared_of(each.response_xml)
            for each in found.responses.values()
        }
        return found

    def ls(self, *given: Any, **more: Any) -> Any:
        """The files and folders of a folder."""
        return [
            {**each, "shared": self._told.get(each["name"])} for each in super().ls(*given, **more)
        ]

    def above(self) -> Readers:
        """The readers of the folder that is the source, by its own shares and those above it."""
        url, found = self.base_url, self._shared(str(self.base_url))
        while found is not None and url.path.strip("/"):
            url = url.copy_with(path=url.path.rstrip("/").rpartition("/")[0] + "/")
            try:
                more = self._shared(str(url))
            except (HTTPError, ValueError):
                break
            if more is None:
                break
            found = joined(found, more)
        return found

    def _shared(self, url: str) -> Readers:
        answer = self.http.request("PROPFIND", url, headers={"Depth": "0"}, content=_ASKED)
        answer.raise_for_status()
        responses = parse_multistatus_response(answer).responses.values()
        return next((shared_of(each.response_xml) for each in responses), None)


class SharePermissions:
    """The rule of shares: what lies in a shared folder is shared too."""

    def __init__(self, client: SharesClient) -> None:
        self._client = client

    def at_root(self) -> Readers:
        """The readers of all that the source has."""
        return self._client.above()

    def below(self, within: Readers, told: Told) -> Readers:
        """The readers of all in a folder."""
        return joined(within, told.get("shared"))

    def readers(self, within: Readers, told: Told) -> Readers:
        """The readers of a file."""
        return joined(within, told.get("shared"))


def joined(within: Readers, own: Readers) -> Readers:
    """The readers of both; None where neither is told."""
    if within is None or own is None:
        return own if within is None else within
    return tuple(sorted({*within, *own}))


def shared_of(response: Element) -> Readers:
    """The readers that one response of a listing names; None where it has no such property."""
    found: set[str] = set()
    is_told = False
    for part in response.findall("{DAV:}propstat"):
        if " 200" not in (part.findtext("{DAV:}status") or ""):
            continue
        owner = part.find(f".//{{{_OC}}}owner-id")
        sharees = part.find(f".//{{{_NC}}}sharees")
        is_told = is_told or owner is not None or sharees is not None
        if owner is not None and owner.text:
            found.add(f"person:{owner.text}")
        if any(each.text == _LINK for each in part.iter(f"{{{_OC}}}share-type")):
            found.add("link")
        found.update(filter(None, map(_sharee, part.iter(f"{{{_NC}}}sharee"))))
    return tuple(sorted(found)) if is_told else None


def _sharee(element: Element) -> str:
    kind, name = (element.findtext(f"{{{_NC}}}{part}") or "" for part in ("type", "id"))
    if kind == _LINK:  # it was its password that stood there in old versions
        return "link"
    return f"{_KINDS[kind]}:{name}" if kind in _KINDS and name else ""
