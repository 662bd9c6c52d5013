"""Notes in a JSON file: an object of text by name."""

import json
from collections.abc import Iterator
from pathlib import Path


def files(address: str) -> Iterator[tuple[str, bytes]]:
    """``helix ingest shelf:PATH``: each note, as a Markdown file of its name."""
    for name, text in json.loads(Path(address).read_text()).items():
        yield f"{name}.md", text.encode()
