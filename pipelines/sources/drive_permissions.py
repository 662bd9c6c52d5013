"""The readers of Google Drive's files: by the permissions that Drive lists of each of them.

A list has what a file inherits too, from folders and from its shared drive. It is shown to accounts
that may share the file, and to members of its shared drive; to others the file is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

_PAGE = 100
"""Permissions that are told at once, at most."""
_RETRIES = 5
"""Further requests where Drive is busy, each after twice the wait of the one before."""
_FIELDS = "nextPageToken,permissions(type,role,view,deleted,emailAddress,domain,allowFileDiscovery)"
_ROLES = frozenset(("owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"))
_PERSONS = {"user": "person", "group": "group"}
_HIDDEN = frozenset(("insufficientFilePermissions", "appNotAuthorizedToFile", "notFound"))
"""The reasons that are one file's; any other is the account's or the project's, or Drive is busy.

From https://developers.google.com/workspace/drive/api/guides/handle-errors.
"""


class DrivePermissions:
    """The permissions of Drive, as ``credentials`` may see them."""

    def __init__(self, credentials: Any) -> None:
        self._permissions = build("drive", "v3", credentials=credentials).permissions()

    def readers(self, file: str) -> tuple[str, ...]:
        """The readers of a file, by its id, in order; none where its permissions are not shown.

        Raises:
            HttpError: Drive does not answer, or refuses more than this file.
        """
        try:
            return tuple(sorted(set(filter(None, map(_named, self._told(file))))))
        except HttpError as error:
            if _is_hidden(error):
                return ()
            raise

    def _told(self, file: str) -> Iterator[Mapping[str, Any]]:
        request = self._permissions.list(
            fileId=file, supportsAllDrives=True, pageSize=_PAGE, fields=_FIELDS
        )
        while request is not None:
            answer = request.execute(num_retries=_RETRIES)
            yield from answer.get("permissions", ())
            request = self._permissions.list_next(request, answer)


def _is_hidden(error: HttpError) -> bool:
    told = [each for each in error.error_details if isinstance(each, Mapping)]
    return any(each.get("reason") in _HIDDEN for each in told)


def _named(permission: Mapping[str, Any]) -> str:
    """The reader that a permission names; empty where it lets nobody read.

    One of a view shows another version or the name alone. Without discovery, only who has the link
    gets to the file.
    """
    kind = permission.get("type")
    if permission.get("view") or permission.get("deleted") or permission.get("role") not in _ROLES:
        return ""
    if kind in _PERSONS:
        address = permission.get("emailAddress")
        return f"{_PERSONS[kind]}:{address}" if address else ""
    is_found = permission.get("allowFileDiscovery") is True
    if kind == "domain":
        domain = permission.get("domain")
        return f"{'domain' if is_found else 'link'}:{domain}" if domain else ""
    if kind == "anyone":
        return "everyone" if is_found else "link"
    return ""
