"""EPUB: chapters in the order of the book, in any encoding; damaged books are refused."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers import UnreadableFile, read
from tests.pipelines.readers.test_html import outline
from tests.support.sample_documents import unzipped, zipped

ENCRYPTED = """<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>
<e:EncryptionMethod Algorithm="{}"/></e:EncryptedData></encryption>"""


OPF = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The Book of
 Tests</dc:title></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"/>
<item id="b" href="text/two%20.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="p" href="p.png" media-type="image/png"/>
<item id="m" href="missing.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/><itemref idref="p"/>
<itemref idref="m"/></spine></package>"""

CONTAINER = """<?xml version="1.0"?><container
xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>"""

XHTML = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>'
)


def epub(**changed: str | None) -> bytes:
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": OPF,
        "OEBPS/nav.xhtml": f"{XHTML}<p>Contents</p></body></html>",
        "OEBPS/text/one.xhtml": f"{XHTML}<a id='x'/><h1>One</h1><p>First&nbsp;words.</p></body>",
        "OEBPS/text/two .xhtml": f"{XHTML}<h1>Two</h1><h2>Part</h2><footer>A note.</footer></body>",
    }
    parts |= {name.replace("__", "/"): text or "" for name, text in changed.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_a_book() -> None:
    heard: list[tuple[int, int]] = []
    found = read("epub", epub(), lambda done, total: heard.append((done, total)))
    assert found.title == "The Book of Tests"
    assert outline(found) == [
        ("One", "# One\n\nFirst words."),
        ("Two > Part", "# Two\n\n## Part\n\nA note."),
    ]
    assert found.warnings == ("chapter 3: it is missing from the file",)
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_names_in_utf_8_without_the_flag_that_says_so() -> None:
    data = epub(**{"OEBPS/content.opf": OPF.replace("one.xhtml", "kapitel-ä.xhtml")})
    files = unzipped(data)
    files["OEBPS/text/kapitel-ä.xhtml"] = files.pop("OEBPS/text/one.xhtml")
    flagged = zipped(files)  # the flag is a bit of each entry, here and in the directory
    name = "OEBPS/text/kapitel-ä.xhtml".encode()
    for back in (30 - 6, 46 - 8):
        place = flagged.index(name, 0 if back == 24 else flagged.index(name) + 1)
        flag = place - back + 1
        flagged = flagged[:flag] + b"\x00" + flagged[flag + 1 :]
    assert "First words." in read("epub", flagged).text


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8-sig"])
def test_chapters_in_any_encoding_that_they_declare(encoding: str) -> None:
    page = f"<?xml version='1.0' encoding='{encoding}'?>{XHTML[21:]}<p>Fünf Gebühren.</p></body>"
    files = {**unzipped(epub()), "OEBPS/text/one.xhtml": page.encode(encoding)}
    assert read("epub", zipped(files)).text.startswith("Fünf Gebühren.\n")


@pytest.mark.parametrize(
    ("page", "is_read"),
    [("<h1>Contents</h1><a href='a'>All that chapter one has to say, and more</a>", False),
     ("<p>To those who wrote it.</p><a href='a'>One</a>", True)],
)  # fmt: skip
def test_a_table_of_contents_that_the_guide_names_is_left_out(page: str, *, is_read: bool) -> None:
    guide = '</spine><guide><reference type="toc" href="text/two%20.xhtml#top"/></guide>'
    parts = {
        "OEBPS/content.opf": OPF.replace("</spine>", guide),
        "OEBPS/text/two .xhtml": f"{XHTML}{page}</body>",
    }
    found = read("epub", epub(**parts))
    assert "First words." in found.text
    assert ("one" in found.text.lower().split("first words.")[1]) is is_read


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (epub(**{"META-INF/encryption.xml": ENCRYPTED.format("aes256-cbc")}), r"protected \(DRM\)"),
        (epub(**{"META-INF/container.xml": "<x/>"}), "a damaged EPUB file: it names no book"),
        (epub(**{"META-INF/container.xml": ""}), "not a readable EPUB"),
        (epub(**{"OEBPS/text/one.xhtml": "<p>" + " " * 20_000_000}), "unpacks to 19 MB"),
        (
            epub(**{"OEBPS/text/one.xhtml": "", "OEBPS/text/two .xhtml": ""}),
            "chapter 3: it is missing",
        ),
        (epub()[:-40], "broken: its zip container"),
        (b"", "broken: its zip container"),
    ],
)
def test_books_that_cannot_be_read(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read("epub", data)


def test_a_book_with_masked_fonts_is_read() -> None:
    masked = ENCRYPTED.format("http://www.idpf.org/2008/embedding")
    assert "First" in read("epub", epub(**{"META-INF/encryption.xml": masked})).text


@given(st.integers(0, 2000), st.integers(0, 255))
def test_a_book_with_a_changed_byte_is_read_or_refused(place: int, byte: int) -> None:
    data = bytearray(epub())
    data[place % len(data)] = byte
    try:
        assert read("epub", bytes(data)).text
    except UnreadableFile as error:
        assert "\n" not in str(error)
