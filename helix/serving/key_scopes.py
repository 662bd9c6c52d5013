"""The scope of an API key that each route needs: the one table, which every route is in.

``create_app`` stops at a route that is not in it. What a route does with a key that has the scope
is its own affair; whose documents it is about, the key says. A person's role is a set of scopes
(ROLE_SCOPES of helix/library/keys.py); in a space somebody may have more (IN_SPACES). The routes of
accounts are for people alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from helix.errors import HelixError
from helix.library.keys import KeyScope
from helix.settings import Public

ANY_KEY: None = None
"""The need of a route that every key opens, whatever its scopes."""

Route = tuple[str, str]
NEEDED: Mapping[Route, KeyScope | None] = {
    ("GET", "/ask"): "ask",
    ("POST", "/v1/query"): "ask",
    ("POST", "/ask-image"): "ask",
    ("GET", "/v1/suggestions"): "ask",
    ("GET", "/v1/answers/{answer_id}"): "ask",
    ("GET", "/v1/answers/{answer_id}/verify"): "ask",
    ("GET", "/v1/answers/{answer_id}/proof"): "ask",
    ("POST", "/v1/answers/{answer_id}/feedback"): "ask",
    ("GET", "/v1/search"): "read",
    ("GET", "/v1/chunks/{chunk_id}"): "read",
    ("GET", "/v1/documents"): "read",
    ("GET", "/v1/documents/{document_id}"): "read",
    ("GET", "/v1/documents/{document_id}/file"): "read",
    ("GET", "/v1/documents/{document_id}/pages"): "read",
    ("GET", "/v1/documents/{document_id}/pages/{number}.png"): "read",
    ("GET", "/v1/documents/{document_id}/pages/{number}/text"): "read",
    ("GET", "/v1/documents/{document_id}/boxes"): "read",
    ("GET", "/v1/documents/{document_id}/tables"): "read",
    ("GET", "/v1/library"): "read",
    ("GET", "/v1/library/ids"): "read",
    ("GET", "/v1/library/events"): "read",
    ("GET", "/v1/runs"): "read",
    ("GET", "/v1/runs/{run_id}"): "read",
    ("GET", "/v1/runs/{run_id}/events"): "read",
    ("POST", "/v1/documents"): "write",
    ("POST", "/v1/documents/samples"): "write",
    ("POST", "/v1/documents/url"): "write",
    ("POST", "/v1/documents/crawl"): "write",
    ("POST", "/v1/documents/batch"): "write",
    ("POST", "/v1/documents/metadata"): "write",
    ("PATCH", "/v1/documents/{document_id}"): "write",
    ("DELETE", "/v1/documents/{document_id}"): "write",
    ("POST", "/v1/documents/{document_id}/reingest"): "write",
    ("POST", "/v1/erasures"): "admin",
    ("POST", "/v1/runs/{run_id}/cancel"): "write",
    ("GET", "/v1/spaces"): ANY_KEY,
    ("POST", "/v1/spaces"): "write",
    ("PATCH", "/v1/spaces/{space_id}"): "write",
    ("DELETE", "/v1/spaces/{space_id}"): "write",
    ("POST", "/v1/spaces/{space_id}/documents"): "write",
    ("GET", "/v1/sources"): "read",
    ("POST", "/v1/sources"): "admin",
    ("GET", "/v1/sources/{source_id}"): "read",
    ("PATCH", "/v1/sources/{source_id}"): "admin",
    ("DELETE", "/v1/sources/{source_id}"): "admin",
    ("POST", "/v1/sources/{source_id}/sync"): "write",
    ("POST", "/v1/conversations"): "ask",
    ("GET", "/v1/conversations"): "ask",
    ("POST", "/v1/conversations/import"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/export"): "ask",
    ("GET", "/v1/conversations/{conversation_id}"): "ask",
    ("PATCH", "/v1/conversations/{conversation_id}"): "ask",
    ("DELETE", "/v1/conversations/{conversation_id}"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/messages"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/messages/{message_id}"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/messages/{message_id}/edit"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/messages/{message_id}/regenerate"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/messages/{message_id}/events"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/messages/{message_id}/stop"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/images"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/images/{image_id}"): "ask",
    ("POST", "/v1/conversations/{conversation_id}/attachments"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments/{document_id}"): "ask",
    ("DELETE", "/v1/conversations/{conversation_id}/attachments/{document_id}"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments/{document_id}/pages"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments/{document_id}/tables"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments/{document_id}/boxes"): "ask",
    ("GET", "/v1/conversations/{conversation_id}/attachments/{document_id}/pages/{number}.png"): (
        "ask"
    ),
    ("POST", "/v1/conversations/{conversation_id}/attachments/{document_id}/library"): "write",
    ("POST", "/v1/transcribe"): "ask",
    ("GET", "/v1/progress"): "ask",
    ("GET", "/v1/progress/days/{day}"): "ask",
    ("PATCH", "/v1/progress"): "ask",
    ("DELETE", "/v1/progress"): "ask",
    ("GET", "/v1/prompts"): "read",
    ("GET", "/v1/prompts/{name}"): "read",
    ("GET", "/v1/prompts/{name}/diff"): "read",
    ("POST", "/v1/prompts/{name}"): "write",
    ("DELETE", "/v1/prompts/{name}"): "write",
    ("POST", "/v1/prompts/{name}/rollback"): "write",
    ("POST", "/v1/prompts/{name}/preview"): "write",
    ("GET", "/v1/models"): ANY_KEY,
    ("GET", "/v1/models/{model:path}"): ANY_KEY,
    ("POST", "/v1/chat/completions"): "ask",
    ("POST", "/v1/responses"): "ask",
    ("POST", "/v1/embeddings"): "ask",
    ("POST", "/v1/ui/chat"): "ask",
    ("GET", "/v1/ui/chat/{conversation_id}/stream"): "ask",
    ("POST", "/v1/study"): "ask",
    ("GET", "/v1/study"): "ask",
    ("GET", "/v1/study/{set_id}"): "ask",
    ("PATCH", "/v1/study/{set_id}"): "ask",
    ("DELETE", "/v1/study/{set_id}"): "ask",
    ("POST", "/v1/study/{set_id}/attempts"): "ask",
    ("GET", "/v1/study/{set_id}/attempts"): "ask",
    ("GET", "/v1/study/attempts/{attempt_id}"): "ask",
    ("POST", "/v1/study/attempts/{attempt_id}/answers"): "ask",
    ("POST", "/v1/study/attempts/{attempt_id}/finish"): "ask",
    ("POST", "/v1/study/{set_id}/lessons/{item_id}"): "ask",
    ("POST", "/v1/study/{set_id}/lessons/{item_id}/done"): "ask",
    ("PATCH", "/v1/study/{set_id}/positions"): "ask",
    ("GET", "/v1/study/{set_id}/export"): "ask",
    ("POST", "/v1/study/{set_id}/drawn"): "ask",
    ("POST", "/v1/study/import"): "ask",
    ("GET", "/v1/study/due"): "ask",
    ("POST", "/v1/study/cards/{item_id}/review"): "ask",
    ("POST", "/v1/study/cards/undo"): "ask",
    ("GET", "/v1/usage"): ANY_KEY,
    ("GET", "/v1/usage/limits"): ANY_KEY,
    ("PUT", "/v1/usage/limits"): "admin",
    ("GET", "/v1/about"): ANY_KEY,
    ("GET", "/v1/local-servers"): "read",
    ("GET", "/v1/settings"): "read",
    ("PATCH", "/v1/settings"): "write",
    ("GET", "/v1/privacy"): "read",
    ("GET", "/v1/evals/last"): "read",
    ("GET", "/metrics"): "admin",
    ("GET", "/docs"): ANY_KEY,
    ("GET", "/openapi.json"): ANY_KEY,
}
IN_SPACES: frozenset[Route] = frozenset((
    ("POST", "/v1/documents"),
    ("POST", "/v1/documents/samples"),
    ("POST", "/v1/documents/url"),
    ("POST", "/v1/documents/crawl"),
    ("POST", "/v1/documents/batch"),
    ("POST", "/v1/documents/metadata"),
    ("PATCH", "/v1/documents/{document_id}"),
    ("DELETE", "/v1/documents/{document_id}"),
    ("POST", "/v1/documents/{document_id}/reingest"),
    ("POST", "/v1/runs/{run_id}/cancel"),
    ("POST", "/v1/spaces/{space_id}/documents"),
    ("POST", "/v1/conversations/{conversation_id}/attachments/{document_id}/library"),
))  # fmt: skip
"""Routes that whoever is an editor of a space opens too, for the documents of such spaces alone."""
Standing = Literal["anybody", "person", "owner"]
"""The need of a route for people: none, a session, or that of an owner of the tenant."""
PEOPLE_ONLY: Mapping[Route, Standing] = {
    ("GET", "/v1/sign-in"): "anybody",
    ("GET", "/v1/sign-in/proxy"): "anybody",
    ("GET", "/v1/sign-in/{provider}"): "anybody",
    ("GET", "/v1/sign-in/{provider}/callback"): "anybody",
    ("POST", "/v1/session"): "anybody",
    ("POST", "/v1/session/passkey/challenge"): "anybody",
    ("POST", "/v1/session/passkey"): "anybody",
    ("GET", "/v1/session"): "person",
    ("PATCH", "/v1/session"): "person",
    ("DELETE", "/v1/session"): "person",
    ("POST", "/v1/links/look"): "anybody",
    ("POST", "/v1/links/use"): "anybody",
    ("POST", "/v1/links/join"): "person",
    ("PATCH", "/v1/account"): "person",
    ("GET", "/v1/account/sessions"): "person",
    ("DELETE", "/v1/account/sessions/{session_id}"): "person",
    ("GET", "/v1/account/tokens"): "person",
    ("POST", "/v1/account/tokens"): "person",
    ("DELETE", "/v1/account/tokens/{key_id}"): "person",
    ("GET", "/v1/account/passkeys"): "person",
    ("POST", "/v1/account/passkeys/challenge"): "person",
    ("POST", "/v1/account/passkeys"): "person",
    ("PATCH", "/v1/account/passkeys/{passkey_id}"): "person",
    ("DELETE", "/v1/account/passkeys/{passkey_id}"): "person",
    ("GET", "/v1/members"): "person",
    ("PATCH", "/v1/members/{person_id}"): "owner",
    ("DELETE", "/v1/members/{person_id}"): "owner",
    ("POST", "/v1/members/{person_id}/link"): "owner",
    ("GET", "/v1/invitations"): "owner",
    ("POST", "/v1/invitations"): "owner",
    ("DELETE", "/v1/invitations/{invitation_id}"): "owner",
    ("GET", "/v1/spaces/{space_id}/members"): "person",
    ("PUT", "/v1/spaces/{space_id}/members/{kind}/{member_id}"): "person",
    ("DELETE", "/v1/spaces/{space_id}/members/{kind}/{member_id}"): "person",
    ("GET", "/v1/groups"): "person",
    ("POST", "/v1/groups"): "owner",
    ("DELETE", "/v1/groups/{group_id}"): "owner",
    ("GET", "/v1/groups/{group_id}/members"): "person",
    ("PUT", "/v1/groups/{group_id}/members/{person_id}"): "owner",
    ("DELETE", "/v1/groups/{group_id}/members/{person_id}"): "owner",
    ("GET", "/v1/shares"): "person",
    ("POST", "/v1/shares"): "person",
    ("PATCH", "/v1/shares/{share_id}"): "person",
    ("DELETE", "/v1/shares/{share_id}"): "person",
    ("POST", "/v1/shares/{share_id}/links"): "person",
    ("DELETE", "/v1/shares/{share_id}/links/{link_id}"): "person",
    ("GET", "/v1/shared"): "person",
    ("GET", "/v1/shared/{share_id}"): "person",
    ("GET", "/v1/shared/{share_id}/events"): "person",
    ("POST", "/v1/shared/{share_id}/comments"): "person",
    ("PATCH", "/v1/shared/{share_id}/comments/{comment_id}"): "person",
    ("DELETE", "/v1/shared/{share_id}/comments/{comment_id}"): "person",
    ("POST", "/v1/public/look"): "anybody",
}
"""With HELIX_AUTH=accounts there are these too."""
_PARTS: Mapping[str, Public] = {
    "/metrics": "metrics",
    "/v1/privacy": "privacy",
    "/v1/evals/last": "evals",
}


class ScopeMissing(HelixError):
    """The key opens the tenant's documents, but not for this."""

    status = 403


def needed_scope(methods: Iterable[str], path: str) -> KeyScope | None:
    """The scope that a key needs for the route; None: any key will do.

    Raises:
        RuntimeError: the route has no line in the table, or its methods need different scopes.
    """
    needed = set()
    for method in methods:
        if (method, path) not in NEEDED:
            raise RuntimeError(
                f"{method} {path} has no line in helix/serving/key_scopes.py: which scope"
                " does a key need for it?"
            )
        needed.add(NEEDED[method, path])
    if len(needed) != 1:
        raise RuntimeError(f"the methods of {path} need different scopes: make them two routes")
    return needed.pop()


def needed_standing(methods: Iterable[str], path: str) -> Standing:
    """The need of a route for people.

    Raises:
        RuntimeError: the route has no line in PEOPLE_ONLY.
    """
    found = {PEOPLE_ONLY.get((method, path)) for method in methods}
    standing = found.pop()
    if standing is None or found:
        raise RuntimeError(f"{path} has no line in PEOPLE_ONLY of helix/serving/key_scopes.py")
    return standing


def public_part(path: str) -> Public | None:
    """The part of HELIX_PUBLIC that ``path``, a route's template, belongs to."""
    return _PARTS.get(path)
