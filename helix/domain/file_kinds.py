"""The kinds of file that Helix reads, told by their bytes first and by their name second."""

from __future__ import annotations

import codecs
import csv
import mimetypes
import re
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

import filetype

from helix.domain.input_text import visible_line
from helix.domain.plugins import READERS, plugins


@dataclass(frozen=True)
class Media:
    """A kind of file. ``name`` is for people; ``suffixes`` are in lower case, dot included."""

    name: str
    mime: str
    suffixes: tuple[str, ...]


_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

KINDS: dict[str, Media] = {
    "text": Media("text", "text/plain", (".txt", ".text", ".rst")),
    "markdown": Media("Markdown", "text/markdown", (".md", ".markdown", ".mkd", ".mdown")),
    "html": Media("HTML", "text/html", (".html", ".htm", ".xhtml", ".mhtml", ".mht")),
    "pdf": Media("PDF", "application/pdf", (".pdf",)),
    "docx": Media("Word", f"{_OOXML}wordprocessingml.document", (".docx",)),
    "pptx": Media("PowerPoint", f"{_OOXML}presentationml.presentation", (".pptx",)),
    "xlsx": Media("Excel", f"{_OOXML}spreadsheetml.sheet", (".xlsx",)),
    "odt": Media("OpenDocument text", f"{_ODF}text", (".odt", ".ott")),
    "odp": Media("OpenDocument slides", f"{_ODF}presentation", (".odp", ".otp")),
    "ods": Media("OpenDocument sheets", f"{_ODF}spreadsheet", (".ods", ".ots")),
    "csv": Media("CSV", "text/csv", (".csv", ".tsv")),
    "epub": Media("EPUB", "application/epub+zip", (".epub",)),
    "eml": Media("mail", "message/rfc822", (".eml",)),
    "ipynb": Media("notebook", "application/x-ipynb+json", (".ipynb",)),
}

_BY_SUFFIX = {suffix: kind for kind, media in KINDS.items() for suffix in media.suffixes}
_READS = (
    "Helix reads text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, CSV and EPUB"
    " files, mails (.eml) and notebooks (.ipynb)"
)

_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # the name of the part that holds the file
_OLD = {
    ".doc": ("Word", ".docx"), ".xls": ("Excel", ".xlsx"), ".ppt": ("PowerPoint", ".pptx"),
    ".msg": ("Outlook", ".eml"),
}  # fmt: skip
_OPEN_DOCUMENTS = {"text": "odt", "presentation": "odp", "spreadsheet": "ods"}
_OPEN_DOCUMENT = re.compile(rb"mimetype.{0,100}?" + _ODF.encode() + rb"([a-z]+)", re.DOTALL)
_IMAGES = {"png": "PNG", "jpg": "JPEG", "gif": "GIF", "tif": "TIFF", "webp": "WebP"}
_PROGRAMS = ("exe", "elf", "wasm")
_CODED_TEXT = {  # text by its bytes, and not to be read as it stands
    b"{\\rtf": "a rich-text file: save it as .docx",
    b"%!PS": "a PostScript file: save it as .pdf",
}
_TEXT_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)

_SAMPLE = 65_536  # bytes looked at to tell text from anything else
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_MOST_CONTROLS = 0.002  # of the sample; text written by machines has one now and then
_LARGEST_DIRECTORY = 8 << 20  # bytes; a hundred thousand entries, and no office file has a tenth
_END = struct.Struct("<4s4H2LH")  # a ZIP file's end record
_PDF_WITHIN = 1024  # bytes; where readers look for the header

_HTML_SURE = re.compile(
    rb"(?:(?:<\?xml[^>]{0,200}\?>|<!--(?:(?!-->).){0,4000}-->)\s{0,200}){0,20}"
    rb"(?:<!doctype\s+html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_FIELD = re.compile(rb"[!-9;-~]{1,77}:|[ \t]")  # a line of a mail's head (RFC 5322, 2.2)
_RELATED = re.compile(rb"^content-type:\s{0,9}multipart/related", re.IGNORECASE | re.MULTILINE)
_FROM = re.compile(rb"^from:", re.IGNORECASE | re.MULTILINE)
_SENT = re.compile(rb"^(?:message-id|received):", re.IGNORECASE | re.MULTILINE)
_HTML_LIKELY = re.compile(
    rb"<(?:head|body|title|meta|div|p|table|h[1-6]|ul|ol|article|section|main)[\s>]",
    re.IGNORECASE,
)


def media_of(kind: str) -> Media | None:
    """The kind of this name: one of KINDS, or what a plugin reads; None where there is neither."""
    if kind in KINDS or kind not in plugins(READERS):
        return KINDS.get(kind)
    mime = mimetypes.types_map.get(f".{kind}", "application/octet-stream")
    return Media(kind, mime, (f".{kind}",))


def sniff(data: bytes, name: str = "") -> str | None:
    """The kind of a file with these bytes, or None: ``problem`` then says why.

    A wrong suffix is no obstacle; a name decides only between kinds of text, and for the files that
    a plugin reads: their signatures are not known here.
    """
    if (named := _by_name(name)) is not None and named not in KINDS:
        return named
    if data.startswith(b"PK\x03\x04"):
        return _zip_kind(data, _by_name(name))
    if _is_pdf(data, name):
        return "pdf"
    if data.startswith(tuple(_CODED_TEXT)) or not _is_text(data):
        return None
    return _text_kind(data, _by_name(name))


def is_mhtml(data: bytes) -> bool:
    """True for MHTML, a page saved in one file with its pictures: its head says so."""
    return bool(_RELATED.search(_head(data)))


def is_mail(data: bytes) -> bool:
    """True for a mail that was sent: its head says from whom, and has an id or who passed it on."""
    head = _head(data)
    return bool(_FROM.search(head) and _SENT.search(head))


def _head(data: bytes) -> bytes:
    """The fields that a mail begins with; none where a line of them is no field."""
    head = data[:_SAMPLE].replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return head if all(map(_FIELD.match, head.split(b"\n"))) else b""


def supported_name(name: str) -> bool:
    """True if a file of this name is worth opening: its suffix is of KINDS, or of a plugin.

    `~$contract.docx` is not: Office keeps it beside a document that is open, and nothing in it.
    """
    return not PurePath(name).name.startswith("~$") and _by_name(name) is not None


def title_from_name(name: str) -> str:
    """The title of a file that names none: ``refund-policy.txt`` is "Refund Policy"."""
    name = visible_line(name)
    words = re.sub(r"[\s_-]+", " ", PurePath(name).stem).split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or name or "File"


def is_web(source_uri: str) -> bool:
    """True if a document came from an address of the web."""
    return source_uri.lower().startswith(("http://", "https://"))


def name_of_source(source_uri: str) -> str:
    """The file name in a source_uri: its last part; '' for a web page that is no file by name."""
    if source_uri.startswith(("http://", "https://")):
        name = unquote(PurePath(urlsplit(source_uri).path).name)
        return visible_line(name) if PurePath(name).suffix else ""
    return visible_line(re.split(r"[/\\]", source_uri)[-1])


def problem(data: bytes, name: str) -> str:
    """The reason why ``sniff`` gave None, in one line."""
    if data.startswith(_OLE2):
        made_by, suffix = _OLD.get(_suffix(name)[:4], ("Office", ".docx, .xlsx or .pptx"))
        if _ENCRYPTED in data:
            return f"encrypted: save it as {suffix} without a password"
        return f"an old {made_by} file, or one made like it: save it as {suffix}"
    if data.startswith(b"PK\x03\x04"):
        return _zip_problem(data, name)
    what = _name_of_unread(data)
    kind = _by_name(name)
    if what == "binary data" and kind not in (None, "text"):
        return f"not the {KINDS[kind].name} file that its name says: {what}" if kind else what
    return what if ": " in what else f"{what}; {_READS}"


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def _by_name(name: str) -> str | None:
    suffix = _suffix(name)
    if suffix in _BY_SUFFIX or not suffix:
        return _BY_SUFFIX.get(suffix)
    return suffix[1:] if suffix[1:] in plugins(READERS) else None


def _is_pdf(data: bytes, name: str) -> bool:
    place = data.find(b"%PDF-", 0, _PDF_WITHIN)
    if place < 0:  # a damaged header: the reader says so better than plain text would
        return _by_name(name) == "pdf" and b"\nstartxref" in data[-2048:]
    return not data[:place].strip(b"\xef\xbb\xbf \t\r\n\x00") or b"startxref" in data[-2048:]


def _name_of_unread(data: bytes) -> str:
    """The kind of a file that is not read, by its signature; "binary data" where it has none."""
    for start, what in _CODED_TEXT.items():
        if data.startswith(start):
            return what
    found = filetype.guess(data[:_SAMPLE].ljust(64, b"\x00"))  # it asks for more than it looks at
    if found is None:
        return "binary data"
    group = found.mime.partition("/")[0]
    if group == "image":
        return f"a {_IMAGES[found.extension]} image" if found.extension in _IMAGES else "an image"
    if found.extension in _PROGRAMS:
        return "a program"
    return {"audio": "a sound file", "video": "a video"}.get(group, f"a .{found.extension} file")


def _is_text(data: bytes) -> bool:
    if data.startswith(_TEXT_MARKS):
        return True
    sample = data[:_SAMPLE]
    if b"\x00" in sample:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls <= len(sample) * _MOST_CONTROLS


def _text_kind(data: bytes, named: str | None) -> str:
    head = data[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip()
    if named in ("eml", "ipynb"):
        return named
    if named is None and (head.startswith(b"{") and b'"nbformat"' in data):
        return "ipynb"
    if named is None and is_mail(data):
        return "eml"
    if _HTML_SURE.match(head) or is_mhtml(data):
        return "html"
    if named in ("text", "markdown", "html", "csv"):
        return named
    if _HTML_LIKELY.match(head):
        return "html"
    return "csv" if named is None and _is_table(head.decode(errors="replace")) else "text"


def _is_table(head: str) -> bool:
    """True if lines with the same number of cells follow each other; for files without a name."""
    lines = head.splitlines()[:50]
    if len(head) == _SAMPLE:
        lines = lines[:-1]
    for delimiter, least in ((",", 3), ("\t", 2), (";", 3), ("|", 3)):
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        if len(rows) >= 3 and len(widths) == 1 and len(rows[0]) >= least:
            return True
    return False


def _zip_kind(data: bytes, named: str | None) -> str | None:
    names = set(_zip_names(data) or ())
    if "META-INF/container.xml" in names and "mimetype" in names:
        return "epub"
    if "[Content_Types].xml" in names:
        folders = {name.partition("/")[0] for name in names if "/" in name}
        for folder, kind in (("word", "docx"), ("ppt", "pptx"), ("xl", "xlsx")):
            if folder in folders:
                return kind
    if "content.xml" in names:
        told = _OPEN_DOCUMENT.search(data)  # unless it is packed or left out
        found = _OPEN_DOCUMENTS.get(told[1].decode()) if told else named
        return found if found in _OPEN_DOCUMENTS.values() else None
    return None


def _zip_problem(data: bytes, name: str) -> str:
    names = _zip_names(data)
    if names is None:
        kind = _by_name(name)
        what = f"{KINDS[kind].name} file" if kind and kind not in ("text", "html") else "ZIP file"
        return f"a damaged {what}: its list of parts is missing, too long or broken"
    if "META-INF/manifest.xml" in names and "mimetype" in names:
        return "an OpenDocument file of another kind: save it as .odt, .odp or .ods"
    return f"a ZIP archive: unpack it and ingest what is in it; {_READS}"


def _zip_names(data: bytes) -> list[str] | None:
    """The names in a ZIP's directory; None where it is damaged or beyond any document's size.

    Not by zipfile, which takes memory for as many entries as a hostile file has.
    """
    end = data.rfind(b"PK\x05\x06", -65_557)
    if end < 0 or end + _END.size > len(data):
        return None
    size = _END.unpack_from(data, end)[5]
    if size > min(end, _LARGEST_DIRECTORY):
        return None
    names, place, directory = list[str](), 0, data[end - size : end]
    while directory[place : place + 4] == b"PK\x01\x02" and place + 46 <= len(directory):
        name, extra, comment = struct.unpack_from("<3H", directory, place + 28)
        names.append(directory[place + 46 : place + 46 + name].decode(errors="replace"))
        place += 46 + name + extra + comment
    return names
