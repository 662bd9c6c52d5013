"""The architecture as tests: import direction, lazy vendors, documented settings."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helix.settings import HOW

ROOT = Path(__file__).resolve().parent.parent
MAY_NOT_IMPORT = {
    "db": {"helix", "pipelines", "evals", "benchmarks", "tests"},
    "helix": {"pipelines", "evals", "benchmarks", "tests"},
    "pipelines": {"evals", "benchmarks", "tests"},
    "evals": {"benchmarks", "tests"},
    "benchmarks": {"tests"},
}

VENDORS = ("google.genai", "wordllama", "helix.providers.gemini")


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("room", sorted(MAY_NOT_IMPORT))
def test_import_direction(room: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in (ROOT / room).rglob("*.py")
        for name in _imports(file)
        if name in MAY_NOT_IMPORT[room]
    ]
    assert not wrong


@pytest.fixture(scope="module")
def imported() -> subprocess.CompletedProcess[str]:
    """An interpreter without a variable that imports the application and tells of vendors."""
    told = f"[name for name in sys.modules if name.startswith({VENDORS!r})]"
    return subprocess.run(
        [sys.executable, "-c", f"import sys, helix.app, helix.cli; print({told})"],
        cwd="/", env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_vendor_is_imported_only_when_it_is_chosen(
    imported: subprocess.CompletedProcess[str],
) -> None:
    assert imported.stdout.strip() == "[]"


def test_importing_the_app_reads_no_setting(imported: subprocess.CompletedProcess[str]) -> None:
    assert imported.returncode == 0, imported.stderr


@pytest.mark.parametrize("variable", sorted(HOW))
def test_every_setting_is_documented(variable: str) -> None:
    for place in (".env.example", "docs/settings.md"):
        assert re.search(rf"\b{variable}\b", (ROOT / place).read_text()), place


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = re.findall(r"^make ([a-z ]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = {target for line in lines for target in line.split()}
    assert {"demo", "test"} <= named <= targets


def test_no_index_address_is_committed() -> None:
    pinned = (ROOT / "constraints.txt").read_text()
    assert "://" not in pinned and " @ " not in pinned
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==\S+|#.*|", line) for line in pinned.splitlines())
