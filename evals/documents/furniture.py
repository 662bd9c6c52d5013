"""Running headers, footers and page numbers of five filings, and what a reader makes of them.

What is furniture is told by a rule a filing, of the lines as pdfium gives them; each was checked by
eye on the pages. A line that may be either (the company's name above a statement) counts as none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]

from evals.documents.read_cells import squeezed
from pipelines.readers import ReadText

_LAST_LINES = 5
"""A page number is among the last lines of its page."""
_BEHIND = 4
"""The printed number is at most so far behind that of the page."""


@dataclass(frozen=True)
class FurnitureRule:
    """Of one filing: whole lines that are furniture, lines that may be, and its page numbers.

    ``only_with``: the furniture lines count on pages that have this line, from ``first_page`` on.
    """

    lines: tuple[str, ...]
    either: tuple[str, ...] = ()
    numbered: bool = True
    only_with: str = ""
    first_page: int = 1


RULES = {
    "2023 Q3 AAPL.pdf": FurnitureRule(
        (r"Apple Inc\. \| Q3 2023 Form 10-Q \| \d+",),
        (r"Apple Inc\.", "[®™]( [®™])*"),
        numbered=False,
    ),
    "2023 Q2 MSFT.pdf": FurnitureRule((r"PART I{1,2}", r"Item [\dA, ]+")),
    "2023 Q1 INTC.pdf": FurnitureRule(
        ("Table of Contents", r"(Financial Statements .+|MD&A|Other Key Information) \d+"),
        either=("Table of Contents",),  # the title of the second page
        first_page=3,
    ),
    "2023 Q2 AMZN.pdf": FurnitureRule(("Table of Contents",)),
    "2022 Q3 NVDA.pdf": FurnitureRule(
        (
            "NVIDIA CORPORATION AND SUBSIDIARIES",
            r"NOTES TO CONDENSED CONSOLIDATED FINANCIAL STATEMENTS \(Continued\)",
            r"\(Unaudited\)",
        ),
        ("NVIDIA CORPORATION AND SUBSIDIARIES", r"\(Unaudited\)"),
        only_with=r"NOTES TO CONDENSED CONSOLIDATED FINANCIAL STATEMENTS \(Continued\)",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class LabelledPage:
    """The lines of a page, which counts from 1, by what they are."""

    number: int
    furniture: tuple[str, ...]
    body: tuple[str, ...]


@dataclass
class FurnitureScore:
    """Lines of one filing: of the furniture those recognised, of the body those kept."""

    furniture: int = 0
    recognised: int = 0
    body: int = 0
    kept: int = 0
    missed: list[str] = field(default_factory=list)


def labelled_pages(file: Path) -> Iterator[LabelledPage]:
    """The pages of one of the filings of RULES."""
    rule = RULES[file.name]
    with pypdfium2.PdfDocument(file) as document:
        for number, page in enumerate(document, 1):
            text = page.get_textpage().get_text_range()
            lines = [" ".join(line.split()) for line in re.split(r"[\r\n]+", text)]
            yield _labelled(rule, number, [line for line in lines if line])


def _labelled(rule: FurnitureRule, number: int, lines: Sequence[str]) -> LabelledPage:
    counts = not rule.only_with or any(re.fullmatch(rule.only_with, one) for one in lines)
    wanted = rule.lines if counts and number >= rule.first_page else ()
    label = _page_number(number, lines) if rule.numbered else None
    furniture, body = [], []
    for place, line in enumerate(lines):
        if place == label or any(re.fullmatch(one, line) for one in wanted):
            furniture.append(line)
        elif not any(re.fullmatch(one, line) for one in rule.either):
            body.append(line)
    return LabelledPage(number, tuple(furniture), tuple(body))


def _page_number(number: int, lines: Sequence[str]) -> int | None:
    """The place of the line that is the page's number alone."""
    for place in range(len(lines) - 1, max(-1, len(lines) - 1 - _LAST_LINES), -1):
        line = lines[place]
        if line.isdecimal() and number - _BEHIND <= int(line) <= number:
            return place
    return None


def score(pages: Sequence[LabelledPage], read: ReadText) -> FurnitureScore:
    """The score of ``read`` against labelled pages: furniture recognised, lines of text kept."""
    texts = page_texts(read)
    furniture = {page.number: page.furniture for page in read.pages}
    found = FurnitureScore()
    for page in pages:
        given = [squeezed(line) for line in furniture.get(page.number, ())]
        for line in page.furniture:
            found.furniture += 1
            if _is_among(squeezed(line), given):
                found.recognised += 1
            else:
                found.missed.append(f"page {page.number}: not furniture: {line}")
        around = "".join(texts.get(page.number + step, "") for step in (-1, 0, 1))
        for line in page.body:
            found.body += 1
            lost = [word for word in _words(line) if word not in around]
            if lost:
                found.missed.append(f"page {page.number}: lost {lost} of: {line}")
            else:
                found.kept += 1
    return found


def page_texts(read: ReadText) -> dict[int, str]:
    """The text of each page, squeezed to letters and digits."""
    spans = [(page.number, page.start, page.end) for page in read.pages]
    if not spans:
        spans = [(one.page, one.start, one.end) for one in read.sections if one.page]
    texts: dict[int, str] = {}
    for number, start, end in spans:
        texts[number] = texts.get(number, "") + _letters(read.text[start:end])
    return texts


def _is_among(line: str, given: Sequence[str]) -> bool:
    """A number must be a line of its own, or end one; other lines may be part of one."""
    if line.isdecimal():
        return any(re.search(rf"(?<!\d){line}(?!\d)", one) for one in given)
    return any(line in one for one in given) or line in "".join(given)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", squeezed(text))


def _words(line: str) -> list[str]:
    """The words of a line, without raised marks; both parts of one that ends a printed line."""
    parts = re.split(r"[\s\ufffe]+", re.sub("[¹²³⁴⁵]", "", line))
    return [letters for part in parts if (letters := _letters(part))]
