"""Contacts of a command that has no database: kept in a file until a server takes them over.

`helix model pull` may run before there is any database. The files lie in the user's own data.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import platformdirs

from helix.library.privacy.counter import Contact

_SUFFIX = ".json"
_logger = logging.getLogger(__name__)


def contacts_folder() -> Path:
    """The folder of the files; it may not exist."""
    return Path(platformdirs.user_data_dir("helix", appauthor=False)) / "contacts"


def keep_contacts(counts: Counter[Contact]) -> None:
    """Write ``counts`` for the next server; where that fails a warning says so."""
    if not counts:
        return
    folder = contacts_folder()
    new = folder / token_hex(8)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.write_text(json.dumps([[*contact, n] for contact, n in counts.items()]))
        new.rename(new.with_suffix(_SUFFIX))
    except OSError as error:
        _logger.warning("contacts are not kept in %s: %s", folder, error.strerror)


def take_contacts() -> Counter[Contact]:
    """Take the contacts that were kept: each is given to one caller, once."""
    counts: Counter[Contact] = Counter()
    for file in contacts_folder().glob(f"*{_SUFFIX}"):
        claimed = file.with_suffix(".taken")  # of two processes one gets it
        with suppress(OSError, ValueError, TypeError):
            file.rename(claimed)
            for kind, host, port, n in json.loads(claimed.read_text()):
                counts[Contact(kind, str(host), int(port))] += int(n)
            claimed.unlink()
    return counts
