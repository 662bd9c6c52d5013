"""Secrets of sources: encrypted under a key of the environment, changed by putting one in front."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from helix.errors import SettingsError
from helix.library.source_secrets import renewed, seal, unseal
from helix.settings import Settings

OLD, NEW = secrets.token_hex(32), secrets.token_hex(32)
GIVEN = {"password": "correct horse", "token": "ä-1"}


def _settings(*keys: str) -> Settings:
    values: dict[str, Any] = {
        "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline", "HELIX_SECRETS_KEY": ",".join(keys)
    }  # fmt: skip
    return Settings(database_url="embedded", **values)


def test_what_is_stored_tells_nothing_and_opens_again() -> None:
    sealed = seal(_settings(OLD), GIVEN)
    assert b"horse" not in sealed and b"password" not in sealed
    assert sealed != seal(_settings(OLD), GIVEN)
    assert unseal(_settings(OLD), sealed) == GIVEN


def test_a_key_is_changed_by_one_in_front_of_it() -> None:
    sealed = seal(_settings(OLD), GIVEN)
    both = _settings(NEW, OLD)
    assert unseal(both, sealed) == GIVEN
    anew = renewed(both, sealed)
    assert anew is not None and renewed(both, anew) is None
    assert unseal(_settings(NEW), anew) == GIVEN
    with pytest.raises(SettingsError, match="sealed by another key"):
        unseal(_settings(OLD), anew)


def test_a_byte_that_was_changed_is_told() -> None:
    sealed = seal(_settings(OLD), GIVEN)
    with pytest.raises(SettingsError, match="HELIX_SECRETS_KEY"):
        unseal(_settings(OLD), sealed[:-4] + b"AAAA")


def test_without_a_key_nothing_is_stored() -> None:
    with pytest.raises(SettingsError, match="HELIX_SECRETS_KEY is not set"):
        seal(_settings(), GIVEN)
    with pytest.raises(SettingsError, match="openssl rand -hex 32"):
        unseal(_settings(), seal(_settings(OLD), GIVEN))


def test_settings_do_not_show_a_key() -> None:
    assert OLD not in repr(_settings(OLD))
