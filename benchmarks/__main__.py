"""``python -m benchmarks``: all of them."""

from __future__ import annotations

from benchmarks import costs, formats, ingest, memory, search, serving, workers
from benchmarks.options import main

if __name__ == "__main__":
    main(
        {
            "ingest": ingest.run,
            "search": search.run,
            "serving": serving.run,
            "formats": formats.run,
            "costs": costs.run,
            "workers": workers.run,
            "memory": memory.run,
        }
    )
