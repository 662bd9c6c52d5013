"""The files of the page, and what they ask of the server, as tests read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from helix.serving.routes.web import FOLDER


def own_files(*kinds: str) -> list[Path]:
    """Files of ours below the page's folder: not those that are vendored."""
    found = [path for kind in kinds for path in FOLDER.rglob(f"*{kind}")]
    return [path for path in found if path.parent.name != "vendor"]


def endpoints() -> dict[str, dict[str, list[str]]]:
    """The table of endpoints.js, which holds JSON."""
    text = (FOLDER / "endpoints.js").read_text()
    table = json.loads(text[text.index("= {") + 2 : text.rindex("}") + 1])
    assert isinstance(table, dict)
    return table


def missing(answer: object, paths: list[str]) -> list[str]:
    """The paths, such as ``documents[].id``, that an answer lacks; an empty list lacks all."""
    return [path for path in paths if not _has([answer], path.split("."))]


def _has(values: list[Any], steps: list[str]) -> bool:
    for step in steps:
        name = step.removesuffix("[]")
        if not values or any(not isinstance(one, dict) or name not in one for one in values):
            return False
        values = [one[name] for one in values]
        if step.endswith("[]"):
            values = [item for items in values for item in items]
    return bool(values)
