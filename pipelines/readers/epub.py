"""EPUB: the chapters in reading order, each XHTML like any page but kept whole."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import Progress, ReadText, UnreadableFile
from pipelines.readers.grids import bounded
from pipelines.readers.html_tree import decoded, parse_tree
from pipelines.readers.markup import TextOfMarkup
from pipelines.readers.markup_text import running_share
from pipelines.readers.office import guarded, part_of
from pipelines.readers.outline import short_title

_MOST_CHAPTERS = 10_000
_MOST_OF_CONTENTS = 0.25  # of the text, outside of paragraphs that are mostly links
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile for what is no EPUB, protected, too large unpacked or without text."""
    with guarded(data, "EPUB"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _book(_Parts(archive), progress)


class _Parts:
    """The files in the archive by name."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def read(self, name: str) -> bytes:
        """Raises KeyError where there is none of this name."""
        try:
            return part_of(self._archive, name)
        except KeyError:  # UTF-8 without the flag that says so, as many programs write it
            return part_of(self._archive, name.encode().decode("cp437"))

    def xml(self, name: str) -> etree._Element:
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
        )
        root = etree.fromstring(self.read(name), parser)
        if root is None:
            raise ValueError(name)
        return root


def _book(parts: _Parts, progress: Progress) -> ReadText:
    try:
        _refuse_protected(parts)
        place = parts.xml("META-INF/container.xml").xpath("//*[local-name()='rootfile']/@full-path")
        package = parts.xml(place[0])
    except (KeyError, IndexError):
        raise UnreadableFile("a damaged EPUB file: it names no book") from None
    folder = posixpath.dirname(place[0])
    chapters, contents = list(_chapters(package, folder)), _contents(package, folder)
    gathered, warnings = TextOfMarkup(), []
    for number, name in enumerate(chapters, start=1):
        if problem := _add(gathered, parts, name, is_contents=name in contents):
            warnings.append(f"chapter {number}: {problem}")
        progress(number, len(chapters))
    if not gathered.text:
        raise UnreadableFile(warnings[0] if warnings else "empty: there is no text in it")
    titles = package.xpath("//*[local-name()='metadata']/*[local-name()='title']")
    title = short_title("".join(titles[0].itertext())) if titles else None
    return ReadText(
        gathered.text, title or None, gathered.sections, tuple(warnings), bounded(gathered.tables)
    )


def _add(gathered: TextOfMarkup, parts: _Parts, name: str, *, is_contents: bool) -> str | None:
    """The reason why a chapter could not be added; a bomb is the whole file's refusal.

    A table of contents is left out where it is mostly links.
    """
    try:
        page = decoded(parts.read(name))
    except KeyError:
        return "it is missing from the file"
    try:
        if page.strip():
            tree = parse_tree(_opened(page))
            if not is_contents or running_share(tree) > _MOST_OF_CONTENTS:
                gathered.add(tree)
    except UnreadableFile as error:
        return str(error)
    return None


def _refuse_protected(parts: _Parts) -> None:
    try:
        encrypted = parts.xml("META-INF/encryption.xml")
    except KeyError:
        return
    used = encrypted.xpath("//*[local-name()='EncryptedData']/*[local-name()='EncryptionMethod']")
    if any(method.get("Algorithm") not in _FONT_ALGORITHMS for method in used):
        raise UnreadableFile("protected (DRM): only the reader it was bought for opens it")


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Names of the parts in reading order, the table of contents left out."""
    items = {item.get("id"): item for item in package.xpath("//*[local-name()='item']")}
    spine = package.xpath("//*[local-name()='spine']/*[local-name()='itemref']/@idref")
    for reference in dict.fromkeys(spine[:_MOST_CHAPTERS]):
        item = items.get(reference)
        if item is None or "nav" in item.get("properties", "").split():
            continue
        if "html" in item.get("media-type", "html"):
            yield _named(item.get("href", ""), folder)


def _contents(package: etree._Element, folder: str) -> frozenset[str]:
    """Names of the parts that the book's guide calls its table of contents."""
    found = package.xpath("//*[local-name()='reference'][@type='toc']/@href")
    return frozenset(_named(address, folder) for address in found)


def _named(address: str, folder: str) -> str:
    """The name in the archive of what the package gives the address of."""
    return posixpath.normpath(posixpath.join(folder, unquote(urlsplit(address).path)))


def _opened(page: str) -> str:
    """XHTML as HTML: ``<title/>`` would swallow what follows it."""

    def open_and_close(match: re.Match[str]) -> str:
        name, attributes = match.groups()
        return match.group() if name.lower() in _VOID else f"<{name}{attributes}></{name}>"

    return _CLOSED.sub(open_and_close, page)
