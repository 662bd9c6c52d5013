"""The reader: pages with the quote marked on them, clean text, tables, slides, search, outline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from tests.browser.conftest import ask, fits, screenshots, serious, serving, until, watched
from tests.support.printed_pages import HEIGHT, WIDTH, drawn, put
from tests.support.sample_documents import Bullet, Heading, Slide, Table, docx, pptx, xlsx
from tests.support.service_process import run

PAGES = 120
FRONT = 2  # pages before the one that "1" is printed on
TABLE_PAGE = 12
QUOTE = "The windmill of Ostend ground 4,180 tonnes of barley in the year 2019."
QUOTE_PAGE = 40
MARKED = "rgba(255, 214, 64, 0.45)"
_ROWS = (("Barley", "4,180", "3,950"), ("Spelt", "1,220", "1,175"), ("Rye", "860", "915"))


_PLACES = ("Ostend", "Bredene", "Knokke", "De Haan", "Zeebrugge", "Nieuwpoort", "Veurne")
_WORK = ("grinds rye", "saws oak for ships", "pumps the polder dry", "presses linseed", "rests")
_WINDS = ("westerly", "storm", "light breeze from the sea", "gusty autumn wind", "calm", "squall")


def _story(number: int) -> list[str]:
    """The lines of a page's text: no two pages have the same."""
    place, work = _PLACES[number % 7], _WORK[number % 5]
    wind, other = _WINDS[number % 6], _WINDS[(number * 5 + 1) % 6]
    lines = [f"Near {place} the mill of village {number} {work} whenever there is a {wind}."]
    lines += [f"A {other} stops it, and {place} waits."] * (number % 3 > 0)
    return [*lines, f"Its {number} farmers come with their carts before the {wind} is over."]


def _page(canvas: Canvas, number: int) -> None:
    put(canvas, 60, 30, "Mills of the Coast: Annual Report", size=8)
    title = f"Chapter {number}: The {_WINDS[number % 6]} of {_PLACES[number % 7]}"
    put(canvas, 60, 80, title, size=18, bold=True)
    lines = [QUOTE] if number == QUOTE_PAGE else []
    put(canvas, 60, 130, *lines, *_story(number), size=11, leading=16)
    if number == TABLE_PAGE:
        _table(canvas)
    if number > FRONT:
        put(canvas, WIDTH / 2, HEIGHT - 40, str(number - FRONT), size=8)


def _table(canvas: Canvas) -> None:
    put(canvas, 60, 220, "Grain milled by kind (in tonnes)", size=11, bold=True)
    for n, row in enumerate((("Grain", "2019", "2018"), *_ROWS)):
        for column, text in enumerate(row):
            put(canvas, 65 + 150 * column, 244 + 20 * n, text, size=11)
    canvas.setLineWidth(0.5)
    across = [60 + 150 * n for n in range(4)]
    down = [HEIGHT - 240 - 20 * n for n in range(len(_ROWS) + 2)]
    canvas.grid(across, down)


_ATTIC = "The key of the attic hangs in the hall."
_LEAVE = "# سياسة الإجازات\n\nلكل موظف 27 يوما.\n\n- شهادة طبية بعد 4 أيام\n\nThe end.\n"

_WRAPPED = """\
The lighthouse of Ostend
========================

The keeper of the lighthouse climbs two hundred and six steps every
evening, and lights the lamp at the hour that the almanac of the port
gives for the sunset. He writes it down.

 - Oil comes on the first day of each month, by the boat that brings the
   letters too.
 - Wicks are cut
   every Friday.

Harbour Office of the Town
Kade 12
8400 Ostend

Month     Oil    Wicks
January   41     12
February  38     11

for (const lamp of lamps) lightAt(almanac.sunset(today));
  report(lamp);
"""


@pytest.fixture(scope="module")
def shelf(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over a report of 120 pages whose bytes are kept, one whose are not, and others."""
    kept, other = tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("other")
    report = drawn(*(partial(_page, number=n) for n in range(1, PAGES + 1)), title="Mills")
    (kept / "mills-2019.pdf").write_bytes(report)
    (kept / "plan.pptx").write_bytes(_slides())
    (kept / "travel.docx").write_bytes(_word())
    (kept / "rates.xlsx").write_bytes(_sheet())
    (kept / "attic.docx").write_bytes(docx(Heading("House rules", 0), Heading("Keys"), _ATTIC))
    (kept / "leave.md").write_text(_LEAVE)
    (kept / "keeper.txt").write_text(_WRAPPED)
    lost = drawn(lambda canvas: put(canvas, 60, 80, "The lamp oil is kept in the cellar."))
    (other / "cellar.pdf").write_bytes(lost)
    _ingest(module_database_url, kept, "--keep-files")
    _ingest(module_database_url, other)
    with serving(module_database_url) as url:
        yield url


def _slides() -> bytes:
    second = Slide("Budget", ("What it costs",), table=(("Item", "Cost"), ("Desk", "400")))
    return pptx(Slide("Plan", ("Hire two", "Open the office in Ghent"), notes="Say why."), second)


def _sheet() -> bytes:
    rows = (("City", "Rate"), ("Ghent", 100), ("Bruges", 107), ("Namur", 121))
    return xlsx({"Rates": rows, "Rates by night": (("Night", "Price"), ("Friday", 90))})


def _word() -> bytes:
    rows = Table((("Grade", "Days"), ("A", "20"), ("B", "25")))
    nights = "A hotel room may cost 140 euros a night at most."
    return docx(Heading("Travel"), Heading("Hotels", 2), nights, Bullet("Book early"), rows)


def _ingest(url: str, folder: Path, *options: str) -> None:
    told = run(
        "-m", "pipelines.ingest", *options, str(folder),
        DATABASE_URL=url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.fixture
def page(context: BrowserContext, shelf: str) -> Iterator[Page]:
    with watched(context, shelf) as opened:
        opened.wait_for_selector(".welcome h1")
        yield opened


def document(shelf: str, name: str) -> dict[str, Any]:
    """The document whose source ends like this, with its text."""
    found = httpx.get(f"{shelf}/v1/documents", params={"q": name}).json()["documents"]
    whole: dict[str, Any] = httpx.get(f"{shelf}/v1/documents/{found[0]['id']}").json()
    return whole


def open_at(page: Page, shelf: str, name: str, quote: str) -> None:
    """The reader on its own, at ``quote`` of that document."""
    one = document(shelf, name)
    start = one["text"].index(quote)
    page.goto(f"{shelf}/#/source/{one['id']}?start={start}&end={start + len(quote)}")


def test_a_citation_opens_the_printed_page_at_its_box(page: Page, shelf: str) -> None:
    ask(page, "How many tonnes of barley did the windmill of Ostend grind in 2019?")
    page.locator(".chip:enabled").first.click()
    sheet = page.get_by_role("figure", name=f"Page {QUOTE_PAGE} (printed {QUOTE_PAGE - FRONT})")
    expect(sheet.locator("img")).to_be_visible()
    expect(sheet.locator(".box.quote").first).to_be_in_viewport()
    expect(sheet.locator("mark.quote")).to_have_text(QUOTE)
    expect(page.locator(".jump")).to_contain_text(f"of {PAGES} (printed {QUOTE_PAGE - FRONT})")
    # it is drawn 130 points from the top of the page; both at once, for the page may scroll
    share: float = sheet.evaluate(
        """(sheet) => { const whole = sheet.getBoundingClientRect();
        const box = sheet.querySelector(".box.quote").getBoundingClientRect();
        return (box.y - whole.y) / whole.height; }"""
    )
    assert 120 < share * HEIGHT < 140
    page.emulate_media(forced_colors="active")
    expect(sheet.locator(".box.quote").first).to_have_css("background-color", MARKED)
    page.emulate_media(forced_colors="none")
    page.screenshot(path=screenshots() / "reader.png")
    assert serious(page) == []


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("How many tonnes of barley did the windmill of Ostend grind in 2019?",
         f"page {QUOTE_PAGE} (printed {QUOTE_PAGE - FRONT})"),
        ("What is the cost of Desk?", "slide 2"),
        ("What is the Rate of Ghent?", "sheet Rates, rows 2-4"),
    ],
    ids=["page", "slide", "sheet"],
)  # fmt: skip
def test_places_are_said_as_people_say_them(page: Page, question: str, place: str) -> None:
    ask(page, question)
    expect(page.locator(".sources .passage").first).to_contain_text(place)
    page.locator(".chip:enabled").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(place)
    page.locator(".chip:enabled").first.click()
    expect(page.locator(".source-place")).to_contain_text(place)
    page.get_by_text("Why this answer").click()
    expect(page.locator(".why .read")).to_contain_text(place)


def test_pages_come_as_they_are_reached(page: Page, shelf: str) -> None:
    open_at(page, shelf, "mills-2019", QUOTE)
    field = page.get_by_label("Go to page")
    expect(field).to_have_value(str(QUOTE_PAGE))
    field.fill("100")
    field.press("Enter")
    expect(page.get_by_role("figure", name="Page 100 ").locator("img")).to_be_in_viewport()
    expect(field).to_have_value("100")
    # a picture that comes as the wheel turns holds the page where it was for that turn
    expect(page.locator(".sheet-wait")).to_have_count(0)
    page.locator(".source-body").hover()
    page.mouse.wheel(0, 1600)
    expect(page.get_by_role("figure", name="Page 101 ").locator("img")).to_be_in_viewport()
    # the others are empty places of the right size
    expect(page.locator(".sheets .leaf")).to_have_count(PAGES)
    until(page, "document.querySelectorAll('.sheet').length < 12")
    page.get_by_label("Back to the marked passage").click()
    expect(page.locator(".box.quote").first).to_be_in_viewport()
    page.get_by_label("Zoom in").click()
    expect(page.locator(".zoom-value")).to_have_text("125%")
    expect(page.locator(".box.quote").first).to_be_in_viewport()
    assert fits(page)


def test_text_beside_the_page_is_remembered_and_searched(page: Page, shelf: str) -> None:
    open_at(page, shelf, "mills-2019", QUOTE)
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator("mark.quote")).to_have_text(QUOTE)
    page.reload()
    expect(page.locator(".document-text mark.quote")).to_be_in_viewport()
    page.locator(".source-body").press("/")
    page.keyboard.type("mill of village 77")
    expect(page.locator("mark.now")).to_be_in_viewport()
    page.locator(".find input").press("Escape")
    page.locator(".source-body").press("v")
    expect(page.get_by_role("figure", name="Page 77 ").locator("img")).to_be_visible()
    opener = page.get_by_role("button", name="Search within the document")
    opener.press("Enter")
    page.keyboard.type("farmers come")
    expect(page.locator(".find")).to_contain_text(f"of {PAGES}")
    expect(page.locator(".box.now")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []


def test_a_table_is_a_table_with_the_cell_marked(page: Page, shelf: str) -> None:
    open_at(page, shelf, "mills-2019", "1,175")
    expect(page.locator(".box.quote")).to_be_in_viewport()
    page.locator(".source-body").press("v")
    table = page.get_by_role("table")
    expect(table.locator("mark.quote")).to_have_text("1,175")
    expect(table.get_by_role("row", name="Spelt")).to_contain_text("1,220")
    expect(table.get_by_role("columnheader", name="2018")).to_be_in_viewport()
    assert serious(page) == []
    assert fits(page)


def test_the_outline_leads_to_a_chapter(page: Page, shelf: str) -> None:
    open_at(page, shelf, "mills-2019", QUOTE)
    expect(page.locator(".box.quote")).to_be_in_viewport()
    page.locator(".source-body").press("o")
    outline = page.get_by_role("navigation", name="Outline")
    outline.get_by_text("Chapter 90:").click()
    expect(page.get_by_role("figure", name="Page 90 ").locator("img")).to_be_in_viewport()


def test_the_original_is_downloaded(page: Page, shelf: str) -> None:
    open_at(page, shelf, "mills-2019", QUOTE)
    with page.expect_download() as download:
        page.get_by_label("Download the original").click()
    assert download.value.suggested_filename == "mills-2019.pdf"
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")


def test_without_the_bytes_there_is_the_text_and_it_says_so(page: Page, shelf: str) -> None:
    open_at(page, shelf, "cellar", "lamp oil")
    expect(page.locator("mark.quote")).to_have_text("lamp oil")
    expect(page.locator(".reader-note")).to_contain_text("--keep-files")
    expect(page.get_by_role("button", name="Page", exact=True)).to_have_count(0)
    expect(page.get_by_label("Download the original")).to_have_count(0)


def test_slides_and_word_documents_look_like_what_they_are(page: Page, shelf: str) -> None:
    open_at(page, shelf, "plan.pptx", "Ghent")
    first = page.get_by_role("article", name="Slide 1")
    expect(first.locator("mark.quote")).to_have_text("Ghent")
    expect(first.get_by_role("heading", name="Plan")).to_be_visible()
    expect(page.get_by_role("article", name="Slide 2").get_by_role("table")).to_contain_text("400")
    assert serious(page) == []
    open_at(page, shelf, "travel.docx", "140 euros")
    expect(page.locator("mark.quote")).to_have_text("140 euros")
    expect(page.get_by_role("heading", name="Hotels")).to_be_visible()
    expect(page.get_by_role("row", name="B")).to_contain_text("25")
    expect(page.get_by_role("columnheader")).to_have_text(["Grade", "Days"])
    assert fits(page)


def test_the_heading_below_a_title_is_a_heading(page: Page, shelf: str) -> None:
    open_at(page, shelf, "attic.docx", "hangs in the hall")
    expect(page.locator("mark.quote")).to_have_text("hangs in the hall")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()


_LINES = """(element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const ends = new Map();
    for (const { top, right } of range.getClientRects()) {
      const line = Math.round(top / 12);
      ends.set(line, Math.max(ends.get(line) ?? 0, right));
    }
    const { right } = element.getBoundingClientRect();
    return [...ends.values()].slice(0, -1).map((end) => right - end);
}"""


def test_prose_is_filled_to_the_width_and_all_else_keeps_its_lines(page: Page, shelf: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    quote = "lights the lamp at the hour that the almanac of the port\ngives for the sunset"
    open_at(page, shelf, "keeper", quote)
    marked = page.locator("mark.quote")
    expect(marked).to_be_in_viewport()
    assert marked.evaluate("(element) => element.textContent") == quote
    text = page.locator(".document-text")
    prose = text.locator("p.filled")
    expect(prose).to_have_count(2)
    expect(text).not_to_contain_text("====")
    for n in range(2):
        assert all(missing < 150 for missing in prose.nth(n).evaluate(_LINES))
    expect(prose.nth(1)).to_have_css("padding-inline-start", "17.6px")  # an item hangs
    kept = [f"{line}\n" for line in ("Wicks are cut", "Kade 12", "lightAt(almanac.sunset(today));")]
    drawn_text = text.locator("p:not(.filled)").all_text_contents()
    assert all(any(line in one for one in drawn_text) for line in kept)
    expect(text.locator("pre")).to_contain_text("January   41     12\n")
    assert serious(page) == [] and fits(page)


_ENDS = """(element) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.push(walker.currentNode);
    const at = (text, place) => {
      const range = document.createRange();
      range.setStart(text, place);
      range.setEnd(text, place + 1);
      return range.getBoundingClientRect().left;
    };
    const last = texts.at(-1);
    return [at(texts[0], 0), at(last, last.data.trimEnd().length - 1)];
}"""


def test_each_paragraph_begins_where_its_script_does(page: Page, shelf: str) -> None:
    open_at(page, shelf, "leave.md", "27 يوما")
    text = page.get_by_role("region", name="Text of the document")
    expect(text.locator("mark.quote")).to_have_text("27 يوما")
    for place in (text.get_by_role("heading"), text.locator("p").first):
        first, last = place.evaluate(_ENDS)
        assert last < first, "the full stop stands at the left end"
    first, last = text.get_by_text("The end.").evaluate(_ENDS)
    assert first < last
    expect(text.get_by_role("list")).to_have_css("direction", "rtl")  # and so has its bullet
    assert fits(page)


def test_the_sheets_of_a_workbook_have_their_names(page: Page, shelf: str) -> None:
    open_at(page, shelf, "rates.xlsx", "90")
    expect(page.locator("mark.quote")).to_have_text("90")
    names = page.get_by_role("region", name="Text of the document").get_by_role("heading")
    expect(names).to_have_text(["Rates", "Rates by night"])
    assert "Rates by night" not in document(shelf, "rates.xlsx")["text"]
    assert serious(page) == []


def test_title_and_facts_are_put_right(page: Page, shelf: str) -> None:
    open_at(page, shelf, "travel.docx", "140 euros")
    page.get_by_label("Edit title, facts and metadata").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Title")).to_be_focused()
    dialog.get_by_label("Title").fill("Travel rules")
    dialog.get_by_label("Company").fill("Northwind")
    assert serious(page) == []
    dialog.get_by_label("Company").press("Enter")
    expect(page.locator(".source-title")).to_contain_text("Travel rules")
    expect(page.locator(".source-title")).to_contain_text(re.compile(r"travel\.docx.*Northwind"))
    page.goto(f"{shelf}/#/library")
    row = page.locator(".document", has_text="Travel rules")
    expect(row).to_contain_text("travel.docx")
    expect(row).to_contain_text("Northwind")
