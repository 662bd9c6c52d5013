"""``python scripts/release_notes.py VERSION``: what the changelog says of it, for its release.

It ends with 1 where VERSION is not ``helix.__version__``, or the changelog has nothing of it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version_of_code() -> str:
    """``helix.__version__``, read without importing what ``helix`` needs."""
    text = (ROOT / "helix" / "__init__.py").read_text()
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(version)


def notes(changelog: str, version: str) -> str:
    """The section of ``version``; '' where there is none."""
    section = re.compile(rf"^## {re.escape(version)} \([^\n]*\n(.*?)(?=^## |\Z)", re.M | re.S)
    found = section.search(changelog)
    return found[1].strip() if found else ""


def main(version: str) -> int:
    """Print the notes."""
    if version != version_of_code():
        sys.stderr.write(f"the code is version {version_of_code()}, not {version}\n")
        return 1
    if not (found := notes((ROOT / "CHANGELOG.md").read_text(), version)):
        sys.stderr.write(f"CHANGELOG.md has no entries of {version}\n")
        return 1
    sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
