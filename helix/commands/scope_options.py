"""The options of commands that ask: from which documents, and who gathers from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import typer

from helix.errors import BadRequest

DocumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        "-d",
        metavar="NAME",
        help="From this document: its title, file name or path; may be given again.",
    ),
]
TagOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", "-t", metavar="TAG", help="From documents with this label; may be given again."
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where", "-w", metavar="CONDITION",
        help="From documents whose metadata fits, as 'year>=2024'; may be given again.",
    ),
]  # fmt: skip
SpaceOption = Annotated[
    str | None,
    typer.Option(metavar="SPACE", help="From the documents of this space: its name or id."),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME",
        help="From the library as it stood then, as far as versions are kept: 2026-01-31, or"
        " 2026-01-31T09:00.",
    ),
]  # fmt: skip
TenantOption = Annotated[str, typer.Option(help="The tenant whose documents are asked.")]
ModelOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model that answers, of HELIX_LLM and HELIX_MODELS."),
]
ModeOption = Annotated[
    Literal["answer", "agent", "write"] | None,
    typer.Option(
        help="agent: tools gather the sources over several steps; write: code and drafts;"
        " HELIX_MODE if none."
    ),
]


def moment_of(text: str | None) -> datetime | None:
    """The moment that ``--as-of`` names, by this machine's clock where it has no offset.

    Raises:
        BadRequest: it names none.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise BadRequest(f"--as-of {text} is no time: 2026-01-31T09:00") from None
