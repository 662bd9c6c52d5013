"""Sign-ins that a reader begins in a browser: refused, for nobody sits at a worker."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NoReturn

from pipelines.sources.base import SourceError


def refuse_sign_ins() -> None:
    """Have Google's client refuse what it would wait for without end, in this process.

    Its flow opens a browser where the reader runs, and listens for the answer with no time limit.
    """
    with suppress(ImportError):  # of no reader of Google then
        from google_auth_oauthlib.flow import InstalledAppFlow

        InstalledAppFlow.run_local_server = _refused


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise SourceError(
        "the reader wants somebody to sign in, and nobody can where it runs: give it a"
        " service_account_key, or an authorized_user_info that was made elsewhere"
    )
