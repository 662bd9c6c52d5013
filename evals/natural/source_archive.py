"""``python source_archive.py PACKAGE VERSION``: the package's source archive, in this folder.

`pip download` builds an archive's metadata, which wants compilers and other Pythons than this one.
So this asks pip only where the archive is, in the user's own indexes, and fetches it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Fetch it; an exit with a line where no index has it."""
    package, version = sys.argv[1:]
    command = import_module("pip._internal.commands").create_command("download")
    with command.main_context():
        _fetch(command, package, version)


def _fetch(command: Any, package: str, version: str) -> None:
    options, _ = command.parse_args([package])
    session = command.get_default_session(options)
    finder = command._build_package_finder(options, session, ignore_requires_python=True)
    links = [one.link for one in finder.find_all_candidates(package) if str(one.version) == version]
    link = next((one for one in links if one.filename.endswith(".tar.gz")), None)
    if link is None:
        sys.exit(f"no index has a source archive of {package} {version}")
    response = session.get(link.url_without_fragment)
    response.raise_for_status()
    Path(link.filename).write_bytes(response.content)


if __name__ == "__main__":
    main()
