"""`scripts/install` says how far it is while it installs, and leaves a pip for what comes later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.repository import ROOT

# Makes a virtual environment that compiles nothing, and installs until progress was told.
_UV = """#!/bin/sh
case "$1" in
venv) mkdir -p "$VENV/bin"
  printf '#!/bin/sh\n' > "$VENV/bin/python"; chmod +x "$VENV/bin/python" ;;
*) echo "$*" > "$ASKED"
  for _ in $(seq 600); do grep -q 'MB so far' "$TOLD" && exit 0; sleep 0.1; done; exit 1 ;;
esac
"""


def test_it_tells_how_far_it_is_and_brings_pip(tmp_path: Path) -> None:
    uv, told, venv = tmp_path / "uv", tmp_path / "told", tmp_path / "venv"
    asked = tmp_path / "asked"
    uv.write_text(_UV)
    uv.chmod(0o700)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    values = {
        "PATH": path, "PYTHON": sys.executable,
        "TOLD": str(told), "VENV": str(venv), "ASKED": str(asked),
    }  # fmt: skip
    with told.open("wb") as output:
        done = subprocess.run(
            [ROOT / "scripts" / "install", venv],
            cwd=tmp_path, env={**os.environ, **values}, stdout=output, stderr=output, check=False,
        )  # fmt: skip
    lines = told.read_text().splitlines()
    assert done.returncode == 0, lines
    assert lines[0] == f"Installing into {venv}: 530 MB or more, a minute or two"
    assert "MB so far," in lines[1] and lines[-1].startswith("Installed in ")
    assert "pip" in asked.read_text().split()[2:]  # `pip install` of docs and messages
