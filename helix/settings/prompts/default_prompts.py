"""The prompts that Helix ships: one Markdown file each in ``templates``, by the file's name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from helix.errors import HelixError, SettingsError
from helix.settings.prompts.template import BrokenPrompt, Template, parse


class NoSuchPrompt(HelixError):
    """There is no prompt of this name."""

    status = 404


_IN_PLACE: dict[str, Template] = {}
"""The prompts that the operator's folder has other texts of, by name."""


def use_folder(folder: str | None) -> None:
    """Have the files of ``folder``, ``judge.md`` and so on, stand in place of shipped texts.

    They are read now, for this process; None: no folder. A tenant's own texts stand above them.

    Raises:
        SettingsError: a file is no prompt's, cannot be read, or its text cannot be used.
    """
    found = {} if folder is None else _texts_in(Path(folder))
    _IN_PLACE.clear()
    _IN_PLACE.update(found)


def _texts_in(folder: Path) -> dict[str, Template]:
    found = {}
    try:
        for file in sorted(folder.glob("*.md")):
            shipped = template_as_shipped(file.stem)
            text = file.read_text("utf-8").strip("\r\n")
            shipped.check(text)
            found[file.stem] = replace(shipped, text=text)
        if not folder.is_dir():
            raise SettingsError(f"HELIX_PROMPTS_FOLDER: {folder} is no folder")
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"HELIX_PROMPTS_FOLDER: {type(error).__name__} in {folder}") from None
    except (BrokenPrompt, NoSuchPrompt) as error:
        raise SettingsError(f"HELIX_PROMPTS_FOLDER: {file.name}: {error}") from None
    return found


def templates() -> dict[str, Template]:
    """Every prompt by its name, in the order of names, as this process uses it."""
    return _shipped() | _IN_PLACE


@cache
def _shipped() -> dict[str, Template]:
    """Every prompt by its name, read once a process, not to be changed."""
    entries = sorted(
        (file.name.removesuffix(".md"), file.read_text("utf-8"))
        for file in files("helix.settings.prompts").joinpath("templates").iterdir()
        if file.name.endswith(".md")
    )
    return {name: parse(name, text) for name, text in entries}


def template(name: str) -> Template:
    """The prompt ``name`` as this process uses it where a tenant has no text of its own.

    Raises:
        NoSuchPrompt: there is no such prompt; the message lists the names.
    """
    return _IN_PLACE.get(name) or template_as_shipped(name)


def template_as_shipped(name: str) -> Template:
    """The prompt ``name`` as Helix ships it; raises as ``template`` does."""
    try:
        return _shipped()[name]
    except KeyError:
        raise NoSuchPrompt(f"there is no prompt {name}: {', '.join(_shipped())}") from None
