"""The common parts of the Office readers: opening files safely, properties, errors in a text."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeGuard

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.archives import check_zip
from pipelines.readers.outline import short_title

_CORE = "docProps/core.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_STRICT = b"http://purl.oclc.org/ooxml/"
_LARGEST_CORE = 1_000_000  # bytes
# what the makers' own templates come with, and printing to a file
_NO_TITLE = re.compile(
    r"(?:word document|powerpoint presentation|presentation|untitled.*|microsoft \w+ - .*)?",
    re.IGNORECASE,
)
_OURS = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)


@contextmanager
def guarded(data: bytes, what: str) -> Iterator[None]:
    """Around the reading of ``data``: what a library raises becomes UnreadableFile.

    The reason names ``what`` ("Word document") and the kind of error, never the library's message,
    which may quote the document. Lack of memory passes: it is the process's own limit.
    """
    check_zip(data)
    try:
        yield
    except (UnreadableFile, *_OURS):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of calamine's is no Exception
        if _is_strict(data):
            raise UnreadableFile(f"a {what} in the strict form: save it in the usual one") from None
        raise UnreadableFile(
            f"not a readable {what}: it is damaged ({type(error).__name__}); open it and save it "
            "again"
        ) from None


def _is_strict(data: bytes) -> bool:
    """True for an Office file in the strict form, whose namespaces no library here knows."""
    # of a damaged file the general reason is told
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _STRICT in archive.read("_rels/.rels")
    return False


def core_title(data: bytes) -> str | None:
    """The title of a document's properties, where somebody gave it one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if _CORE not in archive.namelist() or archive.getinfo(_CORE).file_size > _LARGEST_CORE:
            return None
        core = archive.read(_CORE)
    try:
        root = etree.fromstring(core, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    title = short_title(root.findtext(_TITLE) or "")
    return None if _NO_TITLE.fullmatch(title) else title


def is_element(node: Any) -> TypeGuard[Any]:
    """Not a comment, an instruction or an entity left unresolved: those have functions as tags."""
    return isinstance(node.tag, str)


def local_name(node: Any) -> str:
    """An element's name without its namespace."""
    return str(node.tag).rpartition("}")[2]
