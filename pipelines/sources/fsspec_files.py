"""Files that fsspec reaches as a source: WebDAV and Nextcloud, SFTP, and whatever else it knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import fsspec
from fsspec.spec import AbstractFileSystem

from pipelines.sources.base import Entry, EntryGone, SourceError
from pipelines.sources.listed_permissions import Permissions, PosixPermissions, Untold
from pipelines.sources.peers import check_peer, checked_transport, host_keys

_SECONDS = 60.0
_TIMES = ("modified", "mtime", "last_modified", "LastModified", "updated", "last-modified")
_ETAGS = ("etag", "ETag", "e_tag", "md5Hash", "content_md5", "sha1", "content_hash")
_GONE = (FileNotFoundError, NotADirectoryError)
_NOT_CACHED = {"skip_instance_cache": True, "use_listings_cache": False}


def open_source(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> FileSource:
    """The files below ``address``: of WebDAV (https), of SFTP, or of another protocol of fsspec.

    Raises:
        SourceError: no such address, or the server does not let the user in.
    """
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https", "webdav", "webdavs"):
        return _webdav(address, options, secrets)
    if scheme in ("sftp", "ssh"):
        return _sftp(address, options, secrets)
    if options.get("allow_hosts") is not None:
        raise SourceError(
            f"{scheme}:// is opened where whoever runs the server added it, by `helix source add`"
        )
    try:
        values = json.loads(secrets.get("arguments") or "{}")
        files, root = fsspec.url_to_fs(address, **values, **_NOT_CACHED)
    except ValueError as error:
        raise SourceError(f"{address} cannot be opened: {error}") from None
    return FileSource(files, root, address)


def _webdav(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> FileSource:
    from webdav4.client import Client
    from webdav4.fsspec import WebdavFileSystem

    from pipelines.sources.nextcloud_shares import SharePermissions, SharesClient

    parts = urlsplit(address)
    scheme = "https" if parts.scheme in ("https", "webdavs") else "http"
    host = parts.netloc.rpartition("@")[2]
    user = unquote(parts.username or "") or str(options.get("user") or "")
    kind = SharesClient if options.get("permissions") else Client
    client = kind(
        f"{scheme}://{host}{parts.path.rstrip('/')}/",
        auth=(user, secrets.get("password", "")) if user else None,
        timeout=_SECONDS,
        follow_redirects=False,
        transport=checked_transport(options.get("allow_hosts")),
    )
    told = SharePermissions(client) if isinstance(client, SharesClient) else None
    files = WebdavFileSystem("", client=client, skip_instance_cache=True)
    return FileSource(files, "", address, told)


def _sftp(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> FileSource:
    import asyncssh
    from sshfs import SSHFileSystem

    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or 22
    key = secrets.get("private_key")
    lines = [f"[{host}]:{port} {each}" for each in host_keys(str(options.get("host_key") or ""))]
    try:
        known = asyncssh.import_known_hosts("\n".join(lines)) if lines else ()
        keys = [asyncssh.import_private_key(key, secrets.get("passphrase"))] if key else None
        files = SSHFileSystem(
            host,
            port=port,
            username=unquote(parts.username or "") or None,
            password=secrets.get("password"),
            client_keys=keys,
            known_hosts=known,
            agent_path=None,
            config=[],
            login_timeout=_SECONDS,
            skip_instance_cache=True,
        )
    except asyncssh.HostKeyNotVerifiable:
        raise SourceError(
            f"the key of {host} is not known: give what `ssh-keyscan {host}` prints as host_key"
        ) from None
    except (asyncssh.Error, asyncssh.KeyImportError, OSError) as error:
        raise SourceError(f"{host} does not let you in: {error}") from None
    check_peer(files.client.get_extra_info("peername")[0], host, options.get("allow_hosts"))
    root = unquote(parts.path) or "."
    told = PosixPermissions(files, root) if options.get("permissions") else None
    return FileSource(files, root, address, told)


class FileSource:
    """The files below a folder but hidden ones; keys are paths within it, with slashes."""

    def __init__(
        self,
        files: AbstractFileSystem,
        root: str,
        address: str,
        permissions: Permissions | None = None,
    ) -> None:
        self._files: AbstractFileSystem | None = files
        self._root = root.rstrip("/") or ("/" if root.startswith("/") else "")
        self._address = address.rpartition("@")[2]
        self._permissions = permissions or Untold()

    def entries(self) -> Iterator[Entry]:
        """The files; a folder that may not be listed makes the listing incomplete."""
        unread: list[str] = []
        yield from self._below("", None, unread)
        if unread:
            more = f" and {len(unread) - 1} more" if unread[1:] else ""
            raise SourceError(f"cannot be listed: {unread[0]}{more}")

    def _below(self, folder: str, within: Any, unread: list[str]) -> Iterator[Entry]:
        try:
            within = within if folder else self._permissions.at_root()
            children = self._listed(folder)
        except Exception as error:  # noqa: BLE001 - each protocol has its own
            if not folder or not isinstance(error, _GONE):  # a folder below may have gone meanwhile
                unread.append(f"{folder or self._address} ({error or type(error).__name__})")
            return
        for child in children:
            name = str(child["name"]).rstrip("/").rpartition("/")[2]
            if not name or name.startswith("."):
                continue
            if child.get("type") == "directory":
                inner = self._permissions.below(within, child)
                yield from self._below(f"{folder}{name}/", inner, unread)
            elif child.get("type") == "file":
                readers = self._permissions.readers(within, child)
                yield _entry(f"{folder}{name}", child, readers)

    def _listed(self, folder: str) -> list[dict[str, Any]]:
        assert self._files is not None
        found: list[dict[str, Any]] = self._files.ls(self._path(folder.rstrip("/")), detail=True)
        return sorted(found, key=lambda child: str(child["name"]))

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/") or "/" if self._root else key

    def read(self, entry: Entry) -> bytes:
        """The bytes of a file."""
        assert self._files is not None
        try:
            return bytes(self._files.cat_file(self._path(entry.key)))
        except _GONE:
            raise EntryGone("it went while it was read") from None

    def is_there(self, key: str) -> bool:
        """False where its folder, or the whole of it, is listed without it."""
        assert self._files is not None
        try:
            return str(self._files.info(self._path(key)).get("type")) == "file"
        except _GONE:
            self._listed("")  # raises where the whole is away
            return False

    def close(self) -> None:
        """Let the connection go: it ends with its last user."""
        self._files = None


def _entry(key: str, told: Mapping[str, Any], readers: tuple[str, ...] | None) -> Entry:
    etag = next((str(told[name]) for name in _ETAGS if told.get(name)), "")
    time = next((told[name] for name in _TIMES if told.get(name)), None)
    size = told.get("size")
    size = int(size) if size is not None else None
    return Entry(key, size=size, modified=_time(time), etag=etag, readers=readers)


def _time(value: Any) -> datetime | None:
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
