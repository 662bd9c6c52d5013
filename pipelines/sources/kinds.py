"""Sources opened by their kind; each kind's module is loaded when one of it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from helix.domain.source_kinds import KINDS
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.redaction import redacting, told_plainly


def open_source(
    kind: str, address: str, options: Mapping[str, Any], secrets: dict[str, str]
) -> Connector:
    """The source of this kind at ``address``.

    Raises:
        SourceError: there is no such kind, its extra is not installed, or it cannot be opened.
    """
    found = KINDS.get(kind)
    if found is None:
        raise SourceError(f"there is no kind of source {kind!r}: {', '.join(KINDS)}")
    try:
        module = import_module(found.module)
        opened: Connector = module.open_source(address, options, secrets)
    except ImportError as error:
        if found.extra is None:
            raise
        raise SourceError(
            f"{found.title} wants a package that is not here ({error.name}):"
            f" pip install 'helix-answers[{found.extra}]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - a library's, whose text may hold a secret
        raise told_plainly(error, secrets) from None
    return redacting(opened, secrets)
