"""The readers of a LlamaIndex reader's documents: by metadata, or Confluence's restrictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from llama_index.core.schema import Document

from pipelines.sources.base import SourceError
from pipelines.sources.confluence_restrictions import restrictions_of

Readers = tuple[str, ...] | None
_CONFLUENCE = "llama_index.readers.confluence"


class ReaderPermissions(Protocol):
    """The rule by which readers are told."""

    keys: Sequence[str]
    """The metadata that name readers, and are none of a document's own."""

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """The readers of each document, by its key; of one that is left out nothing is told."""

    def of(self, metadata: Mapping[str, Any]) -> Readers:
        """The readers that metadata name; None where they tell nothing."""


class Untold:
    """The rule of a source that asks for none."""

    keys: Sequence[str] = ()

    def told(self, loaded: Mapping[str, Sequence[Document]]) -> Mapping[str, Readers]:
        """Nothing."""
        return {}

    def of(self, metadata: Mapping[str, Any]) -> Readers:
        """Nothing."""
        return None


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
    if any(each.__module__.startswith(_CONFLUENCE) for each in type(reader).__mro__):
        return ConfluencePages(reader.confluence)
    raise SourceError(
        f"{type(reader).__name__} tells who may read in its documents' metadata alone, if at all:"
        " name them with --option readers=…"
    )


def in_all(several: Sequence[Readers]) -> Readers:
    """The readers that are in each of ``several``, one or more."""
    told = [set(each or ()) for each in several]
    return tuple(sorted(set.intersection(*told)))


def _listed(text: Any) -> list[str]:
    return [name.strip() for name in str(text or "").split(",") if name.strip()]


def without(metadata: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """``metadata`` but for ``keys``."""
    return {name: value for name, value in metadata.items() if name not in set(keys)}
