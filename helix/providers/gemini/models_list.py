"""The models that a key may use, as Google lists them, and the one that ``auto`` stands for.

The rule of ``auto``, of the models that generate and whose id is ``gemini-VERSION-flash-lite`` or
``gemini-VERSION-flash``, with nothing behind it (a preview, a dated version or a model for images
is none of them), and that do not end within 60 days by the table of families:

1. those of the newest generation, which is the number in front of the version's point;
2. of those Flash-Lite before Flash: an answer from a few passages needs little thought, and
   Flash-Lite begins it soonest, at a fifth of the price;
3. of those the newest.

Where the list cannot be read, or none of it is left, it is ``families.AUTOMATIC``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import platformdirs

from helix.providers.gemini.errors import Target
from helix.providers.gemini.families import AUTOMATIC, family_of
from helix.providers.gemini.http import connect
from helix.providers.retries import RetryPolicy
from helix.settings import Settings

LIST_SECONDS = 3.0
"""Longest that a start waits for the list."""
KEPT_SECONDS = 86_400.0
"""A day, for which a list that was read is used again, by other processes too."""
AGAIN_SECONDS = 60.0
"""Seconds for which a process does not ask again after it got no list."""

_FLASH = re.compile(r"gemini-(\d{1,3}(?:\.\d{1,3})?)-flash(-lite)?")
_GENERATES = "generateContent"
_failed_at: dict[str, float] = {}  # by digest, time.monotonic(): a server has several models
_logger = logging.getLogger(__name__)


def best_model(models: Iterable[str], day: date) -> str:
    """The one of ``models`` that ``auto`` stands for on ``day``, by the rule above."""
    ranked = []
    for model in models:
        found = _FLASH.fullmatch(model)
        if found and not family_of(model).lifetime(model, "").ends_soon(day):
            version = tuple(int(number) for number in found[1].split("."))
            ranked.append((version[0], bool(found[2]), version, model))
    return max(ranked)[-1] if ranked else AUTOMATIC


def listed_models(settings: Settings) -> frozenset[str] | None:
    """The ids of the models that the key of ``settings`` may generate with; None: not known.

    A list is kept for a day in a file of the user's cache directory, under a hash of the key and
    the address that it is of. Waits LIST_SECONDS at most, and raises nothing.
    """
    if settings.gemini_api_key is None:
        return None
    digest = _digest(settings.gemini_api_key.get_secret_value())
    if (kept := _kept(digest, time.time())) is not None:
        return kept
    if time.monotonic() - _failed_at.get(digest, -AGAIN_SECONDS) < AGAIN_SECONDS:
        return None
    found = _within_limit(settings)
    if not found:
        _failed_at[digest] = time.monotonic()
        _logger.warning("Gemini's list of models could not be read: the table of families stands")
        return None
    _keep(digest, found, time.time())
    return found


def _within_limit(settings: Settings) -> frozenset[str]:
    """The list, or nothing where it was not whole in LIST_SECONDS, however slowly it comes."""
    found: list[frozenset[str]] = []

    def read() -> None:
        try:
            found.append(_read(settings))
        except Exception as error:  # noqa: BLE001  whatever it was, there is the table
            _logger.info("no list of models: %s", type(error).__name__)

    reading = threading.Thread(target=read, name="helix-models-list", daemon=True)
    reading.start()
    reading.join(LIST_SECONDS)
    return found[0] if found else frozenset()


def _read(settings: Settings) -> frozenset[str]:
    return asyncio.run(_names(settings))


async def _names(settings: Settings) -> frozenset[str]:
    quick = settings.model_copy(update={"model_timeout": LIST_SECONDS})
    connection = connect(quick, Target("models", "GEMINI_MODEL"), RetryPolicy(attempts=1))
    try:
        pager = await connection.sdk.aio.models.list(config={"page_size": 1000})
        models = [model async for model in pager]
    finally:
        await connection.aclose()
    return frozenset(
        model.name.rpartition("/")[2]
        for model in models
        if model.name and _GENERATES in (model.supported_actions or [_GENERATES])
    )


def _digest(key: str) -> str:
    names = ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI")
    told = "\n".join([key, *(os.environ.get(name, "") for name in names)])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _file() -> Path:
    return Path(platformdirs.user_cache_dir("helix", appauthor=False)) / "gemini-models.json"


def _lists(now: float) -> dict[str, tuple[float, list[str]]]:
    """The lists that are kept and not too old, with the time of each, by digest."""
    try:
        stored = json.loads(_file().read_text("utf-8"))
        return {
            str(digest): (float(at), [str(model) for model in models])
            for digest, (at, models) in stored.items()
            if 0 <= now - at < KEPT_SECONDS
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _kept(digest: str, now: float) -> frozenset[str] | None:
    kept = _lists(now).get(digest)
    return frozenset(kept[1]) if kept else None


def _keep(digest: str, models: frozenset[str], now: float) -> None:
    """Keep a list; where the directory cannot be written, it is read again at the next start."""
    file = _file()
    part = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(_lists(now) | {digest: (now, sorted(models))}), "utf-8")
        part.replace(file)
    except OSError as error:
        _logger.info("the list of models is not kept: %s", type(error).__name__)
