"""One contender of the reading benchmark, in a process of its own.

Its one argument is ``floor`` (pdfium's own text of every page, nothing made of it), ``reader`` or
``without tables`` (the reader, which takes no page for one with a table). It is told the path of a
PDF a line and answers with its pages, the processor seconds, and the most MiB it ever had.

It runs in a checkout of an earlier commit too, and so asks the reader for nothing but its progress.
"""

from __future__ import annotations

import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

FLOOR, READER, WITHOUT_TABLES = "floor", "reader", "without tables"
_STATUS = Path("/proc/self/status")
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def _floor(data: bytes) -> int:
    import pypdfium2 as pdfium  # type: ignore[import-untyped]  # its memory is the floor's alone

    with pdfium.PdfDocument(data) as document:
        for page in document:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()
        return len(document)


def _reader(*, with_tables: bool) -> Callable[[bytes], int]:
    from pipelines.readers import pdf  # not in the floor's process, whose memory it would be

    if not with_tables:
        vars(pdf)["may_have_tables"] = lambda words: False

    def pages_of(data: bytes) -> int:
        pages = 0

        def hear(done: int, total: int) -> None:
            nonlocal pages
            pages = total

        pdf.read(data, hear)
        return pages

    return pages_of


def _peak_mib() -> float:
    """The most MiB of this process; ``ru_maxrss`` would count those of the one that started it."""
    if _STATUS.exists() and (found := _PEAK.search(_STATUS.read_text())):
        return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def main() -> None:
    """Until its input ends."""
    read = _floor if sys.argv[1] == FLOOR else _reader(with_tables=sys.argv[1] == READER)
    for line in sys.stdin:
        data = Path(line.rstrip("\n")).read_bytes()
        started = time.process_time()
        pages = read(data)
        seconds = time.process_time() - started
        print(pages, seconds, _peak_mib(), flush=True)


if __name__ == "__main__":
    main()
