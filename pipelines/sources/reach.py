"""The reach of a source that was added over HTTP: folders and hosts that the settings allow."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from helix.domain.source_kinds import SCP_ADDRESS
from helix.library.sources import Source
from helix.settings import Settings
from pipelines.crawler.addresses import literal
from pipelines.crawler.guard import refusal_reason
from pipelines.sources.base import SourceError
from pipelines.sources.peers import plain_host

_BUCKETS = frozenset(("s3", "gs", "gcs", "az", "abfs", "abfss", "dropbox"))
"""Schemes whose host is a bucket of a service that is everybody's."""


_AMBIGUOUS = re.compile(r"[\\\s]")
"""Browsers, and what reads addresses as they do, take a backslash for a slash."""


def check_reach(source: Source, settings: Settings) -> None:
    """Return where the source may be opened; one that whoever runs the server added always may.

    Raises:
        SourceError: it is a folder outside HELIX_SOURCE_FOLDERS, or leads to a private address that
            HELIX_ALLOW_HOSTS does not name.
    """
    if source.trusted:
        return
    if source.kind == "reader":
        _check_reader(source.address, settings.source_readers)
        return
    texts = [source.address, *(str(value) for value in source.options.values())]
    check_hosts(texts, settings.allow_hosts)
    is_remote = any(hosts_in(source.address)) or _scheme(source.address) in _BUCKETS
    if not is_remote:
        _check_folder(source.address, settings.source_folders)


def check_hosts(texts: Iterable[str], allowed: Sequence[str] | None) -> None:
    """Return where each host that ``texts`` name may be reached; None allows all.

    Raises:
        SourceError: one of them is private, and not among those allowed.
    """
    if allowed is None:
        return
    for text in texts:
        for host in hosts_in(text):
            _check_host(host, allowed)


def _check_reader(address: str, allowed: Sequence[str]) -> None:
    if address.removeprefix("reader:") not in allowed:
        raise SourceError(
            f"{address} is code, and not in HELIX_SOURCE_READERS: name it there, or add the source"
            " where the server runs, by `helix source add`"
        )


def hosts_in(text: str) -> Iterator[str]:
    """The hosts that an address names: of a URL, or as ``git@host:path``.

    Raises:
        SourceError: it is a URL whose host is another for programs that read it otherwise.
    """
    if "://" not in text:
        if match := SCP_ADDRESS.fullmatch(text):
            yield match[2]
        return
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        raise SourceError(f"there is no host in {text}") from None
    if parts.scheme not in ("", "file", *_BUCKETS):
        if not host or _AMBIGUOUS.search(parts.netloc):
            raise SourceError(f"there is no host in {text}, or not for every program the same")
        yield host


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower() if "://" in address else ""


def _check_host(host: str, allowed: Sequence[str]) -> None:
    named = {name.lower().strip("[]") for name in allowed}
    named |= {name.lower().rpartition(":")[0].strip("[]") for name in allowed}
    plain = plain_host(host)
    try:
        spelled = literal(plain)
        found = socket.getaddrinfo(plain, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError):
        raise SourceError(f"there is no host {host}") from None
    for address in {str(entry[4][0]) for entry in found}:
        why = refusal_reason(address, bool(named & {host.lower(), plain}), is_name=spelled is None)
        if why:
            raise SourceError(
                f"the address of {host} is {why}: allow it with HELIX_ALLOW_HOSTS={host}, or add"
                " the source where the server runs, by `helix source add`"
            )


def _check_folder(address: str, folders: tuple[str, ...]) -> None:
    wanted = Path(address.removeprefix("file://")).resolve()
    if not any(wanted.is_relative_to(Path(folder).resolve()) for folder in folders):
        raise SourceError(
            f"{address} is in no folder of HELIX_SOURCE_FOLDERS: name its folder there, or add the"
            " source where the server runs, by `helix source add`"
        )
