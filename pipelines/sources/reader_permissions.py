"""The readers of a LlamaIndex reader's documents: by metadata, or as Confluence or Drive tells.

Confluence tells by a page's own restrictions, and those of the pages above it. A page without any
is its space's, ``space:KEY``. Restrictions add up: who is to read it is named by each of those on
the way to it. Asked for by search, fifty pages a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from llama_index.core.schema import Document

from pipelines.sources.base import SourceError

_SOME = 50
_NAMES = ("username", "email", "accountId")
"""Names that tell persons apart: on a server of one's own, and in the cloud."""
_READ = ("restrictions.read.restrictions.user", "restrictions.read.restrictions.group")
_EXPAND = ",".join(("space", *_READ, *(f"ancestors.{part}" for part in _READ)))


def restrictions_of(client: Any, pages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The readers of each page by its id; a page that a search does not show is nobody's.

    Raises:
        SourceError: the answer has no restrictions.
    """
    found: dict[str, tuple[str, ...]] = {}
    wanted = list(dict.fromkeys(pages))
    while wanted:
        some, rest = wanted[:_SOME], wanted[_SOME:]
        found |= {page: who for page, who in _asked(client, some) if page in some}
        left = [page for page in some if page not in found]
        if len(left) == len(some):  # it shows fewer a request than it was asked for, but some
            found |= dict.fromkeys(left, ())
            left = []
        wanted = left + rest
    return found


def _asked(client: Any, pages: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    query = {"cql": f"id in ({','.join(pages)})", "expand": _EXPAND, "limit": len(pages)}
    for page in client.get("rest/api/content/search", params=query)["results"]:
        try:
            yield str(page["id"]), _readers(page)
        except (KeyError, TypeError):
            raise SourceError(
                f"Confluence does not tell the restrictions of the page {page.get('id')}"
            ) from None


def _readers(page: Mapping[str, Any]) -> tuple[str, ...]:
    levels = [_named(level) for level in (page, *page["ancestors"])]
    restricted = [names for names in levels if names is not None]
    if not restricted:
        return (f"space:{page['space']['key']}",)
    return tuple(sorted(set.intersection(*restricted)))


def _named(level: Mapping[str, Any]) -> set[str] | None:
    """The readers that a page names; None where it is not restricted."""
    told = level["restrictions"]["read"]["restrictions"]
    persons, groups = told["user"]["results"], told["group"]["results"]
    if not persons and not groups:
        return None
    names = {f"person:{person[name]}" for person in persons for name in _NAMES if person.get(name)}
    return names | {f"group:{group['name']}" for group in groups}


Readers = tuple[str, ...] | None
CONFLUENCE = "llama_index.readers.confluence"
DRIVE = "llama_index.readers.google.drive"


class ReaderPermissions(Protocol):
    """The rule by which readers are told."""

    keys: Sequence[str]
    """The metadata that name readers, and are none of a document's own."""

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """The readers of each document, by its key; of one that is left out nothing is told."""

    def of(self, metadata: Mapping[str, Any]) -> Readers:
        """The readers that metadata name; None where they tell nothing."""

    def of_resource(self, resource: str, info: Mapping[str, Any]) -> Readers:
        """The readers of what a reader lists, of which it says ``info``."""


class Untold:
    """The rule of a source that asks for none."""

    keys: Sequence[str] = ()

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """Nothing."""
        return {}

    def of(self, metadata: Mapping[str, Any]) -> Readers:
        """Nothing."""
        return None

    def of_resource(self, resource: str, info: Mapping[str, Any]) -> Readers:
        """The readers that ``info`` names."""
        return self.of(info)


class NamedReaders(Untold):
    """The readers that metadata of ``keys`` name: texts, or objects that have one in ``fields``.

    A document without any of them is nobody's.
    """

    def __init__(self, keys: Sequence[str], fields: Sequence[str]) -> None:
        self.keys = keys
        self._fields = fields

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """The readers by key: of several documents of one key, those of each."""
        return {
            key: in_all([self.of(each.metadata) for each in documents])
            for key, documents in loaded.items()
        }

    def of(self, metadata: Mapping[str, Any]) -> tuple[str, ...]:
        """The names in order."""
        found = (name for key in self.keys for name in self._names(metadata.get(key)))
        return tuple(sorted(set(found)))

    def _names(self, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            value = [value.get(name) for name in self._fields]
        if isinstance(value, str) and value.strip():
            yield value.strip()
        elif isinstance(value, (list, tuple, set)):
            for item in value:
                yield from self._names(item)


class ConfluencePages(Untold):
    """The readers of pages by their restrictions, asked of the client that the reader has."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """The readers by key."""
        pages = {key: str(each[0].metadata["page_id"]) for key, each in loaded.items()}
        found = restrictions_of(self._client, list(pages.values()))
        return {key: found[page] for key, page in pages.items()}


class DriveFiles(Untold):
    """The readers of files by their permissions, asked with the credentials that the reader has."""

    def __init__(self, reader: Any) -> None:
        from pipelines.sources.drive_permissions import DrivePermissions  # of the reader's packages

        self._permissions = DrivePermissions(reader._get_credentials())

    def of_resource(self, resource: str, info: Mapping[str, Any]) -> Readers:
        """The readers of a file, by its id."""
        return self._permissions.readers(resource)


def reader_permissions(reader: Any, options: Mapping[str, Any]) -> ReaderPermissions:
    """The rule that ``options`` name for what ``reader`` loads.

    Raises:
        SourceError: the reader tells nothing but in its metadata.
    """
    keys = _listed(options.get("readers"))
    if keys:
        return NamedReaders(keys, _listed(options.get("reader_field")))
    if not options.get("permissions"):
        return Untold()
    if is_of(CONFLUENCE, type(reader)):
        return ConfluencePages(reader.confluence)
    if is_of(DRIVE, type(reader)):
        return DriveFiles(reader)
    raise SourceError(
        f"{type(reader).__name__} tells who may read in its documents' metadata alone, if at all:"
        " name them with --option readers=…"
    )


def is_of(package: str, kind: type) -> bool:
    """True where ``kind`` is a class of ``package``, or made from one."""
    return any(each.__module__.startswith(package) for each in kind.__mro__)


def in_all(several: Sequence[Readers]) -> Readers:
    """The readers that are in each of ``several``, one or more."""
    told = [set(each or ()) for each in several]
    return tuple(sorted(set.intersection(*told)))


def _listed(text: Any) -> list[str]:
    return [name.strip() for name in str(text or "").split(",") if name.strip()]


def without(metadata: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """``metadata`` but for ``keys``."""
    return {name: value for name, value in metadata.items() if name not in set(keys)}
