"""The progress of an ingest on the terminal: a bar, or plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from helix.commands.console import one_line
from helix.domain.contract import OPEN_FILE
from helix.library.access import Row


class Reporter:
    """Lines and, on a terminal, a bar of files; everything goes to standard error but `summary`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = Console(file=stream or sys.stderr, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[stage]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("Ingesting", total=0, stage="scan")

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def line(self, text: str, style: str | None = None) -> None:
        """One line, above the bar where there is one. ``text`` is printed as it is."""
        self._console.print(text, style=style, markup=False, emoji=False)

    def set_total(self, files: int) -> None:
        """The run has ``files`` files, as far as it knows."""
        if files > (self._bar.tasks[0].total or 0):
            self._bar.update(self._task, total=files)

    def stage(self, name: str, stage: str, done: int, total: int) -> None:
        """Show the stage of one file: ``done`` of ``total`` pages or batches, if known."""
        part = f" {done} of {total}" if total else ""
        self._bar.update(self._task, stage=f"{stage}{part}: {name}"[:60])

    def file(self, row: Row) -> None:
        """One line for what became of a file, the bar for the rest; ``row`` is a run's of it."""
        self.set_total(row.get("n", 0) + 1)
        status, name = row["status"], one_line(row["source_uri"])  # a file may be called anything
        if status in OPEN_FILE:
            self.stage(name, status, row["done"], row["total"])
            return
        self._bar.advance(self._task)
        if status == "failed":
            self.line(f"failed    {name}: {one_line(row['reason'])}", style="red")
        elif status in ("added", "replaced"):
            self.line(f"{status:<9} {name} ({row['chunks']} chunks)")
