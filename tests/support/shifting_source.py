"""A folder or a git repository whose numbered facts come, move and go, and what it should be."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from tests.support.receipt_corpus import fact
from tests.support.sample_documents import pdf

_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


class ShiftingSource:
    """The files of one source by the numbers of their facts; even ones are printed."""

    def __init__(self, name: str, tree: Path, draw: random.Random, *, is_repository: bool) -> None:
        self.name, self.tree, self._draw = name, tree, draw
        self._is_repository = is_repository
        self.files: dict[int, str] = {}
        tree.mkdir()
        if is_repository:
            self._git("init", "-q", "-b", "main")

    @property
    def address(self) -> str:
        return str(self.tree)

    def add(self, number: int) -> None:
        text = fact(number)
        data = text.encode() if number % 2 else pdf(*text.split(". "))
        self.files[number] = f"{number}.{'txt' if number % 2 else 'pdf'}"
        (self.tree / self.files[number]).write_bytes(data)

    def move(self, number: int) -> None:
        before = self.tree / self.files[number]
        folder = self.tree / f"folder-{self._draw.randrange(10**6)}"
        folder.mkdir()
        self.files[number] = f"{folder.name}/{before.name}"
        before.rename(folder / before.name)

    def remove(self, number: int) -> None:
        (self.tree / self.files.pop(number)).unlink()

    def publish(self) -> None:
        """Make what was changed what a sync lists."""
        if self._is_repository:
            self._git("add", "-A")
            self._git("commit", "-q", "-m", "changed")

    def _git(self, *arguments: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.tree.parent)}
        subprocess.run(
            ["git", *_WHO, *arguments], cwd=self.tree, check=True, env=environment
        )  # fmt: skip
