"""``python -m benchmarks``: all of them."""

from __future__ import annotations

from importlib import import_module

from benchmarks.harness import main

NAMES = (
    "ingest", "search", "hybrid", "serving", "overload", "hostile_text", "receipts", "page",
    "reading", "formats", "costs", "workers", "memory", "library", "start", "conversations",
    "progress", "protocols", "agent", "queries",
)  # fmt: skip

if __name__ == "__main__":
    main({name: import_module(f"benchmarks.{name}").run for name in NAMES})
