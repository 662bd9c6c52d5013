"""Any reader of LlamaIndex as a source: its documents, by their ids, as texts.

Such a reader loads all it has, so that a sync costs what the reader costs; unchanged documents are
neither read by Helix nor embedded. One that lists its resources is asked for the changed ones only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from inspect import signature
from typing import Any

from llama_index.core.readers.base import BaseReader, ResourcesReaderMixin
from llama_index.core.schema import Document

from pipelines.sources.base import Entry, EntryGone, SourceError
from pipelines.sources.reach import check_hosts
from pipelines.sources.reader_arguments import (
    Arguments,
    Fields,
    arguments_of,
    refuse_sign_ins,
    texts_in,
)
from pipelines.sources.reader_permissions import (
    DRIVE,
    ReaderPermissions,
    is_of,
    reader_permissions,
    without,
)
from pipelines.sources.spool import Spool
from pipelines.valid_metadata import valid_metadata

_LONGEST_NAME = 120
_LONGEST_KEY = 500
_IDS = ("id", "page_id", "doc_id", "document_id", "file_path", "url", "link", "source")
_TIMES = ("last_modified_date", "last_modified", "updated_at", "modified", "modified_at", "edited")
_TITLES = ("title", "page_label", "file_name", "name", "subject")
_LINKS = ("url", "link", "page_url", "drive_link", "source")
_LIMITS = ("max_results", "max_num_results", "num_results", "max_docs", "limit", "page_size")
_MOST_PAGES = 10_000
_MADE_WITH = {"raise_errors": True, "is_cloud": True}
"""Arguments of readers that take them, unless others are given.

What fails is told, where a file would be missing or empty without a word; a token is not written
into the folder that the worker runs in.
"""
_MADE_OF_DRIVE = {"query_string": "trashed = false"}
"""Drive lists for a month what was deleted."""


def open_source(
    address: str, options: Mapping[str, Any], secrets: Mapping[str, str]
) -> LlamaReaderSource:
    """The reader whose class is ``address``, ``package:Class``, made with its arguments.

    A class is code: of a source that was added over HTTP it is one of HELIX_SOURCE_READERS
    (reach.py), and its arguments name hosts alone that such a source may reach.

    Raises:
        SourceError: its package is not installed, or it is no reader, or does not take them.
    """
    arguments = arguments_of(secrets.get("arguments", ""))
    addresses = [text for text in texts_in([arguments.init, arguments.load]) if "://" in text]
    check_hosts(addresses, options.get("allow_hosts"))
    address = address.removeprefix("reader:")
    reader = _made(reader_class(address), address, arguments.init)
    refuse_sign_ins()
    kind = ResourceSource if isinstance(reader, ResourcesReaderMixin) else LlamaReaderSource
    return kind(reader, arguments, reader_permissions(reader, options))


def reader_class(address: str) -> type[BaseReader]:
    """The class that ``package:Class`` names; ``llama-index-readers-jira`` is a package too."""
    package, _, name = address.partition(":")
    module = package.replace("llama-index-readers-", "llama_index.readers.").replace("-", "_")
    try:
        found = getattr(import_module(module), name, None)
    except ImportError as error:
        raise SourceError(_to_install(module, error)) from None
    if not (isinstance(found, type) and issubclass(found, BaseReader)):
        raise SourceError(f"{address} is no reader of LlamaIndex: give package:Class")
    return found


def _to_install(module: str, error: ImportError) -> str:
    missing = error.name or module
    if module == missing or module.startswith(f"{missing}."):
        words = module.split(".")
        is_reader = words[:2] == ["llama_index", "readers"] and len(words) > 2
        missing = f"llama-index-readers-{words[2]}" if is_reader else words[0]
        return f"the reader's package is not installed: pip install {missing.replace('_', '-')}"
    return f"the reader wants a package that is not installed: pip install {missing}"


def _made(kind: type[BaseReader], address: str, values: Mapping[str, Any]) -> BaseReader:
    given = _MADE_WITH | (_MADE_OF_DRIVE if is_of(DRIVE, kind) else {})
    try:
        takes = signature(kind).parameters
        return kind(**{**{name: given[name] for name in given if name in takes}, **values})
    except (ImportError, TypeError, ValueError) as error:
        raise SourceError(f"{address} cannot be made: {error}") from None


class LlamaReaderSource:
    """Documents that a reader loads; keys are their ids."""

    def __init__(self, reader: Any, arguments: Arguments, permissions: ReaderPermissions) -> None:
        self._reader = reader
        self._arguments = arguments
        self._permissions = permissions
        self._spool = Spool()
        self._again: set[str] | None = None

    def entries(self) -> Iterator[Entry]:
        """The documents; those of one id, such as the pages of a file, are one.

        Raises:
            SourceError: the reader may have more than it was asked for.
        """
        self._again = None
        loaded = self._loaded()
        readers = self._permissions.told(loaded)
        for key, documents in loaded.items():
            data = _text_of(documents)
            self._spool.put(key, data)
            found = without(documents[0].metadata, self._permissions.keys)
            entry = _entry(key, found, data, self._arguments.documents)
            yield replace(entry, readers=readers.get(key))
        for name, most in self._limits():
            if sum(map(len, loaded.values())) >= most:
                raise SourceError(
                    f"the reader loads {most} documents at most and may have more: raise {name}"
                    " in [load] of its arguments, or name [pages]"
                )

    def _loaded(self) -> dict[str, list[Document]]:
        documents = [each for part in self._parts() for each in part]
        return _by_key(documents, self._arguments.documents)

    def _limits(self) -> Iterator[tuple[str, int]]:
        """Arguments of load_data that say how many documents it loads at most, as they stand."""
        if self._arguments.pages is not None:
            return
        for name, parameter in signature(self._reader.load_data).parameters.items():
            most = self._arguments.load.get(name, parameter.default)
            if name in _LIMITS and type(most) is int and most > 0:
                yield name, most

    def _parts(self) -> Iterator[list[Document]]:
        """All that the reader loads, in parts where its arguments say how."""
        load, pages = self._arguments.load, self._arguments.pages
        if pages is None:
            yield list(self._reader.load_data(**load))
            return
        for number in range(_MOST_PAGES):
            place = {pages.offset: number * pages.size, pages.limit: pages.size}
            part = list(self._reader.load_data(**load, **place))
            if not part:
                return
            yield part
        raise SourceError(f"the reader's pages have no end: {pages.offset} changes nothing")

    def read(self, entry: Entry) -> bytes:
        """The text of a document as the listing had it."""
        data = self._spool.get(entry.key)
        if data is None:  # there was no room
            documents = self._loaded().get(entry.key)
            if documents is None:
                raise EntryGone("it went while it was read")
            data = _text_of(documents)
        return data

    def is_there(self, key: str) -> bool:
        """False where a second load of the whole does not have it either."""
        if self._again is None:
            self._again = set(self._loaded())
        return key in self._again

    def close(self) -> None:
        """Let go of the texts."""
        self._spool.close()


class ResourceSource(LlamaReaderSource):
    """Resources that a reader lists, by their ids; only what changed is loaded."""

    def entries(self) -> Iterator[Entry]:
        """The resources with the times and sizes that the reader tells of them."""
        for resource in self._reader.list_resources():
            yield self._told(str(resource), self._info(resource))

    def _info(self, resource: Any) -> Mapping[str, Any]:
        """The reader's words on a resource; on its readers too, where these stand elsewhere."""
        info: dict[str, Any] = self._reader.get_resource_info(resource)
        if not self._permissions.keys or info.keys() & set(self._permissions.keys):
            return info
        try:
            return {**info, **self._reader.get_permission_info(resource)}
        except NotImplementedError:
            return info

    def _told(self, key: str, info: Mapping[str, Any]) -> Entry:
        modified = _time(_first(info, self._arguments.documents.modified, _TIMES))
        size = info.get("file_size")
        path = str(info.get("file_name") or info.get("file_path") or key)
        name = path.rpartition("/")[2][-_LONGEST_NAME:]
        return Entry(
            key,
            modified=modified,
            etag=str(info.get("etag") or (modified and size) or ""),  # a size alone tells little
            name=f"{name}.{self._arguments.documents.format}",
            url=_link(_first(info, self._arguments.documents.url, _LINKS)),
            metadata=valid_metadata(without(info, self._permissions.keys)),
            readers=self._permissions.of_resource(key, info),
        )

    def read(self, entry: Entry) -> bytes:
        """The text of a resource."""
        return _text_of(self._reader.load_resource(entry.key))

    def is_there(self, key: str) -> bool:
        """False where a second list does not have it either."""
        if self._again is None:
            self._again = {str(resource) for resource in self._reader.list_resources()}
        return key in self._again


def _by_key(documents: Iterable[Document], fields: Fields) -> dict[str, list[Document]]:
    """The documents by their lasting ids, in the reader's order.

    Raises:
        SourceError: they have none: those that LlamaIndex makes up are others every time.
    """
    documents = list(documents)
    names = (fields.key,) if fields.key else _IDS
    own = not fields.key and all("id_" in each.model_fields_set for each in documents)
    name = next((n for n in names if all(each.metadata.get(n) for each in documents)), None)
    if not own and name is None and documents:
        told_names = ", ".join(sorted(documents[0].metadata)) or "none"
        raise SourceError(
            "the reader's documents have no lasting ids: name one of their metadata"
            f" ({told_names}) as key of [documents] in its arguments"
        )
    found: dict[str, list[Document]] = {}
    for each in documents:
        key = str(each.id_ if own or name is None else each.metadata[name])
        key = key if len(key) <= _LONGEST_KEY else sha256(key.encode()).hexdigest()
        found.setdefault(key, []).append(each)
    return found


def _text_of(documents: Iterable[Document]) -> bytes:
    return "\n\n".join(each.text for each in documents).encode(errors="replace")


def _entry(key: str, found: Mapping[str, Any], data: bytes, fields: Fields) -> Entry:
    title = str(_first(found, fields.title, _TITLES) or key).replace("/", "-")[:_LONGEST_NAME]
    return Entry(
        key,
        size=len(data),
        modified=_time(_first(found, fields.modified, _TIMES)),
        etag=sha256(data).hexdigest(),
        name=f"{title}.{fields.format}",
        url=_link(_first(found, fields.url, _LINKS)),
        metadata=valid_metadata(found),
    )


def _first(metadata: Mapping[str, Any], named: str, usual: Iterable[str]) -> Any:
    names = (named,) if named else usual
    return next((metadata[name] for name in names if metadata.get(name)), None)


def _link(value: Any) -> str:
    text = str(value or "")
    return text if text.startswith(("http://", "https://")) else ""


def _time(value: Any) -> datetime | None:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
