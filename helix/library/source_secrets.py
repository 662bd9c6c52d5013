"""Secrets of sources, sealed before they are stored: Fernet, under keys that no database has.

The keys are HELIX_SECRETS_KEY. The first one seals; each of them opens, so that a key is changed by
putting a new one in front, and the former one is dropped once every source was synced.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING

from helix.errors import SettingsError
from helix.settings import Settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def seal(settings: Settings, secrets: Mapping[str, str]) -> bytes:
    """``secrets`` as they are stored.

    Raises:
        SettingsError: there is no key to seal with.
    """
    text = json.dumps(dict(secrets), ensure_ascii=False)
    return _keys(settings)[0].encrypt(text.encode())


def unseal(settings: Settings, sealed: bytes) -> dict[str, str]:
    """The secrets that ``seal`` was given.

    Raises:
        SettingsError: the key that sealed them is not among those there are, or there is none.
    """
    from cryptography.fernet import InvalidToken, MultiFernet

    try:
        text = MultiFernet(_keys(settings)).decrypt(bytes(sealed))
    except InvalidToken:
        raise SettingsError(
            "the secrets of this source were sealed by another key: add that key to"
            " HELIX_SECRETS_KEY, after a comma, or give them anew"
        ) from None
    return {str(name): str(value) for name, value in json.loads(text).items()}


def renewed(settings: Settings, sealed: bytes) -> bytes | None:
    """``sealed`` under the first key; None where it is already.

    Raises:
        SettingsError: as ``unseal``.
    """
    from cryptography.fernet import InvalidToken

    try:
        _keys(settings)[0].decrypt(bytes(sealed))
    except InvalidToken:
        return seal(settings, unseal(settings, sealed))
    return None


def _keys(settings: Settings) -> list[Fernet]:
    from cryptography.fernet import Fernet  # loaded where a source has secrets

    if not settings.secrets_keys:
        raise SettingsError(
            "HELIX_SECRETS_KEY is not set: secrets of sources are stored encrypted only; set it to"
            " what `openssl rand -hex 32` prints, and keep it where other secrets are"
        )
    keys = (key.get_secret_value() for key in settings.secrets_keys)
    return [Fernet(urlsafe_b64encode(bytes.fromhex(key))) for key in keys]
