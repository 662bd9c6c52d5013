"""Sets as files (JSON, CSV, Anki decks, Markdown, SVG), and decks read from files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from helix.errors import BadRequest
from helix.library.access import Row
from helix.study.formats.anki import to_anki
from helix.study.formats.drawing import to_markdown, to_svg
from helix.study.formats.tables import to_csv

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
