"""The models that an OpenAI-compatible server lists, and the context of each where it tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from helix.errors import UpstreamError

SECONDS = 5.0
"""The longest wait for a server's list of models."""

_CONTEXT_FIELDS = (
    "loaded_context_length",  # LM Studio
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Together
    "context_window",  # Groq
    "max_context_length",  # Mistral
)
_META_FIELDS = "n_ctx", "n_ctx_train"
"""llama.cpp's, in ``meta``: of a slot as it runs, and of the training."""


@dataclass(frozen=True)
class ServedModel:
    """A model by the name that requests give; its context in tokens, None where it is not told.

    ``alone``: its server has this one, and answers by it whatever name a request gives. ``owner``
    is what the server says, such as ``vllm``.
    """

    name: str
    context: int | None = None
    alone: bool = False
    owner: str = ""


def served_models(address: str, key: str = "", seconds: float = SECONDS) -> list[ServedModel]:
    """The models that ``GET {address}/models`` lists, in the server's order.

    Raises:
        UpstreamError: the server did not answer in time, refused, or sent something else.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        response = httpx.get(f"{address}/models", headers=headers, timeout=seconds)
        response.raise_for_status()
        listed = response.json()["data"]
        return [_served(each) for each in listed if isinstance(each["id"], str)]
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        raise UpstreamError(f"{address}/models answered {status}: {_remedy(status)}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        kind = type(error).__name__
        raise UpstreamError(f"{address} did not answer ({kind}): check that it runs") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        remedy = "check the address, which often ends in /v1"
        raise UpstreamError(f"{address}/models is no list of models: {remedy}") from None


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "check the key"
    return "check the address, which often ends in /v1" if status == 404 else "try again"


def _served(listed: Mapping[str, Any]) -> ServedModel:
    meta = listed.get("meta")
    told = [listed.get(name) for name in _CONTEXT_FIELDS]
    told += [meta.get(name) for name in _META_FIELDS] if isinstance(meta, dict) else []
    context = next((each for each in told if _is_size(each)), None)
    owner = str(listed.get("owned_by") or "")
    return ServedModel(listed["id"], context, alone=owner == "llamacpp", owner=owner)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def served_model(models: Sequence[ServedModel], name: str) -> ServedModel | None:
    """The one of ``models`` that answers a request for ``name``."""
    return next((each for each in models if each.name == name or each.alone), None)


def model_at(address: str, key: str, name: str) -> ServedModel | None:
    """The model ``name`` that the server at ``address`` lists; None where it does not.

    A server that does not answer now may by the first question: it is no error here.
    """
    try:
        return served_model(served_models(address, key), name)
    except UpstreamError:
        return None
