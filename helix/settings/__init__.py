"""Settings from the environment: read once, frozen, passed down; never a module global."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from db.errors import DatabaseError
from db.url import read_env_files
from helix.errors import SettingsError
from helix.settings.declaration import HOW, LIMITS, ClientSettings, ModelFolder, Settings
from helix.settings.values import PROXY, OidcProvider, Public, Who
from helix.settings.variables import bounds_of, variable_of

__all__ = [
    "HOW",
    "LIMITS",
    "PROXY",
    "ClientSettings",
    "OidcProvider",
    "Public",
    "Settings",
    "Who",
    "bounds_of",
    "load_client_settings",
    "load_model_folder",
    "load_settings",
    "variable_of",
]


def _line(variable: str, problem: str) -> str:
    return f"{variable} {problem}: {HOW.get(variable, 'see docs/settings.md')}"


def _first_problem(error: ValidationError, told: Mapping[str, str]) -> str:
    """The first problem as one line; the rejected value is left out, for it may be a secret.

    Most settings begin with HELIX_, so one that is missing may be set (``told``) under that name.
    """
    first = error.errors(include_input=False, include_url=False)[0]
    variable = str(first["loc"][0]).upper() if first["loc"] else "settings"
    if first["type"] != "missing" or len(first["loc"]) > 1:  # a part of it is
        return _line(variable, "is malformed")
    other = f"HELIX_{variable}"
    return _line(variable, f"is not set ({other} is no setting)" if other in told else "is not set")


Read = TypeVar("Read", ClientSettings, ModelFolder, Settings)


def load_settings(**overrides: object) -> Settings:
    """Read the environment, ``.env`` and the user's file; keyword arguments win over them.

    Raises:
        SettingsError: one line that names the variable and how to set it.
    """
    return _read(Settings, overrides)


def load_client_settings() -> ClientSettings:
    """The settings of a command that asks a running server, which needs no other.

    Raises:
        SettingsError: as load_settings does.
    """
    return _read(ClientSettings, {})


def load_model_folder() -> str | None:
    """HELIX_MODEL_FOLDER; raises as load_settings does."""
    return _read(ModelFolder, {}).model_folder


def _read(kind: type[Read], overrides: dict[str, object]) -> Read:
    try:
        places = read_env_files(), os.environ
    except DatabaseError as error:
        raise SettingsError(str(error)) from None
    # a variable may be written in any case, and an empty one is as none
    told = {name.upper(): value for place in places for name, value in place.items() if value}
    fields = kind.model_fields
    keys = {name: field.alias or name for name, field in fields.items()}  # what errors name
    variables = {keys[name]: variable_of(name, field) for name, field in fields.items()}
    values: dict[str, object] = {key: told[name] for key, name in variables.items() if name in told}
    keys |= {variable: key for key, variable in variables.items()}
    values |= {keys.get(name, name): value for name, value in overrides.items()}
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_first_problem(error, told)) from None
