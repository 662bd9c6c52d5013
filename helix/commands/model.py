"""``helix model``: model files of one's own, fetched from the Hugging Face hub."""

from __future__ import annotations

from typing import Annotated

import typer

from helix.commands.console import print_table
from helix.library.privacy.contact_files import keep_contacts
from helix.library.privacy.counter import process_counter
from helix.providers.local_models.folder import fetched, models_folder, origin_of, remove
from helix.providers.local_models.hub import fetch, named, offered
from helix.settings import load_model_folder

model = typer.Typer(
    name="model", help="Model files for HELIX_LLM=local:FILE: fetch, list, remove.",
    no_args_is_help=True,
)  # fmt: skip


@model.command()
def pull(
    repository: Annotated[
        str,
        typer.Argument(
            metavar="OWNER/NAME[:FILE]", help="Of the hub; FILE may be a part of its name."
        ),
    ],
) -> None:
    """Fetch a GGUF file from the Hugging Face hub; one that broke off goes on.

    Without FILE the usual quantization is taken (Q4_K_M). What came is checked by its SHA-256, and
    the hosts that were contacted stand in the privacy report of the next server.
    """
    counter = process_counter()
    folder = models_folder(load_model_folder())
    try:
        origin = offered(*named(repository))
        size = f"{origin.size / 2**20:,.0f} MB"
        typer.echo(f"{origin.file}, {size}, from {origin.host}/{origin.repository}", err=True)
        typer.echo(f"licence: {origin.licence or 'not told; see its page'}", err=True)
        path = fetch(origin, folder)
    finally:
        keep_contacts(counter.drain())
    typer.echo(f"SHA-256 {origin.sha256} is right. Answer by it:", err=True)
    typer.echo(f"  helix up --model local:{path.name}", err=True)
    typer.echo(path)


@model.command("list")
def list_() -> None:
    """The model files that were fetched: size, licence, where each came from."""
    folder = models_folder(load_model_folder())
    rows = []
    for file in fetched(folder):
        origin = origin_of(file)
        source = f"{origin.host}/{origin.repository}" if origin else "put there by hand"
        licence = (origin.licence if origin else "") or "?"
        rows.append(
            (f"local:{file.name}", f"{file.stat().st_size / 2**20:,.0f} MB", licence, source)
        )
    if not rows:
        typer.echo(f"none in {folder}: `helix model pull OWNER/NAME` fetches one", err=True)
        return
    print_table(("model", "size", "licence", "from"), rows)


@model.command()
def rm(name: Annotated[str, typer.Argument(help="As `helix model list` has it.")]) -> None:
    """Delete a model file that was fetched."""
    folder = models_folder(load_model_folder())
    typer.echo(f"{remove(folder, name.removeprefix('local:'))} is deleted")
