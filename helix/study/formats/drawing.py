"""Maps as SVG and Markdown, quizzes, cards and workshops as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from helix.domain.citations import place_of
from helix.library.access import Row
from helix.study.formats.anki import cited

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
