"""HTML: the main content of a page, by trafilatura, with headings, lists, tables and code.

Nothing is fetched: neither what a page shows nor what its declarations name.
"""

from __future__ import annotations

import copy
import logging
import re
from collections import defaultdict, deque

from lxml import etree  # type: ignore[import-untyped]
from lxml.etree import _Element  # type: ignore[import-untyped]
from trafilatura import bare_extraction
from trafilatura.external import jt_stoplist_init

from helix.domain.file_kinds import is_mhtml
from pipelines.readers import Progress, ReadText, UnreadableFile
from pipelines.readers.grids import bounded
from pipelines.readers.html_navigation import drop_navigation
from pipelines.readers.html_tree import decoded, parse_tree
from pipelines.readers.mail import mail_of
from pipelines.readers.markup import TextOfMarkup
from pipelines.readers.markup_tables import is_layout
from pipelines.readers.markup_text import running_share
from pipelines.readers.outline import LONGEST_HEADING, short_title

_MOST_OF_MAIN = 1.05
"""Share of the text that the page marks as its main part: an extraction with more took menus."""
_NEARLY_ALL = 0.9
"""Share of the page's text from which on its headings and code are worth more than what was cut.
Of manuals of Debian (bzip2, bc, fontconfig, GCC's news) trafilatura kept 0.93 to 0.99 of the text,
and no heading."""
_DOCUMENT = 0.92
"""Share of the text in paragraphs that are not mostly links from which on a page is a document,
whose menus are small. Chosen on half of the test pages of Mozilla's Readability and on manuals of
30 packages of Debian: most manuals have 0.93 to 1, most pages with menus less than 0.9."""
_LEAST_OF_MAIN, _LEAST_OF_PAGE = 0.88, 0.75
"""Shares of a document's text that an extraction keeps at least, or it lost some: of a marked main
part, and of a page without such a mark."""
_MOSTLY, _LEAST_OF_MOSTLY = 0.8, 0.5
"""Share as for _DOCUMENT from which on an extraction of less than that share of the page lost most
of it: 12 of 960 pages of Debian's manuals, those of a manual whose notes are taken for comments;
no test page of Readability."""
_LIST_OF_LINKS = 0.25
"""Share as for _DOCUMENT below which the links of a marked main part are its content."""
_NOT_EXTRACTED = (
    "//nav | //footer[not(ancestor::article or ancestor::main)] | //*[@role='navigation']"
)
_INLINE_PARENTS = frozenset(
    ("p", "li", "dt", "dd", "td", "th", "hi", "del", "a", *(f"h{n}" for n in range(1, 7)))
)

# words of all languages, in 80 ms: in the process that others are forks of, not for each page
jt_stoplist_init()
logging.getLogger("trafilatura").setLevel(
    logging.CRITICAL
)  # it logs every page that is not to its taste


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile for a page without text, or nested beyond what the parser takes."""
    return _content(parse_tree(_page_of_mhtml(data) if is_mhtml(data) else decoded(data)))


def _page_of_mhtml(data: bytes) -> str:
    """The HTML of a page that was saved in one file with its pictures."""
    parts = mail_of(data).walk()
    page = next((part for part in parts if part.get_content_type() == "text/html"), None)
    payload = None if page is None else page.get_payload(decode=True)
    if page is None or not isinstance(payload, bytes):
        return ""
    return decoded(payload, page.get_content_charset(""))


def _content(tree: _Element) -> ReadText:
    drop_navigation(tree)
    gathered = _gather(_extracted(tree))
    main = _main_of(tree)
    page = main if main is not None else _pruned(tree)
    whole = _gather(page)
    if whole.text and _is_worse(gathered, whole, page, is_main=main is not None):
        gathered = whole
    if not gathered.text:
        raise UnreadableFile("empty: there is no text in it")
    titles = tree.xpath("//title[1]")
    title = short_title("".join(titles[0].itertext())) if titles else ""
    title = title or (gathered.first_heading or "")[:LONGEST_HEADING].strip()
    tables = bounded(gathered.tables)
    return ReadText(gathered.text, title or None, gathered.sections, tables=tables)


def _is_worse(
    extracted: TextOfMarkup, whole: TextOfMarkup, page: _Element, *, is_main: bool
) -> bool:
    """True if an extraction lost text, headings or code of the ``page`` that ``whole`` has."""
    share = len(extracted.text) / max(len(whole.text), 1)
    if not extracted.text:
        return True
    if "\n" not in extracted.text and ("\n" in whole.text or _is_respaced(extracted, whole)):
        return True  # its last resort: words in a row
    if is_main and share > _MOST_OF_MAIN:
        return True
    is_bare = any(
        there and there >= 2 * kept
        for there, kept in zip(whole.structure, extracted.structure, strict=True)
    )
    if share >= _NEARLY_ALL:
        return is_bare
    running = running_share(page)
    if running < _DOCUMENT:
        if is_main:
            return running < _LIST_OF_LINKS
        return running >= _MOSTLY and share < _LEAST_OF_MOSTLY
    if is_main:
        return share < _LEAST_OF_MAIN * running
    return is_bare or share < _LEAST_OF_PAGE * running


def _is_respaced(one: TextOfMarkup, other: TextOfMarkup) -> bool:
    """True where two texts differ by their spaces alone, if at all."""
    return "".join(one.text.split()) == "".join(other.text.split())


def _gather(tree: _Element | None) -> TextOfMarkup:
    gathered = TextOfMarkup()
    if tree is not None:
        gathered.add(tree)
    return gathered


def _main_of(tree: _Element) -> _Element | None:
    """The element that the page itself marks as its content, where it marks exactly one."""
    for path in ("//main | //*[@role='main']", "//article"):
        found = tree.xpath(path)
        if len(found) == 1:
            return found[0]
    return None


def _pruned(tree: _Element) -> _Element:
    tree = copy.deepcopy(tree)
    for element in tree.xpath(_NOT_EXTRACTED):
        if element.getparent() is not None:
            element.drop_tree()
    return tree


def _extracted(tree: _Element) -> _Element | None:
    """The main content by trafilatura, in HTML's own elements."""
    bare = copy.deepcopy(tree)
    # tables come from the page itself; what spans rows takes trafilatura quadratic time
    etree.strip_attributes(bare, "rowspan", "colspan")
    try:
        found = bare_extraction(
            bare,
            favor_recall=True,
            include_comments=False,
            include_formatting=True,
            include_tables=True,
        )
    except Exception:  # noqa: BLE001 - whatever its heuristics stumble over, the text is still there
        return None
    body = getattr(found, "body", None)
    if body is None:
        return None
    for element in body.iter():
        _rename(element)
    _restore_tables(body, tree)
    _restore_numbers(body, tree)
    return body


def _restore_tables(body: _Element, page: _Element) -> None:
    """The tables of an extracted body as the page has them: extraction drops what spans rows."""
    originals: defaultdict[str, deque[_Element]] = defaultdict(deque)
    for table in page.iter("table"):
        if not is_layout(table):
            originals[_words_of(table)].append(table)
    for table in list(body.iter("table")):
        if found := originals[_words_of(table)]:
            original = copy.deepcopy(found.popleft())
            original.tail = table.tail
            table.getparent().replace(table, original)


def _words_of(table: _Element) -> str:
    """The words of a table, without spaces, by which the same table is recognised."""
    return "".join(map(_text_of, table.iter("caption", "td", "th")))


def _restore_numbers(body: _Element, page: _Element) -> None:
    """The numbers of the lists of an extracted body as the page has them: from 3 on, or letters."""
    originals = {_text_of(one): one.attrib for one in page.iter("ol") if one.attrib}
    for numbered in body.iter("ol"):
        numbered.attrib.update(originals.get(_text_of(numbered), {}))


def _text_of(element: _Element) -> str:
    return "".join("".join(element.itertext()).split())


def _rename(element: _Element) -> None:
    """From trafilatura's name of an element to HTML's."""
    rend = element.get("rend", "")
    if element.tag == "head":
        element.tag = rend if re.fullmatch("h[1-6]", rend) else "h2"
    elif element.tag == "list":
        element.tag = rend if rend in ("ol", "dl") else "ul"
    elif element.tag == "item":
        element.tag = rend[:2] if rend.startswith(("dt-", "dd-")) else "li"
    elif element.tag == "code":
        parent = element.getparent()
        inline = parent is not None and parent.tag in _INLINE_PARENTS
        is_line = "\n" not in "".join(element.itertext()) and element.find(".//lb") is None
        element.tag = "code" if inline and is_line else "pre"
    else:
        names = {"row": "tr", "cell": "td", "quote": "blockquote", "lb": "br"}
        element.tag = names.get(element.tag, element.tag)
