"""The options of commands that ask: from which documents, and who gathers from them."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

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
