"""``python -m benchmarks``: all of them."""

from __future__ import annotations

from benchmarks import ingest, search, serving
from benchmarks.options import main

if __name__ == "__main__":
    main({"ingest": ingest.run, "search": search.run, "serving": serving.run})
