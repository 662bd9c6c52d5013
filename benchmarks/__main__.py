"""``python -m benchmarks``: all of them."""

from __future__ import annotations

from benchmarks import (
    costs,
    formats,
    hybrid,
    ingest,
    memory,
    page,
    receipts,
    search,
    serving,
    workers,
)  # fmt: skip
from benchmarks.options import main

if __name__ == "__main__":
    main(
        {
            "ingest": ingest.run,
            "search": search.run,
            "hybrid": hybrid.run,
            "serving": serving.run,
            "receipts": receipts.run,
            "page": page.run,
            "formats": formats.run,
            "costs": costs.run,
            "workers": workers.run,
            "memory": memory.run,
        }
    )
