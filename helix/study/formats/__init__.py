"""Sets as files (JSON, CSV, Anki decks, Markdown, SVG), and decks read from files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal

from helix.domain.citations import place_of
from helix.errors import BadRequest
from helix.library.access import Row
from helix.study.formats.anki import MOST_NOTES, cited, to_anki

_HEADER = ("front", "back", "source")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes a cell for a formula."""


def to_csv(items: Sequence[Row]) -> bytes:
    """The cards of a set in UTF-8 with a byte order mark, which spreadsheets need."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_HEADER)
    for item in items:
        cells = (item["body"]["front"], item["body"]["back"], cited(item))
        writer.writerow(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def cards_of_csv(data: bytes) -> list[tuple[str, str]]:
    """Front and back of each line; a first line that names them is left out.

    Raises:
        BadRequest: it is no CSV in UTF-8, or a line has no back.
    """
    try:
        text = data.decode("utf-8-sig")
        dialect = "excel-tab" if "\t" in text.partition("\n")[0] else "excel"
        rows = list(csv.reader(io.StringIO(text.replace("\0", "")), dialect))
    except (UnicodeError, csv.Error):
        raise BadRequest("the file is no CSV in UTF-8: front and back in a line each") from None
    cards: list[tuple[str, str]] = []
    for n, row in enumerate(rows[: MOST_NOTES + 1], 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (n == 1 and [c.lower() for c in cells[:2]] == ["front", "back"]):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise BadRequest(f"line {n} has no front and back: two cells in a line each")
        cards.append((_unmarked(cells[0]), _unmarked(cells[1])))
    return cards


def _unmarked(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell


_WIDTH, _HEIGHT = 220.0, 44.0  # of a place on the grid; a node's box is a little smaller
_BOX = (190.0, 32.0)
_LONGEST = 30  # characters of a label in its box
_LETTERS = "ABCD"


def places(items: Sequence[Row]) -> dict[int, tuple[float, float]]:
    """The position of each node: the one that a person gave it, else by depth and leaf order."""
    below: dict[int | None, list[Row]] = {}
    ids = {item["id"] for item in items}
    for item in items:
        parent = item["body"].get("parent")
        below.setdefault(parent if parent in ids else None, []).append(item)
    positions: dict[int, tuple[float, float]] = {}
    row = 0

    def lay(item: Row, depth: int) -> float:
        nonlocal row
        children = [lay(child, depth + 1) for child in below.get(item["id"], ())]
        if children:
            y = (children[0] + children[-1]) / 2
        else:
            y, row = row * _HEIGHT, row + 1
        positions[item["id"]] = (depth * _WIDTH, y)
        return y

    for root in below.get(None, ()):
        lay(root, 0)
    saved = {item["id"]: item["body"].get("at") for item in items}
    return positions | {
        item_id: (float(at[0]), float(at[1])) for item_id, at in saved.items() if at
    }


def to_svg(items: Sequence[Row]) -> bytes:
    """A map as one self-contained SVG."""
    at = places(items)
    left, top = (min((p[n] for p in at.values()), default=0) - 20 for n in (0, 1))
    right = max((x for x, _ in at.values()), default=0) + _BOX[0] + 20
    bottom = max((y for _, y in at.values()), default=0) + _BOX[1] + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {right - left:g}'
        f' {bottom - top:g}" font-family="sans-serif" font-size="12">'
    ]
    for item in items:
        parent = item["body"].get("parent")
        if parent in at:
            (a, b), (c, d) = at[parent], at[item["id"]]
            a, b, d = a + _BOX[0], b + _BOX[1] / 2, d + _BOX[1] / 2
            lines.append(f'<path d="M{a:g} {b:g}C{(a + c) / 2:g} {b:g} {(a + c) / 2:g} {d:g}'
                         f' {c:g} {d:g}" fill="none" stroke="#888"/>')  # fmt: skip
    for item in items:
        x, y = at[item["id"]]
        label = item["body"]["label"]
        short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
        lines.append(
            f'<g><title>{escape(label)}</title><rect x="{x:g}" y="{y:g}" width="{_BOX[0]:g}"'
            f' height="{_BOX[1]:g}" rx="6" fill="#fff" stroke="#555"/><text x="{x + 8:g}"'
            f' y="{y + 20:g}">{escape(short)}</text></g>'
        )
    return "\n".join([*lines, "</svg>"]).encode("utf-8", "replace")


def to_markdown(study_set: Row, items: Sequence[Row]) -> bytes:
    """A set as Markdown, each item with its source; the answers of a quiz stand at its end."""
    writers = {"quiz": _quiz, "cards": _cards, "workshop": _lessons, "map": _tree}
    lines = [f"# {study_set['title'] or 'Study'}", "", *writers[study_set["kind"]](items), ""]
    return "\n".join(lines).encode("utf-8", "replace")


def _quiz(items: Sequence[Row]) -> Iterator[str]:
    for n, item in enumerate(items, 1):
        body = item["body"]
        if item["kind"] == "choice":
            yield f"{n}. {body['question']}"
            yield from (f"   - {_LETTERS[i]}. {text}" for i, text in enumerate(body["options"]))
        else:
            yield f"{n}. True or false? {body['statement']}"
    yield from ("", "## Answers", "")
    for n, item in enumerate(items, 1):
        body = item["body"]
        is_choice = item["kind"] == "choice"
        key = _LETTERS[body["key"]] if is_choice else str(body["truth"]).lower()
        yield f"{n}. {key}. {cited(item)}"


def _cards(items: Sequence[Row]) -> Iterator[str]:
    for item in items:
        yield f"- **{item['body']['front']}** {item['body']['back']} ({cited(item)})"


def _lessons(items: Sequence[Row]) -> Iterator[str]:
    lessons = [item for item in items if item["kind"] == "lesson"]
    for n, lesson in enumerate(lessons, 1):
        body = lesson["body"]
        yield from (f"## {n}. {body['title']}", "")
        if body.get("text"):
            yield from (body["text"], "")
            for c in body.get("citations") or ():
                yield f"- [{c['n']}] {place_of(c['title'], c['heading_path'], c['label'])}"
        else:
            yield from (f"- {point}" for point in body["points"])
        yield ""
    if exercises := [item for item in items if item["kind"] != "lesson"]:
        yield from ("## Exercises", "", *_quiz(exercises))


def _tree(items: Sequence[Row]) -> Iterator[str]:
    ids = {item["id"]: item["body"].get("parent") for item in items}

    def below(parent: int | None, depth: int) -> Iterator[str]:
        for item in items:
            of = ids[item["id"]] if ids[item["id"]] in ids else None
            if of == parent:
                source = cited(item)
                yield f"{'  ' * depth}- {item['body']['label']}" + (
                    f" ({source})" if source else ""
                )
                yield from below(item["id"], depth + 1)

    return below(None, 0)


Format = Literal["json", "markdown", "csv", "anki", "svg"]
_OF_KINDS = {"csv": "cards", "anki": "cards", "svg": "map"}


def exported(kind: Format, study_set: Row, items: Sequence[Row]) -> bytes:
    """A set with its items as a file of this format.

    Raises:
        BadRequest: a set of its kind has no such format.
    """
    if study_set["kind"] != _OF_KINDS.get(kind, study_set["kind"]):
        raise BadRequest(f"a set of kind {study_set['kind']} cannot be exported as {kind}")
    match kind:
        case "anki":
            return to_anki(study_set["title"], study_set["id"], items)
        case "csv":
            return to_csv(items)
        case "svg":
            return to_svg(items)
        case "markdown":
            return to_markdown(study_set, items)
        case "json":
            text = json.dumps(study_set | {"items": list(items)}, ensure_ascii=False, indent=1)
            return text.encode("utf-8", "replace")
