"""The types of settings: what a variable may hold, and how its text is read."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    StringConstraints,
)

from helix.domain.metadata import checked_key
from helix.errors import BadRequest

Provider = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*(:\S+)?$")]
"""``kind`` or ``kind:model`` (helix/providers)."""
Guard = Literal["injection", "hygiene", "verdict"]
"""The guardrails there are (helix/answering/guardrails)."""
AnswerForm = Literal["auto", "text", "schema"]
"""The form in which models write their answers (helix/answering/form)."""
Withhold = Literal["off", "answer", "sentence"]
"""The part that is withheld of answers that their sources do not bear out."""
Who = Literal["key", "tenant", "address"]
"""The subject of a limit."""
Public = Literal["metrics", "docs", "privacy", "evals"]
"""Parts that strangers may see where API keys are asked for (helix/serving/key_scopes.py)."""
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:\[\]-]+$", to_lower=True)]


def _checked_address(url: str) -> str:
    _ = urlsplit(url).port  # checked only when it is asked for
    return url


Server = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[^/\s?#@]+(/[^\s?#]*)?$"),
    AfterValidator(_checked_address),
]
"""A server's address: ``http://localhost:8080``, or with a path in front of the API's."""
HostName = Annotated[
    str, StringConstraints(pattern=r"^(\*|(\*\.)?[A-Za-z0-9_.-]+)$", to_lower=True)
]
"""A host name, ``*.`` and its ending, or ``*`` for any."""
Bucket = Annotated[
    str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*$")
]
"""A bucket of an S3-compatible server, with or without a prefix."""
Origin = Annotated[str, StringConstraints(pattern=r"^(\*|https?://[^/\s]+)$")]


ReaderClass = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
"""A class by its module, ``package.module:Class``."""


def _checked_metadata_key(text: str) -> str:
    try:
        return checked_key(text)
    except BadRequest as error:
        raise ValueError(str(error)) from None


MetadataKey = Annotated[str, AfterValidator(_checked_metadata_key)]
"""A key of documents' metadata, as it is stored."""


def _checked_seed(key: SecretStr) -> SecretStr:
    if not re.fullmatch("[0-9a-f]{64}", key.get_secret_value()):
        raise ValueError("malformed")
    return key


SigningSeed = Annotated[SecretStr, AfterValidator(_checked_seed)]
"""A private key of Ed25519: 32 bytes, in hex."""
SecretsKey = Annotated[SecretStr, AfterValidator(_checked_seed)]
"""A key of 32 bytes, in hex."""


def _checked_network(text: str) -> str:
    return str(ipaddress.ip_network(text, strict=False))


Network = Annotated[str, AfterValidator(_checked_network)]
"""An address, or a network as ``10.0.0.0/8``."""
Issuer = Annotated[
    str,
    StringConstraints(pattern=r"^(https://|http://(localhost|127\.0\.0\.1)(:|/|$))[^\s?#@]*$"),
]
"""The address of a provider of OpenID Connect: https, or on this machine."""


PROXY = "proxy"
"""In place of a provider's name: a proxy whose header says who signed in."""


class OidcProvider(BaseModel):
    """A provider of OpenID Connect that people sign in with.

    ``groups`` names the claim with their groups. Who has no account yet becomes a member of
    ``tenant`` with ``role``; None: they are let in only once they have one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,30}$")]
    title: str = ""
    issuer: Issuer
    client_id: Annotated[str, StringConstraints(min_length=1)]
    client_secret: SecretStr | None = None
    scopes: str = "openid email profile"
    groups: str | None = None
    tenant: str = "default"
    role: Literal["owner", "editor", "reader"] | None = None


def read_json(value: object) -> object:
    """The value that a text holds as JSON."""
    return json.loads(value) if isinstance(value, str) else value


def distinct_providers(providers: tuple[OidcProvider, ...]) -> tuple[OidcProvider, ...]:
    """``providers``; raises ValueError where two have one name, or one has that of the proxy."""
    if len({*(each.name for each in providers), PROXY}) <= len(providers):
        raise ValueError("a name is there twice, or is taken")
    return providers


def checked_url(url: str) -> str:
    """``url``; raises ValueError where it is no URL of libpq."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres") or not url.partition("://")[2]:
        raise ValueError("malformed")
    if "," not in parts.netloc:  # libpq takes several hosts, urlsplit does not
        _ = parts.port  # checked only when it is asked for
    return url


def known_database(url: str) -> str:
    """``url``, which is ``embedded``, ``embedded:<folder>`` or a URL of libpq; else ValueError."""
    return url if url == "embedded" or re.match(r"^embedded:.+", url) else checked_url(url)


def checked_text(value: object) -> object:
    """The text that checked_url accepts; anything but a text is pydantic's to refuse."""
    return checked_url(value) if isinstance(value, str) else value


def split_urls(value: object) -> object:
    """Divide text at commas before a URL: the hosts of one URL have commas between them too."""
    if not isinstance(value, str):
        return value
    urls = re.split(r"(?<![,\s])[,\s]+(?=postgres(?:ql)?://)", value.strip())
    return tuple(checked_url(url) for url in urls)


def split_names(value: object) -> object:
    """Divide text at its commas."""
    if not isinstance(value, str):
        return value
    return tuple(name.strip() for name in value.split(",") if name.strip())


def split_words(value: object) -> object:
    """Divide text at its commas into words of lower case; ``none`` alone is no word."""
    words = split_names(lowered(value))
    return () if words == ("none",) else words


def read_withhold(value: object) -> object:
    """The word for a value of HELIX_WITHHOLD, which true and false may be too: answer and off."""
    word = str(value).lower()
    if word in ("1", "true", "yes", "on", "t", "y"):
        return "answer"
    return "off" if word in ("0", "false", "no", "f", "n") else word


def lowered(value: object) -> object:
    """Text in lower case."""
    return value.lower() if isinstance(value, str) else value


AnyCase = BeforeValidator(lowered)
"""Marks a setting whose words may be written in capitals too."""
