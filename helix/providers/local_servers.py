"""Model servers that answer on this machine, on their usual ports: Ollama, LM Studio and others."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from helix.errors import UpstreamError
from helix.providers.served_models import ServedModel, served_models

SECONDS = 1.0
"""The longest that one port is waited for; where nobody listens it is refused at once."""


class Place(NamedTuple):
    """The usual place of a server: its name for people, its kind of provider and its address."""

    title: str
    kind: str
    address: str


USUAL = (
    Place("Ollama", "ollama", "http://127.0.0.1:11434"),
    Place("LM Studio", "server", "http://127.0.0.1:1234"),
    Place("llama.cpp", "server", "http://127.0.0.1:8080"),
    Place("vLLM", "server", "http://127.0.0.1:8000"),
)
_OURS = "helix"
"""The owner of the models that another Helix lists: it answers by sources of its own."""


@dataclass(frozen=True)
class LocalServer:
    """A server that answers, and the models that it lists: at least one."""

    place: Place
    models: Sequence[ServedModel]

    def names(self) -> list[str]:
        """Its models as HELIX_LLM names them."""
        return [f"{self.place.kind}:{model.name}" for model in self.models]

    def variables(self, name: str) -> Mapping[str, str]:
        """The settings by which the model ``name`` of ``names`` answers."""
        if self.place.kind == "ollama":
            return {"HELIX_LLM": name}
        return {"HELIX_LLM": name, "HELIX_MODEL_SERVER": f"{self.place.address}/v1"}


def local_servers(places: Sequence[Place] = USUAL) -> list[LocalServer]:
    """The servers among ``places`` that answer now, in that order; takes SECONDS at most.

    Ollama is looked for where OLLAMA_HOST says, if it is set.
    """
    looked = [_moved(place) for place in places]
    with ThreadPoolExecutor(max_workers=max(1, len(looked))) as pool:
        return [server for server in pool.map(_found, looked) if server]


def _moved(place: Place) -> Place:
    host = os.environ.get("OLLAMA_HOST", "").rstrip("/")
    if place.kind != "ollama" or not host:
        return place
    return place._replace(address=host if "://" in host else f"http://{host}")


def _found(place: Place) -> LocalServer | None:
    try:
        models = served_models(f"{place.address}/v1", seconds=SECONDS)
    except UpstreamError:
        return None
    if not models or any(model.owner == _OURS for model in models):
        return None
    return LocalServer(place, models)
