"""The prompts that Helix ships: one Markdown file each in ``templates``, by the file's name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from helix.errors import HelixError
from helix.prompts.template import Template, parse


class NoSuchPrompt(HelixError):
    """There is no prompt of this name."""

    status = 404


@cache
def templates() -> dict[str, Template]:
    """Every prompt by its name, in the order of names; read once a process, not to be changed."""
    entries = sorted(
        (file.name.removesuffix(".md"), file.read_text("utf-8"))
        for file in files("helix.prompts").joinpath("templates").iterdir()
        if file.name.endswith(".md")
    )
    return {name: parse(name, text) for name, text in entries}


def template(name: str) -> Template:
    """The prompt ``name`` as shipped.

    Raises:
        NoSuchPrompt: there is no such prompt; the message lists the names.
    """
    try:
        return templates()[name]
    except KeyError:
        raise NoSuchPrompt(f"there is no prompt {name}: {', '.join(templates())}") from None
