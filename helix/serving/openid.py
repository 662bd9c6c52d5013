"""Signing in with a provider of OpenID Connect: authorization code with PKCE, by Authlib.

The provider's address, keys and endpoints come from its discovery document. Keys are fetched again
where a token names one that is not known yet, so a provider may change them.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helix.errors import HelixError, SettingsError, UpstreamError
from helix.library.people.claims import Claims
from helix.settings import OidcProvider

if TYPE_CHECKING:
    from authlib.integrations.base_client.async_app import AsyncOAuth2Mixin

_DISCOVERY = "/.well-known/openid-configuration"
_SECONDS = 10.0
_LEEWAY = 60
_KEYS_SECONDS = 30.0
"""The least time between two looks for new keys: anybody may name one that there is not."""
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_ALGORITHMS = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split()
)
"""Algorithms of public keys: neither none nor a shared secret."""
_ALGORITHMS_KEY = "id_token_signing_alg_values_supported"


class NotAuthenticated(HelixError):
    """The answer that the browser brought back does not show who it is."""

    status = 401


@dataclass(frozen=True, slots=True)
class Started:
    """A sign-in under way: where the browser goes, and what it has to bring back."""

    url: str
    state: str
    nonce: str
    verifier: str


class OpenIdProvider:
    """One provider of the settings.

    Raises:
        SettingsError: the extra ``oidc`` is not installed.
    """

    def __init__(self, given: OidcProvider) -> None:
        self.given = given
        self._app: Any = _new_app(given)

    async def start(self, redirect_uri: str) -> Started:
        """A sign-in of which the provider tells ``redirect_uri``.

        Raises:
            UpstreamError: the provider did not answer, or is not the issuer that it should be.
        """
        await self._load()
        made = await self._app.create_authorization_url(redirect_uri)
        return Started(made["url"], made["state"], made["nonce"], made["code_verifier"])

    async def finish(
        self, redirect_uri: str, code: str, nonce: str, verifier: str
    ) -> tuple[Claims, str]:
        """The claims about whoever brought ``code``, and the id token that has them.

        Raises:
            NotAuthenticated: the code or the token is not good for this sign-in.
            UpstreamError: the provider did not answer.
        """
        from authlib.integrations.base_client import OAuthError
        from joserfc.errors import JoseError

        await self._load()
        try:
            token = await self._asked(self._app.fetch_access_token(
                redirect_uri, code=code, code_verifier=verifier, grant_type="authorization_code"
            ))  # fmt: skip
            told = await self._asked(self._app.parse_id_token(
                token, nonce, claims_options=self._wanted(), leeway=_LEEWAY
            ))  # fmt: skip
        except (OAuthError, JoseError, ValueError) as error:
            reason = type(error).__name__
            raise NotAuthenticated(f"the provider's answer is not good: {reason}") from None
        if told is None:
            raise NotAuthenticated("the provider sent no id token")
        return self._claims({**await self._more(token, told), **told}), str(token["id_token"])

    async def _more(self, token: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
        """The userinfo of the provider, where the id token has no address."""
        if "email" in told or "userinfo_endpoint" not in self._app.server_metadata:
            return {}
        place = self._app.server_metadata["userinfo_endpoint"]
        response = await self._asked(self._app.request("GET", place, token=token))
        more: dict[str, Any] = response.json() if response.is_success else {}
        return more if more.get("sub") == told["sub"] else {}

    async def logout_url(self, id_token: str, back: str) -> str | None:
        """The address where a browser signs out of the provider too; None: it has none."""
        metadata = await self._load()
        if "end_session_endpoint" not in metadata:
            return None
        made = await self._app.create_logout_url(back, id_token, client_id=self.given.client_id)
        return str(made["url"])

    async def subject_of(self, token: str, audience: str) -> str | None:
        """The subject of a JWT that is an access token to ``audience``; None: it is none of ours.

        Raises:
            UpstreamError: the provider did not answer.
        """
        from authlib.oauth2.claims import JWTClaims
        from joserfc.errors import JoseError

        if not _JWT.fullmatch(token):
            return None
        await self._load()
        wanted = {**self._wanted(), "exp": {"essential": True}}
        wanted["aud"] = {"essential": True, "values": [audience]}
        try:
            told = await self._asked(self._app.parse_id_token(
                {"id_token": token}, None, wanted, JWTClaims, _LEEWAY
            ))  # fmt: skip
        except (JoseError, ValueError):
            return None
        return str(told["sub"])

    async def _load(self) -> dict[str, Any]:
        metadata: dict[str, Any] = await self._asked(self._app.load_server_metadata())
        if metadata.get("issuer") != self.given.issuer:
            self._app.server_metadata.clear()
            raise UpstreamError(f"the provider {self.given.name} says that it is another issuer")
        supported = metadata.get(_ALGORITHMS_KEY) or ["RS256"]
        metadata[_ALGORITHMS_KEY] = [each for each in supported if each in _ALGORITHMS]
        return metadata

    async def _asked(self, answer: Any) -> Any:
        from httpx2 import HTTPError

        try:
            return await answer
        except HTTPError as error:
            reason = type(error).__name__
            raise UpstreamError(
                f"the provider {self.given.name} did not answer: {reason}"
            ) from None

    def _wanted(self) -> dict[str, Any]:
        return {
            "iss": {"essential": True, "values": [self.given.issuer]},
            "aud": {"essential": True, "values": [self.given.client_id]},
            "sub": {"essential": True},
        }

    def _claims(self, told: dict[str, Any]) -> Claims:
        email = told.get("email") if told.get("email_verified") is True else ""
        groups = told.get(self.given.groups) if self.given.groups else None
        listed = groups if isinstance(groups, list) else [groups] if groups else []
        return Claims(
            self.given.issuer, str(told["sub"]), str(email or ""), str(told.get("name") or ""),
            tuple(str(each) for each in listed) if self.given.groups else None,
        )  # fmt: skip


def _new_app(given: OidcProvider) -> AsyncOAuth2Mixin:
    try:
        from authlib.integrations.base_client.async_app import AsyncOAuth2Mixin
        from authlib.integrations.base_client.async_openid import AsyncOpenIDMixin
        from authlib.integrations.httpx_client import AsyncOAuth2Client
    except ImportError:
        raise SettingsError(
            "HELIX_OIDC needs an extra: pip install 'helix-answers[oidc]'"
        ) from None

    class App(AsyncOAuth2Mixin, AsyncOpenIDMixin):  # type: ignore[misc]
        client_cls = AsyncOAuth2Client
        fetched_at = -math.inf

        async def fetch_jwk_set(self, force: bool = False) -> Any:
            """The provider's keys; with ``force`` anew, unless that was done just now."""
            now = time.monotonic()
            renews = force and now - self.fetched_at > _KEYS_SECONDS
            self.fetched_at = now if renews else self.fetched_at
            return await super().fetch_jwk_set(force=renews)

    secret = given.client_secret.get_secret_value() if given.client_secret else None
    return App(
        None, given.name, client_id=given.client_id, client_secret=secret,
        server_metadata_url=given.issuer.rstrip("/") + _DISCOVERY,
        client_kwargs={
            "scope": given.scopes, "code_challenge_method": "S256", "timeout": _SECONDS,
            **({} if secret else {"token_endpoint_auth_method": "none"}),
        },
    )  # fmt: skip
