"""The models that a question may be answered by: that of ``HELIX_LLM``, and ``HELIX_MODELS``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import TypeVar

from helix.errors import BadRequest, SettingsError
from helix.providers.base import LanguageModel
from helix.providers.factories import build_llm
from helix.settings import Settings

_SHOWN = 80
"""Characters of a name that does not exist, in its error."""
Model = TypeVar("Model")


class ModelNotAllowed(BadRequest):
    """A request chooses a model that does not exist, or that may not be chosen."""

    def __init__(self, name: str, allowed: Iterable[str]) -> None:
        known = ", ".join(allowed)
        super().__init__(f"model {name[:_SHOWN]!r} cannot be chosen here: choose one of {known}")


def names_of_models(settings: Settings) -> dict[str, str]:
    """The provider's name of each model by the name that requests choose it by, HELIX_LLM's first.

    They are the same, but for a model in a file: whoever asks learns nothing of its folder.
    """
    return {_public(name): name for name in (settings.llm, *settings.models)}


def _public(name: str) -> str:
    kind, _, model = name.partition(":")
    return f"{kind}:{PurePath(model).name}" if model.endswith(".gguf") else name


def build_models(settings: Settings, default: LanguageModel) -> dict[str, LanguageModel]:
    """The models by name; ``default`` is that of HELIX_LLM, and the first.

    Raises:
        SettingsError: as build_llm does, of HELIX_MODELS.
    """
    first, *others = names_of_models(settings).items()
    return {first[0]: default} | {
        name: build_other(settings, provider, "HELIX_MODELS") for name, provider in others
    }


def build_other(settings: Settings, provider: str, variable: str) -> LanguageModel:
    """The model that ``variable`` names beside that of HELIX_LLM.

    Raises:
        SettingsError: as build_llm does, of ``variable``.
    """
    try:
        return build_llm(settings.model_copy(update={"llm": provider}))
    except SettingsError as error:
        raise SettingsError(str(error).replace("HELIX_LLM", variable)) from None


def named(models: Mapping[str, Model], name: str) -> Model:
    """The one of ``models`` that is called ``name``.

    Raises:
        ModelNotAllowed: there is none; the message lists those that there are.
    """
    if name not in models:
        raise ModelNotAllowed(name, models)
    return models[name]
