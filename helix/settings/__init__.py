"""Settings from the environment: read once, frozen, passed down; never a module global."""

from helix.settings.declaration import HOW, LIMITS, ClientSettings, Settings
from helix.settings.loader import load_client_settings, load_model_folder, load_settings
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
