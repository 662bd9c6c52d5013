"""What an ingest shows as it goes."""

from __future__ import annotations

import io

import pytest

from pipelines.progress import Reporter


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_and_plain_lines_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "TERM", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        with Reporter(2, stream) as reporter:
            for name in ("a [bold]b", "c"):
                reporter.embedded(3)
                reporter.line(f"added {name}.txt")
                reporter.done()
        shown[stream.isatty()] = stream.getvalue()
    assert shown[False] == "added a [bold]b.txt\nadded c.txt\n"
    for part in ("Ingesting", "2/2", "6 chunks", "added a [bold]b.txt"):
        assert part in shown[True]
