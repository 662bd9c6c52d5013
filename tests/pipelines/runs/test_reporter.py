"""The progress that an ingest shows."""

from __future__ import annotations

import io

import pytest

from pipelines.runs.foreground import Reporter


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_and_plain_lines_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "TERM", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        with Reporter(stream) as reporter:
            reporter.set_total(2)
            for n, name in enumerate(("a [bold]:top:.txt", "c.txt")):
                row = {"n": n, "source_uri": name, "done": 3, "total": 7, "chunks": 2}
                reporter.file(row | {"status": "reading"})
                reporter.file(row | {"status": "added"})
        shown[stream.isatty()] = stream.getvalue()
    assert shown[False] == "added     a [bold]:top:.txt (2 chunks)\nadded     c.txt (2 chunks)\n"
    for part in ("Ingesting", "2/2", "reading 3 of 7: c", "added     a [bold]:top:.txt"):
        assert part in shown[True]


def test_a_name_is_one_line_and_steers_no_terminal() -> None:
    stream = io.StringIO()
    row = {
        "source_uri": "a\x1b[2J\nb.txt",
        "done": 0,
        "total": 0,
        "chunks": 1,
        "reason": "\x1b[0m bad",
    }
    with Reporter(stream) as reporter:
        reporter.file(row | {"status": "added"})
        reporter.file(row | {"status": "failed"})
    assert stream.getvalue() == "added     a[2J b.txt (1 chunks)\nfailed    a[2J b.txt: [0m bad\n"
