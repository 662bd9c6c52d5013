"""The sample documents that come with Helix, as uploads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from helix.domain.file_kinds import sniff
from helix.library.errors import NotFound
from helix.library.uploads import Upload


def sample_files() -> list[Path]:
    """The samples in the order of their names.

    Raises:
        NotFound: this installation came without them.
    """
    package = Path(__file__).parents[1]  # samples/ lies in it in a wheel, beside it in a checkout
    for folder in (package / "samples", package.parent / "samples"):
        if folder.is_dir():
            return sorted(path for path in folder.iterdir() if path.is_file())
    raise NotFound("there are no samples in this installation: upload files of your own")


def sample_uploads() -> list[Upload]:
    """The samples under the names that ``helix ingest samples`` gives them; raises as above."""
    uploads = []
    for path in sample_files():
        data = path.read_bytes()
        media = sniff(data, path.name)
        if media is not None:
            uploads.append(
                Upload(
                    path.name, media, len(data), hashlib.sha256(data).hexdigest(), path.read_bytes,
                    source_uri=f"samples/{path.name}",
                )
            )  # fmt: skip
    return uploads
