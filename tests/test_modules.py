"""Every module has a test: one of its name, one that imports it, or one that MODULES.md names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tests.support.repository import ROOT

TESTS = ROOT / "tests"
PACKAGES = ("helix", "pipelines", "db")


def _modules() -> Iterator[str]:
    """The path of each module that holds code of its own."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if file.name not in ("__init__.py", "__main__.py"):
                yield file.relative_to(ROOT).as_posix()


def _names_in(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, or has as a text, with all that they begin with."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), names=aliases):
                yield from (module, *(f"{module}.{alias.name}" for alias in aliases))
            case ast.Constant(value=str(text)) if text.startswith(tuple(f"{p}." for p in PACKAGES)):
                yield text
                yield text.rpartition(".")[0]


@cache
def _named_in_tests() -> frozenset[str]:
    return frozenset(name for file in TESTS.rglob("*.py") for name in _names_in(file))


def _has_tests_of_its_own(module: str) -> bool:
    path = Path(module.removeprefix("helix/"))
    mirror = TESTS / path.parent / f"test_{path.name}"
    return mirror.exists() or module.removesuffix(".py").replace("/", ".") in _named_in_tests()


def _rows() -> list[tuple[list[str], list[str]]]:
    """Patterns of modules with the tests that reach them."""
    text = (TESTS / "MODULES.md").read_text()
    found = re.findall(r"^\| (`.+`) \| (`.+`) \|$", text, re.MULTILINE)
    return [(re.findall("`(.+?)`", left), re.findall("`(.+?)`", right)) for left, right in found]


def _is_of(module: str, pattern: str) -> bool:
    """True where the pattern has the module; a star stands for no slash."""
    return module.count("/") == pattern.count("/") and fnmatchcase(module, pattern)


def test_every_module_has_a_test_of_its_own_or_stands_in_the_table() -> None:
    patterns = [pattern for own, _ in _rows() for pattern in own]
    left = [
        module
        for module in _modules()
        if not _has_tests_of_its_own(module)
        and not any(_is_of(module, pattern) for pattern in patterns)
    ]
    assert not left, "add a test, or the test that reaches it to tests/MODULES.md"


def test_every_row_of_the_table_is_of_modules_and_tests_that_there_are() -> None:
    modules = [module for module in _modules() if not _has_tests_of_its_own(module)]
    for patterns, tests in _rows():
        for pattern in patterns:
            assert any(_is_of(module, pattern) for module in modules), pattern
        assert [test for test in tests if not (ROOT / test).exists()] == []
