"""Model files of the Hugging Face hub, by ``huggingface_hub``: what there is, and fetching one.

The hub is that of HF_ENDPOINT, and HF_TOKEN opens what is not public. Its own transfer library is
not used: it connects beside Python, where the privacy counter does not see it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from db.embedded_postgres import try_lock
from helix.errors import BadRequest, HelixError, NotFound, SettingsError, Unavailable
from helix.providers.local_models.folder import SUFFIX, Origin, note_origin, origin_of

PREFERRED = "q4_k_m", "q4_k_s", "q4_0", "q5_k_m", "q8_0"
"""Quantizations in the order in which one is taken where none is named: the usual balance first."""
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
_INCOMING = ".incoming"
_BLOCK = 256 << 10
_ROOM_BYTES = 64 << 20
"""Disk that must be left free beside the file."""


def named(text: str) -> tuple[str, str | None]:
    """The repository and the file of ``OWNER/NAME[:FILE]``.

    Raises:
        BadRequest: it has another form.
    """
    repository, _, file = text.partition(":")
    if not re.fullmatch(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", repository):
        raise BadRequest(f"{text} names no repository: give OWNER/NAME or OWNER/NAME:FILE")
    return repository, file or None


def offered(repository: str, file: str | None = None) -> Origin:
    """The model file of ``repository`` that ``file`` names, by its whole name or a part of it.

    Raises:
        NotFound: there is no such repository or file, or several that the part fits.
        Unavailable: the hub refuses or does not answer.
    """
    hub = _hub()
    with _failures(repository):
        told = hub.HfApi(endpoint=_endpoint()).model_info(repository, files_metadata=True)
    files = {each.rfilename: each for each in told.siblings or () if each.lfs is not None}
    name = _choice(repository, file, [name for name in files if name.endswith(SUFFIX)])
    found = files[name]
    licence = getattr(told.card_data, "license", None) if told.card_data else None
    return Origin(
        repository, str(told.sha), name, urlsplit(_endpoint()).hostname or "",
        licence if isinstance(licence, str) else "", found.lfs.sha256, found.lfs.size,
    )  # fmt: skip


def fetch(origin: Origin, folder: Path) -> Path:
    """Bring the file to ``folder`` and return its path; one that broke off before goes on.

    Raises:
        BadRequest: another model has its name there.
        Unavailable: the hub does not answer, or sent another file than it lists.
        SettingsError: the folder cannot be written, or the disk is full.
    """
    path = folder / PurePosixPath(origin.file).name
    if path.exists():
        former = origin_of(path)
        if former and former.sha256 == origin.sha256:
            return path
        raise BadRequest(f"{path} is there already: `helix model rm {path.name}` removes it")
    try:
        (folder / _INCOMING).mkdir(parents=True, exist_ok=True)
        incoming = folder / _INCOMING / origin.sha256
        _check_room(incoming, origin.size)
        _download(origin, incoming)
        note_origin(path, origin)
        incoming.replace(path)
        with suppress(OSError):  # another is under way
            (folder / _INCOMING).rmdir()
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}") from None
    return path


def _download(origin: Origin, incoming: Path) -> None:
    """Bring the file to ``incoming``, behind what is there of it; the hub's client has no such way.

    Its ``http_get`` goes on after a connection that broke, and begins anew where the other side
    does not send parts.
    """
    hub = _hub()
    with incoming.open("ab") as stream:
        if not try_lock(stream.fileno(), exclusive=True):
            raise BadRequest(f"{origin.file} is being fetched by another process")
        with _failures(origin.repository):
            hub.file_download.http_get(
                hub.hf_hub_url(
                    origin.repository, origin.file, revision=origin.commit, endpoint=_endpoint()
                ),
                stream, resume_size=stream.tell(), headers=hub.utils.build_hf_headers(),
                expected_size=origin.size, displayed_filename=PurePosixPath(origin.file).name,
            )  # fmt: skip
    with incoming.open("rb") as stream:
        checked = hashlib.file_digest(stream, "sha256").hexdigest()
    if checked != origin.sha256:
        incoming.unlink()
        raise Unavailable(f"what came of {origin.file} has another SHA-256 than the hub lists")


def _check_room(incoming: Path, size: int) -> None:
    have = incoming.stat().st_size if incoming.exists() else 0
    free, wanted = shutil.disk_usage(incoming.parent).free, size - have + _ROOM_BYTES
    if free < wanted:
        raise SettingsError(
            f"the disk of {incoming.parents[1]} has {free >> 20:,} MB free and the file wants"
            f" {wanted >> 20:,}: set HELIX_MODEL_FOLDER to another"
        )


def _choice(repository: str, wanted: str | None, names: list[str]) -> str:
    if wanted in names and _PART.search(str(wanted)):
        raise NotFound(f"{wanted} is one of several parts: choose a model of one file")
    whole = [name for name in names if not _PART.search(name) and ".." not in name]
    whole = [name for name in whole if "mmproj" not in name]  # a projector, beside its model
    if wanted in whole:
        return str(wanted)
    fitting = [name for name in whole if (wanted or "").lower() in name.lower()]
    if not wanted:
        preferred = [name for part in PREFERRED for name in fitting if part in name.lower()]
        fitting = preferred[:1] or fitting
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(sorted(whole)) or "none of one file"
    problem = f"has several files that fit {wanted}" if fitting and wanted else "names no one file"
    raise NotFound(f"{repository} {problem}: give {repository}:FILE; GGUF files there: {there}")


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _hub() -> Any:
    """``huggingface_hub``, without its transfer library and without telemetry.

    Raises:
        SettingsError: it is not installed.
    """
    os.environ["HF_HUB_DISABLE_XET"] = os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    try:
        import huggingface_hub
        from huggingface_hub import constants, file_download, utils  # noqa: F401  lazily there
    except ImportError:
        raise SettingsError(
            "fetching models is not installed: pip install 'helix-answers[local]'"
        ) from None
    constants.HF_HUB_DISABLE_XET = True  # it may have been imported before
    constants.DOWNLOAD_CHUNK_SIZE = _BLOCK  # what a connection that breaks loses at most
    return huggingface_hub


@contextmanager
def _failures(repository: str) -> Iterator[None]:
    """Turn what the hub's client raises into one line."""
    from huggingface_hub import errors

    host = urlsplit(_endpoint()).hostname
    try:
        yield
    except errors.GatedRepoError:
        problem = f"{repository} asks for its terms to be accepted on {host}: then set HF_TOKEN"
        raise Unavailable(problem) from None
    except (errors.RepositoryNotFoundError, errors.EntryNotFoundError):
        problem = (
            f"{host} has no {repository}, or it is not public: check the name, or set HF_TOKEN"
        )
        raise NotFound(problem) from None
    except HelixError:
        raise
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "nothing"
        raise Unavailable(f"{host} answered {status}: try again") from None
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  of its HTTP library, which may change
        kind = type(error).__name__
        raise Unavailable(f"{host} did not answer ({kind}): check the network") from None
