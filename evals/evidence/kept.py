"""Results of a set, kept line by line, so that a measurement which was broken off goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from evals.suites import ROOT

FOLDER = ROOT / "build/evidence"
Row = dict[str, Any]


class Kept:
    """The results of the set ``name``, a row each by ``id``, in a file below FOLDER.

    ``anew``: what was kept of it is left behind.
    """

    def __init__(self, name: str, *, anew: bool = False, folder: Path = FOLDER) -> None:
        self._path = folder / f"{name}.jsonl"
        if anew:
            self._path.unlink(missing_ok=True)
        self._rows = {row["id"]: row for row in _read(self._path)}

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def keep(self, row: Row) -> None:
        """Add a row with the commit of ``helix``; it is in the file when this returns."""
        whole = row | {"commit": commit()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole, ensure_ascii=False) + "\n")
        self._rows[row["id"]] = whole


def _read(path: Path) -> Iterator[Row]:
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:  # the line that a kill cut off
            continue


@cache
def commit() -> str:
    """The commit that last changed ``helix``; "?" outside of a checkout."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "helix"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return told.stdout.strip() or "?"
