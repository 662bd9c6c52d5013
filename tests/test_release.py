"""A release: its version, its entries in the changelog, and the workflow that makes it."""

from __future__ import annotations

import re
import subprocess
import sys

import yaml

from helix import __version__
from tests.support.repository import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
SECTIONS = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)


def _notes(version: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/release_notes.py", version]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_changelog_is_by_version_and_the_newest_is_the_codes() -> None:
    first, *released = SECTIONS
    assert first == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", name) for name in released)
    versions = [tuple(map(int, name.partition(" ")[0].split("."))) for name in released]
    assert versions == sorted(versions, reverse=True)
    assert released[0].partition(" ")[0] == __version__


def test_an_entry_is_one_line() -> None:
    lines = [line for line in CHANGELOG.splitlines() if line and not line.startswith("#")]
    entries = lines[1:]  # behind what the file is
    assert [line for line in entries if not line.startswith("- ") or len(line) > 250] == []
    assert len(entries) == len(set(entries)) > 80


def test_the_notes_of_a_release_are_its_section() -> None:
    done = _notes(__version__)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### Added\n- ") and "\n## " not in done.stdout
    other = _notes("9.9.9")
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr == f"the code is version {__version__}, not 9.9.9\n"


def test_the_workflow_attests_what_it_releases() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    subjects = []
    for job in workflow["jobs"].values():
        uses = [step.get("uses", "") for step in job["steps"]]
        (at,) = [n for n, name in enumerate(uses) if name.startswith("actions/attest")]
        assert {"id-token", "attestations"} <= job["permissions"].keys()
        subjects += job["steps"][at]["with"].values()
    assert "dist/*" in subjects
    commands = "\n".join(
        step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]
    )
    for part in ("scripts/release_notes.py", "pip wheel", "make sbom", "docker build"):
        assert part in commands


def test_the_forms_of_issues_are_forms() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    for name in ("bug.yml", "idea.yml"):
        form = yaml.safe_load((folder / name).read_text())
        assert form["name"] and form["description"]
        asked = [item for item in form["body"] if item["type"] != "markdown"]
        assert all(item["attributes"]["label"] for item in asked)
        assert any(item.get("validations", {}).get("required") for item in asked)
