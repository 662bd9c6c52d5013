"""PDF: the right page for every word, scans by OCR, and reasons for what cannot be read."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4, A6  # type: ignore[import-untyped]
from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from evals.documents.drawn_tables import drawn_tables
from evals.documents.printed_files import pdf as printed_pdf
from helix.domain.pages import unpack_words
from pipelines.readers import ReadText, UnreadableFile, read
from pipelines.sandbox import ReadLimits, Sandbox
from tests.support.hostile_pdf import pdf_of

LONG = "The refund policy covers every purchase made in the last thirty days."


def scan_of(*lines: str, turned: int = 0) -> ImageReader:
    """A picture of the lines for a page of A6, which OCR reads four times as fast as A4."""
    image = Image.new("L", (620, 877), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=30)
    for number, line in enumerate(lines):
        draw.text((40, 80 + 60 * number), line, fill="black", font=font)
    return ImageReader(image.rotate(turned, expand=True))


def pdf(*pages: str | ImageReader | None, encrypt: str | None = None, title: str = "") -> bytes:
    """A page each: its text, a picture that fills it, or nothing."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, encrypt=encrypt, invariant=True)
    canvas.setTitle(title)
    for page in pages:
        if isinstance(page, str):
            for number, line in enumerate(page.split("\n")):
                canvas.drawString(70, 770 - 20 * number, line)
        elif page is not None:
            width, height = page.getSize()
            size = A6 if height > width else A6[::-1]
            canvas.setPageSize(size)
            canvas.drawImage(page, 0, 0, *size)
        canvas.showPage()
        canvas.setPageSize(A4)
    canvas.save()
    return buffer.getvalue()


def by_page(found: ReadText) -> dict[int | None, str]:
    assert all(section.label == f"page {section.page}" for section in found.sections)
    return {section.page: found.text[section.start : section.end] for section in found.sections}


def test_pages_and_progress() -> None:
    heard: list[tuple[int, int]] = []
    data = pdf(LONG, None, "Second\nline", title="Refund Policy")
    found = read("pdf", data, lambda done, total: heard.append((done, total)))
    assert by_page(found) == {1: LONG, 3: "Second line"}
    assert found.text == f"{LONG}\n\nSecond line"
    assert (found.title, found.warnings) == ("Refund Policy", ())
    assert heard == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.processes
def test_a_scanned_page_is_read_by_ocr_among_others() -> None:
    scan = scan_of("Warranty", "The warranty period is 24 months.", "Ask for Ada Lovelace.")
    found = read("pdf", pdf(LONG, scan, None))
    pages = by_page(found)
    assert list(pages) == [1, 2]
    assert pages[2].split("\n") == [
        "Warranty",
        "The warranty period is 24 months.",
        "Ask for Ada Lovelace.",
    ]
    assert found.warnings == ()


@pytest.mark.processes
@pytest.mark.parametrize("turned", [270, 180])
def test_a_scan_on_its_side_or_head(turned: int) -> None:
    scan = scan_of("The warranty period is 24 months.", "Ask for Ada Lovelace.", turned=turned)
    assert read("pdf", pdf(scan)).text.split("\n") == [
        "The warranty period is 24 months.",
        "Ask for Ada Lovelace.",
    ]


@pytest.mark.processes
def test_a_picture_without_text_is_a_warning_and_alone_a_reason() -> None:
    image = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(image).ellipse((50, 50, 300, 250), fill="red")
    picture = ImageReader(image)
    reason = "page 2: a picture without text that OCR can read"
    assert read("pdf", pdf(LONG, picture)).warnings == (reason,)
    with pytest.raises(UnreadableFile, match="page 1: a picture without text"):
        read("pdf", pdf(picture))
    white = ImageReader(Image.new("RGB", (400, 300), "white"))
    assert read("pdf", pdf(LONG, white)).warnings == ()


WITHOUT_OCR = """
import sys
sys.modules["rapidocr"] = None
from pipelines.readers import UnreadableFile, read
for file in sys.argv[1:]:
    try:
        found = read("pdf", open(file, "rb").read())
        print(found.text, found.warnings)
    except UnreadableFile as error:
        print(error)
"""


def _told(program: str, folder: Path, *files: bytes) -> tuple[list[str], str]:
    """The line of each of ``files`` from a process that runs ``program``, and its errors."""
    names = [folder / f"{number}.pdf" for number in range(len(files))]
    for name, data in zip(names, files, strict=True):
        name.write_bytes(data)
    run = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, check=True, text=True
    )
    return run.stdout.splitlines(), run.stderr


def test_without_the_extra_a_scan_is_named_never_silently_empty(tmp_path: Path) -> None:
    scan = scan_of("The warranty period is 24 months.")
    message = "page {}: a scan, and OCR is not installed: pip install 'helix-answers[ocr]'"
    assert _told(WITHOUT_OCR, tmp_path, pdf(scan), pdf("Short.", scan))[0] == [
        message.format(1), f'Short. ("{message.format(2)}",)'
    ]  # fmt: skip


WITHOUT_NUMPY = """
import sys
from pipelines.readers import read
data = sys.stdin.buffer.read()
print(len(read("pdf", data).tables), {"numpy", "pypdfium2"} & sys.modules.keys())
"""


@pytest.mark.parametrize("lines", [True, False])
def test_what_would_be_a_third_of_the_reader_s_memory_is_not_imported(lines: bool) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY],
        input=printed_pdf(drawn_tables()[0], lines=lines), capture_output=True, check=True,
    )  # fmt: skip
    assert run.stdout.decode() == "1 set()\n"


WITH_TOO_LITTLE_MEMORY = f"""
import resource
from pathlib import Path
import rapidocr
used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
most = used + 100 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
{WITHOUT_OCR.replace('sys.modules["rapidocr"] = None', "")}
"""


@pytest.mark.processes
def test_a_scan_too_large_for_the_memory_costs_its_page_only(tmp_path: Path) -> None:
    scan = scan_of("The warranty period is 24 months.")
    reason = "a scan that could not be read (out of memory): raise HELIX_READ_MB"
    for data, expected in (
        (pdf(LONG, scan), f"{LONG} ('page 2: {reason}',)"),
        (pdf(scan), f"page 1: {reason}"),
    ):  # each in a process of its own: an engine that failed is not whole
        assert _told(WITH_TOO_LITTLE_MEMORY, tmp_path, data)[0] == [expected]


def dense_scan() -> bytes:
    """A page of small print, 60 lines of it, as a picture of 150 dots an inch."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 8)
    for line in range(60):
        amount = "$1.35 billion" if line == 40 else f"${line}.{line:02} million"
        canvas.drawString(
            50, 800 - 12 * line,
            f"Note {line}: lease expenses of the second quarter came to {amount}, variable lease"
            " expenses and those of short leases not included in it.",
        )  # fmt: skip
    canvas.save()
    with pdfium.PdfDocument(buffer.getvalue()) as document:
        picture = document[0].render(scale=150 / 72).to_pil()
    scanned = io.BytesIO()
    picture.save(scanned, "pdf")  # a page of a point a pixel, as many scanners' software has it
    return scanned.getvalue()


@pytest.mark.soak
async def test_a_dense_scan_fits_in_the_default_memory() -> None:
    sandbox = Sandbox(ReadLimits(memory_mb=900))  # by default there is an eighth more
    try:
        found = await sandbox.read("pdf", dense_scan())
    finally:
        await sandbox.aclose()
    assert found.warnings == ()
    assert "$1.35 billion" in found.text
    assert found.text.count("lease expenses of the second quarter") >= 55


@pytest.mark.processes
def test_ocr_is_quiet_and_the_same_in_every_process(tmp_path: Path) -> None:
    program = WITHOUT_OCR.replace('sys.modules["rapidocr"] = None', "")
    data = pdf(scan_of("The warranty period is 24 months."))
    assert _told(program, tmp_path, data) == (["The warranty period is 24 months. ()"], "")
    assert read("pdf", data).text == "The warranty period is 24 months."


LARGE = pdf_of(
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 2000000000 792]/Contents 4 0 R>>",
    "<</Length 30>>stream\nBT /F1 9 Tf (It is here.) Tj ET\nendstream",
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(LONG, encrypt="secret"), "encrypted: remove the password and ingest it again"),
        (
            pdf(LONG).replace(b"/Root", b"/Encrypt<</Filter/EBX_HANDLER/V 4/Length 128>>/Root"),
            "protected .DRM or a certificate.: save it unprotected",
        ),
        (pdf(LONG)[:100], "a damaged PDF file: it cannot be opened"),
        (b"%PDF-1.4\n", "a damaged PDF file"),
        (b"", "a damaged PDF file"),
        (pdf(None, None), "empty: there is no text in it"),
        (LARGE, "page 1: a side of it is longer than 1,000,000 points: it is not read"),
    ],
)
def test_files_that_cannot_be_read(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read("pdf", data)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Refund Policy", "Refund Policy"),
        ("  Refund\n Policy ", "Refund Policy"),
        ("Résumé of the “Documents”", "Résumé of the “Documents”"),
        ("Print media in 2024", "Print media in 2024"),
        ("", None),
        ("untitled", None),
        ("(anonymous)", None),
        ("Microsoft Word - report v2.doc", None),
        ("report_final.indd", None),
        ("0000320193-22-000070", None),
        ("Document1", None),
    ],
)
def test_the_title(title: str, shown: str | None) -> None:
    assert read("pdf", pdf(LONG, title=title)).title == shown


def test_bookmarks_are_heading_paths() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for number, marks in enumerate([[], [("A", 0), ("A1", 1), ("A2", 1)], [], [("B", 0)]]):
        for title, level in marks:
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
        canvas.drawString(70, 700, f"Page {number} {LONG}")
        canvas.showPage()
    canvas.save()
    found = read("pdf", buffer.getvalue())
    assert [s.heading_path for s in found.sections] == [(), ("A",), ("A", "A2"), ("B",)]


@hypothesis_settings(max_examples=60)
@given(st.integers(0, 1500), st.binary(min_size=1, max_size=20))
def test_a_changed_file_is_read_or_refused(place: int, change: bytes) -> None:
    data = pdf(LONG, "Second page, of which there is not much to say but that it is here.")
    place %= len(data)
    try:
        assert read("pdf", data[:place] + change + data[place + len(change) :]).text
    except UnreadableFile as error:
        assert "\n" not in str(error)


def test_marks_of_cut_words_are_in_no_text_heading_or_cell_and_the_boxes_stay() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    # the fonts that every PDF viewer has draw a soft hyphen as a hyphen
    for name in ("Vera", "VeraBd"):
        pdfmetrics.registerFont(TTFont(name, f"{name}.ttf"))
    canvas.setFont("VeraBd", 20)
    canvas.drawString(70, 790, "Long co\u00adoperation of the office")
    canvas.setFont("Vera", 11)
    canvas.drawString(70, 740, "The first floor is kept by the long\u00adstanding infor\u00ad")
    canvas.drawString(70, 725, "mation desk, which the house has had for many years, and cut\u00ad")
    rows = ("Item", "Office", "Costs"), ("co\u00adpies", "3", "12"), ("infor\u00ad", "5", "13")
    for number, row in enumerate((*rows, ("floors", "7", "15"))):
        for column, cell in enumerate(row):
            canvas.drawString(70 + 150 * column, 600 - 18 * number, cell)
    canvas.save()
    found = read("pdf", buffer.getvalue())
    texts = [found.text, *(name for each in found.sections for name in each.heading_path)]
    assert not [text for text in texts if set(text) & set("\x02\ufffe\xad")]
    assert "longstanding information desk" in found.text
    assert "copies | Office: 3 | Costs: 12" in found.text
    assert found.sections[-1].heading_path == ("Long cooperation of the office",)
    words = unpack_words(found.pages[0].words)
    boxed = {found.text[word[0] : word[1]] for word in words}
    assert {"long", "standing", "infor", "mation", "co", "pies"} <= boxed, "each part has its box"
