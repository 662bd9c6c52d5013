"""OpenDocument files of any kind: opened safely, with their properties; and the text in them.

An element's or attribute's name counts without its namespace: no two that are read differ by it.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.office import given_title, guarded, is_element, local_name, part_of
from pipelines.valid_metadata import valid_metadata

SAFE: Mapping[str, bool] = {"resolve_entities": False, "no_network": True, "load_dtd": False}
SHAPES = frozenset(
    "frame custom-shape rect ellipse circle line polyline polygon regular-polygon path connector "
    "caption g".split()
)
"""Drawn elements, which have paragraphs of their own (OpenDocument 1.3, 10.3)."""
_LEFT_OUT = SHAPES | frozenset(
    "note annotation annotation-end tracked-changes ruby-text event-listeners".split()
)
_WHITE = re.compile(r"[ \t\r\n]+")
_LONGEST_GAP = 100  # spaces
_RAISED = ("super", *"123456789")  # what a position begins with


class Package:
    """The parts of a file by name."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def xml(self, name: str) -> Any:
        """The root of a part; raises KeyError where there is none of this name."""
        return etree.fromstring(part_of(self._archive, name), etree.XMLParser(**SAFE))

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(name)

    def styles(self) -> Iterator[Any]:
        """The root of the part that has the styles, if there is such a part."""
        with suppress(KeyError):
            yield self.xml("styles.xml")

    def properties(self) -> tuple[str | None, dict[str, Any]]:
        """The title that somebody gave; as metadata the author, and the day of the last change."""
        try:
            meta = self.xml("meta.xml")
        except (KeyError, etree.XMLSyntaxError):
            return None, {}
        author = meta.findtext(".//{*}initial-creator") or meta.findtext(".//{*}creator")
        told = {"author": author, "date": (meta.findtext(".//{*}date") or "")[:10]}
        return given_title(meta.findtext(".//{*}title")), valid_metadata(told)


@contextmanager
def opened(data: bytes, what: str) -> Iterator[Package]:
    """A file's parts; around the reading of them as ``guarded`` is.

    Raises:
        UnreadableFile: encrypted, or damaged.
    """
    with guarded(data, what), zipfile.ZipFile(io.BytesIO(data)) as archive:
        with suppress(KeyError):
            if b"encryption-data" in part_of(archive, "META-INF/manifest.xml"):
                raise UnreadableFile("encrypted: save it without a password")
        yield Package(archive)


def attribute(element: Any, name: str) -> str:
    """By its name without namespace; '' when absent."""
    return next((str(v) for key, v in element.items() if key.rpartition("}")[2] == name), "")


def count(element: Any, name: str) -> int:
    """A number of columns, rows or spaces; 1 where none is told."""
    given = attribute(element, name)
    return int(given) if re.fullmatch(r"[1-9][0-9]{0,8}", given) else 1


def raised_spans(content: Any) -> Iterator[Any]:
    """The spans of a part in styles of its own that draw text raised (OpenDocument 1.3, 20.403)."""
    raised = {
        attribute(style, "name")
        for style in content.iter("{*}style")
        for one in children(style)
        if attribute(one, "text-position").startswith(_RAISED)
    }
    return (one for one in content.iter("{*}span") if attribute(one, "style-name") in raised)


def children(element: Any) -> Iterator[Any]:
    return filter(is_element, element)


def paragraph_text(element: Any) -> str:
    """The words of a paragraph with its links and fields; neither notes nor comments."""
    lines = "".join(_texts(element)).split("\n")
    return "\n".join(line.strip(" ") for line in lines).strip()


def _texts(element: Any) -> Iterator[str]:
    yield _WHITE.sub(" ", element.text or "")
    for part in element:
        name = local_name(part) if is_element(part) else "annotation"
        if name == "s":
            yield " " * min(count(part, "c"), _LONGEST_GAP)
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        elif name not in _LEFT_OUT:
            yield from _texts(part)
        yield _WHITE.sub(" ", part.tail or "")
