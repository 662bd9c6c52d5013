"""A prompt as a Markdown file: a head, the editable text, and the fixed text around it. Pure.

::

    ---
    title: Search terms
    use: Tells the model to make search terms of a question.
    placeholders: count, difficulty
    ---
    Fixed text in front.
    <!-- editable -->
    Editable text, with {{count}} in it.
    <!-- fixed -->
    Fixed text behind.

Without a ``<!-- editable -->`` line the editable text begins at the head's end; without
``<!-- fixed -->`` it ends with the file. A placeholder may stand anywhere; a placeholder within a
value is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from helix.errors import BadRequest, HelixError, SettingsError

EDITABLE = "<!-- editable -->"
FIXED = "<!-- fixed -->"
LONGEST = 8000
"""Characters of an override at most."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OPENING = re.compile(r"\{\{[^}\n]*(?:\}\})?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_IN_PLACE: dict[str, Template] = {}
"""The prompts that the operator's folder has other texts of, by name."""


class BrokenPrompt(BadRequest):
    """A text cannot replace the prompt's editable text; the message names the line."""


@dataclass(frozen=True)
class Template:
    """One prompt as Helix ships it.

    ``text`` is the part that an override replaces, ``before`` and ``after`` are the fixed parts.
    ``placeholders`` are the names for which code has values.
    """

    name: str
    title: str
    use: str
    placeholders: tuple[str, ...]
    before: str
    text: str
    after: str

    def whole(self, text: str | None = None) -> str:
        """The prompt with ``text`` in place of the shipped text; only ``after`` for a blank one."""
        text = (self.text if text is None else text).strip("\n")
        if not text.strip():
            return self.after
        return "\n".join(part for part in (self.before, text, self.after) if part)

    def filled(self, text: str | None, values: Mapping[str, object]) -> str:
        """``whole`` with the placeholders' values; each placeholder needs one."""
        assert set(values) == set(self.placeholders), f"{self.name} takes {self.placeholders}"
        return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), self.whole(text))

    def check(self, text: str) -> None:
        """Return where ``text`` may replace the shipped text.

        Raises:
            BrokenPrompt: it may not; the message has the line at fault, counted from 1.
        """
        if len(text) > LONGEST:
            raise BrokenPrompt(f"the text has {len(text):,} characters: at most {LONGEST:,}")
        if not text.strip() and self.text.strip():
            raise BrokenPrompt(f"the text is blank: reset {self.name} to have the shipped one")
        for number, line in enumerate(text.split("\n"), 1):
            if problem := self._problem_of(line):
                raise BrokenPrompt(f"line {number}: {problem}")

    def _problem_of(self, line: str) -> str | None:
        if line.strip() in (EDITABLE, FIXED, "---"):
            return f"{line.strip()} divides the files of prompts, and cannot be part of one"
        if _CONTROLS.search(line.rstrip("\r").replace("\t", " ")):
            return "a control character is in it"
        for opening in _OPENING.findall(line):
            placeholder = _PLACEHOLDER.fullmatch(opening)
            if placeholder is None or placeholder[1] not in self.placeholders:
                return f"{opening} is no placeholder of {self.name}: {self._placeholder_list()}"
        return None

    def _placeholder_list(self) -> str:
        names = ", ".join(f"{{{{{name}}}}}" for name in self.placeholders)
        return f"it has {names}" if names else "it has none"


def parse(name: str, file: str) -> Template:
    """The template that the Markdown ``file`` holds."""
    _, head, body = file.split("---\n", 2)
    header = dict(line.split(": ", 1) for line in head.splitlines())
    lines = body.splitlines()
    first = lines.index(EDITABLE) if EDITABLE in lines else -1
    last = lines.index(FIXED) if FIXED in lines else len(lines)
    placeholders = tuple(header["placeholders"].split(", ")) if "placeholders" in header else ()
    return Template(
        name, header["title"], header["use"], placeholders,
        "\n".join(lines[: max(first, 0)]), "\n".join(lines[first + 1 : last]),
        "\n".join(lines[last + 1 :]),
    )  # fmt: skip


class NoSuchPrompt(HelixError):
    """There is no prompt of this name."""

    status = 404


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
