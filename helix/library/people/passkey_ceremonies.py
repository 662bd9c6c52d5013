"""WebAuthn's two ceremonies, by py_webauthn: adding a passkey, and signing in with one.

A challenge is a row, taken once by the browser that asked for it, in a transaction of its own: what
is refused afterwards does not bring it back.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from helix.errors import BadRequest, HelixError
from helix.library.access import row_of
from helix.library.people.passkeys import checked_name
from helix.library.people.persons import Person
from helix.library.people.tokens import hash_of
from helix.storage.statements import passkeys as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

Credential = Mapping[str, Any]
"""A credential as ``PublicKeyCredential.toJSON()`` of a browser has it."""
LIFE = timedelta(minutes=10)
MOST = 20
"""Passkeys of a person: more than they have devices."""
_CHALLENGE_BYTES = 32
_REFUSED = "this passkey opens no account here"
_NOT_ADDED = "this passkey cannot be added: try again"


class PasskeyRefused(HelixError):
    """The passkey opens nothing; why, nobody is told."""

    status = 401


class PasskeyNotAdded(HelixError):
    """The authenticator's answer is none to a challenge of this person and browser."""

    status = 400


class NoPasskeys(HelixError):
    """The server has no passkeys: a package is missing, or its address cannot have them."""

    status = 404


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The server as authenticators know it: ``id`` is its host's name, ``origin`` its pages'."""

    id: str
    origin: str


def relying_party(base: str) -> RelyingParty:
    """The party that the server is at its public address ``base``.

    Raises:
        NoPasskeys: the extra is missing, or browsers allow no passkeys at this address.
    """
    if not _is_installed():
        raise NoPasskeys("passkeys need an extra: pip install 'helix-answers[passkeys]'")
    parts = urlsplit(base)
    host, scheme = (parts.hostname or "").lower(), parts.scheme
    local = host == "localhost" or host.endswith(".localhost")
    if not host or _is_address(host) or not (scheme == "https" or (scheme == "http" and local)):
        raise NoPasskeys(
            "browsers allow passkeys under a name and https, or at localhost: set HELIX_URL"
        )
    port = "" if parts.port in (None, 443 if scheme == "https" else 80) else f":{parts.port}"
    return RelyingParty(host, f"{scheme}://{host}{port}")


@cache
def _is_installed() -> bool:
    return find_spec("webauthn") is not None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def ask_to_add(
    connection: Connected, party: RelyingParty, browser: str, person: Person
) -> dict[str, Any]:
    """The options by which the browser of the secret ``browser`` makes a passkey for the person.

    Raises:
        BadRequest: the person has as many as one may.
    """
    from webauthn import generate_registration_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    known = connection.execute(sql.OF_PERSON, (person.id,)).fetchall()
    if len(known) >= MOST:
        raise BadRequest(f"an account has {MOST} passkeys at most: remove one")
    handle = bytes(known[0][1]) if known else secrets.token_bytes(_CHALLENGE_BYTES)
    options = generate_registration_options(
        rp_id=party.id, rp_name="Helix", user_id=handle, user_name=person.email,
        user_display_name=person.name or person.email,
        challenge=_asked(connection, browser, person.id, handle), timeout=_milliseconds(),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(bytes(row[0])) for row in known],
    )  # fmt: skip
    return options_to_json_dict(options)


def ask_to_sign_in(connection: Connected, party: RelyingParty, browser: str) -> dict[str, Any]:
    """The options by which the browser shows a passkey of anybody's: it names nobody."""
    from webauthn import generate_authentication_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import UserVerificationRequirement

    return options_to_json_dict(generate_authentication_options(
        rp_id=party.id, challenge=_asked(connection, browser), timeout=_milliseconds(),
        user_verification=UserVerificationRequirement.REQUIRED,
    ))  # fmt: skip


def _milliseconds() -> int:
    return int(LIFE.total_seconds() * 1000)


def _asked(
    connection: Connected, browser: str, person_id: int | None = None, handle: bytes | None = None
) -> bytes:
    """A new challenge, kept for this browser."""
    challenge = secrets.token_bytes(_CHALLENGE_BYTES)
    connection.execute(sql.ASK, {
        "challenge": challenge, "browser": hash_of(browser), "person": person_id,
        "handle": handle, "life": LIFE,
    })  # fmt: skip
    return challenge


@dataclass(frozen=True, slots=True)
class Taken:
    """A challenge that was open until now; ``user_handle`` is empty where somebody signs in."""

    challenge: bytes
    user_handle: bytes


def take_challenge(
    connection: Connected, credential: Credential, browser: str, person_id: int | None = None
) -> Taken | None:
    """The challenge that the credential signs, which it opens no more; None: it is not open.

    It was made for this browser, and to add a passkey for the person; None: to sign in.
    """
    from webauthn.helpers import base64url_to_bytes, parse_client_data_json

    try:
        told = base64url_to_bytes(credential["response"]["clientDataJSON"])
        challenge = parse_client_data_json(told).challenge
    except _malformed():
        return None
    values = {"challenge": challenge, "browser": hash_of(browser), "person": person_id}
    row = connection.execute(sql.TAKE, values).fetchone()
    return Taken(challenge, bytes(row[0])) if row else None


def add_passkey(
    connection: Connected, party: RelyingParty, taken: Taken | None, person_id: int, name: str,
    credential: Credential,
) -> int:  # fmt: skip
    """The id of the person's new passkey.

    Raises:
        BadRequest: ``name`` cannot be one.
        PasskeyNotAdded: the credential is not one that was asked for, or is known already.
    """
    from webauthn import verify_registration_response

    checked = checked_name(name)
    if taken is None:
        raise PasskeyNotAdded(_NOT_ADDED)
    try:
        made = verify_registration_response(
            credential=dict(credential), expected_challenge=taken.challenge,
            expected_rp_id=party.id, expected_origin=party.origin, require_user_verification=True,
        )  # fmt: skip
    except _malformed():
        raise PasskeyNotAdded(_NOT_ADDED) from None
    row = connection.execute(sql.ADD, {
        "person": person_id, "name": checked, "credential": made.credential_id,
        "key": made.credential_public_key, "handle": taken.user_handle,
        "count": made.sign_count, "most": MOST,
    }).fetchone()  # fmt: skip
    if row is None:
        raise PasskeyNotAdded(_NOT_ADDED)
    return int(row[0])


def person_of_passkey(
    connection: Connected, party: RelyingParty, taken: Taken | None, credential: Credential
) -> int:
    """The id of the person whose passkey signed the challenge.

    Raises:
        PasskeyRefused: nobody's did, here and now.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers import parse_authentication_credential_json

    if taken is None:
        raise PasskeyRefused(_REFUSED)
    try:
        shown = parse_authentication_credential_json(dict(credential))
        row = row_of(connection, sql.OPENED, (shown.raw_id,))
        if row is None or shown.response.user_handle != bytes(row["user_handle"]):
            raise PasskeyRefused(_REFUSED)
        used = verify_authentication_response(
            credential=shown, expected_challenge=taken.challenge, expected_rp_id=party.id,
            expected_origin=party.origin, credential_public_key=bytes(row["public_key"]),
            credential_current_sign_count=row["sign_count"], require_user_verification=True,
        )  # fmt: skip
    except _malformed():
        raise PasskeyRefused(_REFUSED) from None
    connection.execute(sql.USED, {"passkey": row["id"], "count": used.new_sign_count})
    return int(row["person_id"])


def _malformed() -> tuple[type[Exception], ...]:
    """The errors by which py_webauthn refuses a credential, or stumbles over what is none."""
    from webauthn.helpers.exceptions import WebAuthnException

    return (WebAuthnException, ValueError, TypeError, LookupError, AttributeError, OverflowError)
