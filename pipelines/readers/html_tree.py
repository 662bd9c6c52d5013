"""HTML as a tree of elements: the encoding of its bytes, and what the parser makes of its text."""

from __future__ import annotations

import codecs
import re

from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html
from lxml.etree import LxmlError, _Element  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.formulas import write_out
from pipelines.readers.markup_text import tag_of
from pipelines.readers.superscripts import write_superscripts

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*+[\"']?\s*+([\w.:-]{1,40})", re.IGNORECASE
)
_META_WITHIN = 4096  # bytes; the standard says 1024, pages say otherwise
_XML_CHARSET = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
_METADATA = frozenset("base link meta noscript script style template title".split())
"""Elements of a head, by HTML 5: any other one ends it."""
_MOST_ATTRIBUTES = 500
_DEEPEST = 255  # elements in each other, as the parser takes of a page of the usual size
_LONG_TAG = re.compile(r"<([a-zA-Z][^\s<>/]*+)[^<>]{1000,}+>")


def decoded(data: bytes, sent_as: str = "") -> str:
    """The text of a page by its byte order mark, as UTF-8, by its declaration, or as cp1252.

    ``sent_as`` is the encoding that was told with the page, for one that declares none.

    UTF-8 goes first where a page has more than ASCII: text in another encoding is never that, and
    pages stored in UTF-8 keep the declaration of the server that they are from. A page of it may
    have a broken character, as where a template was cut or is in another encoding.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, errors="replace")
    if not data.isascii():
        text = data.decode(errors="replace")
        if 2 * text.count("\ufffd") < len(text) - len(text.encode("ascii", "ignore")):
            return text
    head = data[:_META_WITHIN]
    found = _META_CHARSET.search(head) or _XML_CHARSET.match(head)
    for declared in (found.group(1).decode() if found else sent_as, "utf-8"):
        if (page := _decode_as(data, declared)) is not None:
            return page
    return data.decode("cp1252", errors="replace")  # as browsers do


def _decode_as(data: bytes, name: str) -> str | None:
    """``data`` in the encoding of this name, or None where it does not fit."""
    try:
        found = codecs.lookup(name).name
        if found in ("iso8859-1", "ascii"):  # the web's names for it
            found = "cp1252"
        if found.startswith(("utf-16", "utf-32")):  # no declaration could be read in those
            return None
        return str(data.decode(found, errors="strict" if found == "utf-8" else "replace"))
    except (LookupError, UnicodeError, ValueError, TypeError, AttributeError):
        return None  # also where the name is of no character encoding, such as "zip"


def parse_tree(page: str) -> _Element:
    """The root element of a page's text, its formulas and raised numbers written out.

    Raises:
        UnreadableFile: it is empty, or nested beyond what the parser takes.
    """
    data = _without_excess(page.replace("\x00", "")).encode(errors="replace")
    tree = _tree_of(data, huge=False)
    if tree is None:
        tree = _tree_of(data, huge=True)  # it may have a picture of 10 MB in an attribute
        if tree is None or _is_deep(tree):
            raise UnreadableFile(f"its elements are nested more than {_DEEPEST} deep: simplify it")
    _end_head(tree)
    write_out(tree)
    write_superscripts(tree.iter("sup"))
    return tree


def _tree_of(data: bytes, *, huge: bool) -> _Element | None:
    """The root; None where the parser has dropped the rest of the page, at a limit of its own."""
    parser = lxml_html.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=huge, remove_comments=True, remove_pis=True
    )
    try:
        tree = lxml_html.document_fromstring(data, parser=parser)
    except (LxmlError, ValueError):
        tree = None
    if any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log):
        return None
    if tree is None:
        raise UnreadableFile("empty: there is no text in it")
    return tree


def _is_deep(tree: _Element) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            return True
    return False


def _end_head(tree: _Element) -> None:
    """Move what is no metadata from the head into the body, where a page leaves out ``<body>``.

    The parser knows HTML 4: a ``section`` ends no head there.
    """
    head, body = tree.find("head"), tree.find("body")
    children = [] if head is None else list(head)
    first = next((n for n, one in enumerate(children) if tag_of(one) not in _METADATA), None)
    if first is None:
        return
    body = etree.SubElement(tree, "body") if body is None else body
    moved = children[first:]
    moved[-1].tail = (moved[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = moved


def _without_excess(page: str) -> str:
    """``page`` with no element of more than _MOST_ATTRIBUTES, or so: such loses all of them.

    The parser compares each attribute of an element with all that it has: 150,000 took minutes.
    """

    def bare(tag: re.Match[str]) -> str:
        many = len(tag[0].split(None, _MOST_ATTRIBUTES + 1)) > _MOST_ATTRIBUTES
        return f"<{tag[1]}>" if many else tag[0]

    return _LONG_TAG.sub(bare, page)
