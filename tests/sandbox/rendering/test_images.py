"""Pages drawn: what they show, what is kept of them, and files made to harm."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator

import numpy as np
import psutil
import pytest
from PIL import Image

from helix.sandbox.rendering import images, limits
from helix.sandbox.rendering.images import PageImages, PageOfFile, Undrawable
from tests.support import sample_documents as documents
from tests.support.hostile_pdf import PDFS, pdf_of
from tests.support.printed_pages import HEIGHT, WIDTH, drawn

pytestmark = pytest.mark.processes

PAGE = PageOfFile("default", "a" * 64, 1, 1.0)


@pytest.fixture
async def pages() -> AsyncIterator[PageImages]:
    """One that leaves no process behind."""
    before = set(psutil.Process().children(recursive=True))
    opened = PageImages()
    yield opened
    await opened.aclose()
    left = set(psutil.Process().children(recursive=True)) - before
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in left):
        await asyncio.sleep(0.01)


async def _png(pages: PageImages, data: bytes, page: PageOfFile = PAGE) -> Image.Image:
    async def load() -> bytes:
        return data

    picture = Image.open(io.BytesIO(await pages.png(page, load)))
    picture.load()
    return picture


async def test_a_page_is_drawn_as_it_is_shown(pages: PageImages) -> None:
    """Red at the top left and black at the bottom right, turned with the page."""

    def draw(canvas: object) -> None:
        for colour, left, bottom in (((1, 0, 0), 0, HEIGHT - 100), ((0, 0, 0), WIDTH - 100, 0)):
            canvas.setFillColorRGB(*colour)  # type: ignore[attr-defined]
            canvas.rect(left, bottom, 100, 100, stroke=0, fill=1)  # type: ignore[attr-defined]

    upright = await _png(pages, drawn(draw, draw), PAGE._replace(number=2, scale=0.5))
    assert (upright.size, upright.mode) == ((WIDTH // 2, HEIGHT // 2), "RGB")
    spots = [upright.getpixel(at) for at in ((20, 20), (280, 380), (150, 200))]
    assert spots == [(255, 0, 0), (0, 0, 0), (255, 255, 255)]
    turned = await _png(pages, drawn(lambda _: None, rotation=90), PAGE._replace(file_hash="t"))
    assert turned.size == (HEIGHT, WIDTH)


async def test_grey_pages_are_grey_images(pages: PageImages) -> None:
    picture = await _png(pages, documents.pdf("Words on a page."))
    darkest, brightest = np.array(picture).min(), np.array(picture).max()
    assert picture.mode == "L" and darkest < 64 and brightest == 255


async def test_a_page_is_drawn_once_while_it_is_kept(pages: PageImages) -> None:
    loads = 0

    async def load() -> bytes:
        nonlocal loads
        loads += 1
        return documents.pdf("One page.", "Another.")

    both = await asyncio.gather(pages.png(PAGE, load), pages.png(PAGE, load))
    assert both[0] == both[1] == await pages.png(PAGE, load) and loads == 1
    for other in (
        PAGE._replace(tenant="other"), PAGE._replace(scale=1.1), PAGE._replace(number=2)
    ):  # fmt: skip
        await pages.png(other, load)
    assert loads == 4


async def test_what_was_asked_for_last_is_kept() -> None:
    loads: list[int] = []
    data = documents.pdf(*(f"Page number {n}." for n in range(1, 5)))

    async def ask(of: PageImages, number: int) -> bytes:
        async def load() -> bytes:
            loads.append(number)
            return data

        return await of.png(PAGE._replace(number=number), load)

    large = PageImages()
    size = len(await ask(large, 1))
    await large.aclose()
    small = PageImages(kept_bytes=int(2.5 * size))
    for number in (1, 2, 1, 3, 1, 2):
        await ask(small, number)
    await small.aclose()
    assert loads == [1, 1, 2, 3, 2]


@pytest.mark.parametrize(
    ("data", "number", "reason"),
    [
        (b"%PDF-1.7\n", 1, "the file is damaged or encrypted: its pages cannot be drawn"),
        (documents.pdf("Secret.", password="unknown"), 1, "the file is damaged or encrypted"),
        (documents.pdf("One."), 2, "there is no page 2: the file has 1"),
        (documents.pdf("One."), 0, "there is no page 0: the file has 1"),
    ],
)
async def test_what_cannot_be_drawn_is_said_and_not_tried_again(
    pages: PageImages, data: bytes, number: int, reason: str
) -> None:
    for content in (data, documents.pdf("Sound.")):
        with pytest.raises(Undrawable, match=reason) as raised:
            await _png(pages, content, PAGE._replace(number=number))
        assert raised.value.status == 422


async def test_a_huge_page_is_drawn_smaller(pages: PageImages) -> None:
    media = "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {}]>>"

    def page(size: str) -> bytes:
        return pdf_of("<</Type/Catalog/Pages 2 0 R>>", media[0], media[1].format(size))

    square = await _png(pages, page("14400 14400"), PAGE._replace(scale=4.0))
    assert square.width * square.height <= limits.MOST_PIXELS * 1.01
    assert square.width == square.height > 2000
    strip = await _png(pages, page("200000 10"), PAGE._replace(file_hash="strip"))
    assert strip.width <= 16_385


async def test_a_page_among_ten_thousand_is_drawn(pages: PageImages) -> None:
    kids = " ".join(f"{number} 0 R" for number in range(3, 10_003))
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 120]>>"
    tree = f"<</Type/Pages/Kids[{kids}]/Count 10000>>"
    data = pdf_of("<</Type/Catalog/Pages 2 0 R>>", tree, *[page] * 10_000)
    assert (await _png(pages, data, PAGE._replace(number=10_000))).size == (90, 120)


async def test_files_made_to_harm_are_drawn_or_refused(
    pages: PageImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another by one host, which draws a sound page as before after each."""
    monkeypatch.setattr(images, "SECONDS", 3)
    sound, faults = documents.pdf("Sound."), {}
    for name, make in PDFS.items():
        try:
            picture = await _png(pages, make(), PAGE._replace(file_hash=name))
        except Undrawable as reason:
            if "\n" in str(reason) or not str(reason):
                faults[name] = str(reason)
        else:
            if picture.width * picture.height > limits.MOST_PIXELS * 1.01:
                faults[name] = f"{picture.size}"
        after = await _png(pages, sound, PAGE._replace(file_hash=f"after {name}"))
        if after.width <= 500:
            faults[f"after {name}"] = f"{after.size}"
    assert faults == {}


@pytest.mark.parametrize("sent", [b"I\0\0\0\x03GIF", b"X\0\0\0\0", b"I\xff\xff\xff\xff"])
async def test_an_answer_that_is_no_image_is_not_believed(
    pages: PageImages, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "_WORK", "tests.support.unruly_work:send")
    with pytest.raises(Undrawable, match="marked it wrongly"):
        await _png(pages, sent)


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        ("spin", "page 1 takes longer than 1 s to draw"),
        ("hog", "page 1 needs more than 64 MB of memory to draw"),
        ("crash", "crashed"),
    ],
)
async def test_time_and_memory_are_limited(
    pages: PageImages, work: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "_WORK", f"tests.support.unruly_work:{work}")
    monkeypatch.setattr(images, "SECONDS", 1)
    monkeypatch.setattr(images, "MEMORY_MB", 64)
    with pytest.raises(Undrawable, match=reason):
        await _png(pages, b"")
