"""The contents of the wheel: one package, ``helix``, with all that runs without a checkout.

``db``, ``pipelines`` and ``samples`` stand beside ``helix`` in a checkout. In the wheel they are
``helix.db``, ``helix.pipelines`` and ``helix/samples``: names as general as ``db`` belong to the
person who installs Helix. ``evals`` and ``benchmarks`` stay out. The metadata is in pyproject.toml;
docs/decisions/0028-wheel-namespace.md has the reasons.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

MOVED = ("db", "pipelines")
_IMPORT = re.compile(rf"^(\s*(?:from|import) )(?=(?:{'|'.join(MOVED)})\b)", re.MULTILINE)
_DOTTED_NAME = re.compile(rf"([\"'`]|-m )(?=(?:{'|'.join(MOVED)})\.\S)")


class BuildOnePackage(build_py):
    """Copies the packages into the wheel; an editable install keeps them where they are."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        shipped = [name for name in self.packages if name.split(".")[0] in ("helix", *MOVED)]
        self.package_dir = {_name_in_wheel(name): name.replace(".", "/") for name in shipped}
        self.packages = list(self.package_dir)
        self.package_data = {_name_in_wheel(k): globs for k, globs in self.package_data.items()}
        shutil.rmtree(self.build_lib, ignore_errors=True)  # of an earlier build, deleted since
        super().run()
        shutil.copytree("samples", Path(self.build_lib, "helix", "samples"))

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str | Path, bool]:
        """Copy one module with imports, ``"pipelines.worker"`` and ``-m db.migrate`` renamed."""
        target, copied = super().build_module(module, module_file, package)
        if not self.editable_mode:
            source = Path(target).read_text(encoding="utf-8")
            renamed = _DOTTED_NAME.sub(r"\1helix.", _IMPORT.sub(r"\1helix.", source))
            Path(target).write_text(renamed, encoding="utf-8")
        return target, copied


class OneTopLevelName(egg_info):
    """Lists ``helix`` alone as what the wheel installs; setuptools would list every folder."""

    def run(self) -> None:
        super().run()
        Path(self.egg_info, "top_level.txt").write_text("helix\n")


def _name_in_wheel(package: str) -> str:
    return f"helix.{package}" if package.split(".")[0] in MOVED else package


setup(cmdclass={"build_py": BuildOnePackage, "egg_info": OneTopLevelName})
