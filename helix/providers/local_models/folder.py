"""The folder of fetched models: what is there, where each came from, finding one by name."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from helix.errors import NotFound, SettingsError

SUFFIX = ".gguf"
_NOTE_SUFFIX = ".json"


@dataclass(frozen=True)
class Origin:
    """The origin of a file: repository, its commit, the file's name there, host and licence.

    ``sha256`` was checked when it came, in lower-case hexadecimal; ``size`` is in bytes.
    """

    repository: str
    commit: str
    file: str
    host: str
    licence: str
    sha256: str
    size: int


def models_folder(configured: str | None = None) -> Path:
    """``configured`` (HELIX_MODEL_FOLDER), else the user's own; it may not exist yet."""
    if configured:
        return Path(configured).expanduser().absolute()
    return Path(platformdirs.user_data_dir("helix", appauthor=False)) / "models"


def fetched(folder: Path) -> list[Path]:
    """The model files in ``folder``, by name."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def origin_of(file: Path) -> Origin | None:
    """The origin of ``file``; None for one that was put there by hand."""
    try:
        return Origin(**json.loads(_note(file).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def note_origin(file: Path, origin: Origin) -> None:
    """Keep beside ``file`` where it came from."""
    _note(file).write_text(json.dumps(asdict(origin), indent=1))


def remove(folder: Path, name: str) -> Path:
    """Delete the model ``name`` of ``folder``, with or without its suffix; returns its path.

    Raises:
        NotFound: there is none of that name.
    """
    for file in fetched(folder):
        if name in (file.name, file.stem):
            file.unlink()
            _note(file).unlink(missing_ok=True)
            return file
    there = ", ".join(file.name for file in fetched(folder)) or "none"
    raise NotFound(f"no model is named {name} in {folder}; there: {there}")


def model_file(name: str, folder: Path) -> Path:
    """The file that ``local:name`` names: a path, or a model of ``folder``.

    Raises:
        SettingsError: there is no such file.
    """
    try:
        given = Path(name).expanduser()
    except RuntimeError:
        given = Path(name)
    near = [given, folder / name, folder / f"{name}{SUFFIX}"]
    for file in near if len(given.parts) == 1 else near[:1]:
        if file.is_file():
            return file.resolve()
    raise SettingsError(
        f"there is no model file {name}: give the path of a GGUF file, or a name that"
        " `helix model list` shows; `helix model pull` fetches one"
    )


def _note(file: Path) -> Path:
    return file.with_name(file.name + _NOTE_SUFFIX)
