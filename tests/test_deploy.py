"""The commands and settings in deploy/, the Dockerfile and docker-compose.yml exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from helix.cli import COMMANDS
from helix.domain.source_kinds import KINDS
from helix.settings import HOW, ClientSettings, variable_of
from tests.support.repository import ROOT

KUBERNETES = ("1.28", "1.37")
"""The oldest release that the manifests are for, and the newest that the checker knows."""
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
NOBODY = 65534
_CLIENT = {variable_of(name, field) for name, field in ClientSettings.model_fields.items()}
_SECRETS = {"DATABASE_URL", "GEMINI_API_KEY"}
"""The settings that the manifests tell people to put into the secret."""


def _documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted((ROOT / "deploy/kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            yield f"{document['kind']} {document['metadata']['name']}", document


MANIFESTS = dict(_documents())


def _pods() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(labels, specification) of each pod that the manifests make."""
    for manifest in MANIFESTS.values():
        if template := manifest.get("spec", {}).get("template"):
            yield template["metadata"]["labels"], template["spec"]


def _options_of(words: list[str]) -> None:
    """Read a command as `helix` does, without running it; what it does not know raises."""
    assert words[0].rpartition("/")[2] == "helix" and words[1] in COMMANDS
    COMMANDS[words[1]].load(words[1]).make_context(words[1], words[2:])


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_keep_to_the_schemas_of_kubernetes(name: str, version: str) -> None:
    from kubernetes_validate.utils import validate  # loading it takes a second

    assert validate(MANIFESTS[name], version, strict=True) == version


def test_pods_run_as_nobody_and_write_below_tmp_alone() -> None:
    pods = list(_pods())
    assert len(pods) == 3
    for _, pod in pods:
        person = pod["securityContext"]
        assert person["runAsNonRoot"] and person["runAsUser"] == NOBODY
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            limits = container["securityContext"]
            assert limits["readOnlyRootFilesystem"] and limits["capabilities"] == {"drop": ["ALL"]}
            assert limits["allowPrivilegeEscalation"] is False
            assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/tmp"]
            assert container["resources"]["limits"]["memory"]
            _options_of(container["command"])


def test_what_selects_pods_selects_those_that_there_are() -> None:
    labels = [set(found.items()) for found, _ in _pods()]
    wanted = [
        spec["selector"].get("matchLabels", spec["selector"]) if "selector" in spec
        else spec["podSelector"]["matchLabels"]
        for spec in (each.get("spec", {}) for each in MANIFESTS.values())
        if "selector" in spec or "podSelector" in spec
    ]  # fmt: skip
    assert len(wanted) == 6
    for selector in wanted:
        assert any(set(selector.items()) <= found for found in labels), selector


def test_settings_of_the_manifests_are_settings() -> None:
    (settings,) = (each for each in MANIFESTS.values() if each["kind"] == "ConfigMap")
    assert set(settings["data"]) <= set(HOW) - _SECRETS
    assert all(isinstance(value, str) for value in settings["data"].values())
    for _, pod in _pods():
        for container in pod["containers"]:
            kinds = {kind: source["name"] for each in container["envFrom"]
                     for kind, source in each.items()}  # fmt: skip
            assert kinds == {"configMapRef": settings["metadata"]["name"], "secretRef": "helix"}
    assert all(name in (ROOT / "deploy/kubernetes/settings.yaml").read_text() for name in _SECRETS)


def _unit(file: Path) -> dict[str, dict[str, list[str]]]:
    """By section, the values of each directive."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in file.read_text().splitlines():
        if header := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(header[1], defaultdict(list))
        elif line and not line.startswith("#"):
            name, separator, value = line.partition("=")
            assert separator and re.fullmatch("[A-Z][A-Za-z]+", name), line
            section[name].append(value)
    return sections


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_units_start_commands_that_there_are(file: Path) -> None:
    unit = _unit(file)
    assert set(unit) == {"Unit", "Service", "Install"}
    (start,) = unit["Service"]["ExecStart"]
    _options_of(shlex.split(start))
    assert unit["Service"]["Restart"] == ["always"]
    assert unit["Service"]["DynamicUser"] == ["yes"]
    assert unit["Service"]["ProtectSystem"] == ["strict"]
    (settings,) = unit["Service"]["EnvironmentFile"]
    assert (file.parent / Path(settings).name).is_file()


def test_settings_of_the_units_are_settings() -> None:
    lines = (ROOT / "deploy/systemd/helix.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert settings and settings.keys() <= set(HOW)
    # what a shell takes as it stands is quoted: an address may have a & and a password a $
    assert re.fullmatch(r"'postgresql://[^']+'", settings["DATABASE_URL"])


def _services() -> dict[str, dict[str, Any]]:
    services: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())[
        "services"
    ]
    return services


def test_compose_hands_on_every_setting_to_containers_that_write_below_tmp_alone() -> None:
    ours = {name: each for name, each in _services().items() if each.get("build") == "."}
    assert set(ours) == {"migrate", "seed", "worker", "app"}
    for name, service in ours.items():
        settings = {each for each in service["environment"] if not each.startswith("AWS_")}
        assert settings | {"HELIX_WORKERS", "HELIX_OPEN_NETWORK"} == set(HOW) - _CLIENT, name
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert service["tmpfs"] == ["/tmp"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        if "command" in service:
            _options_of(service["command"])


def test_compose_mounts_files_and_waits_for_services_that_there_are() -> None:
    services = _services()
    assert {profile for each in services.values() for profile in each.get("profiles", [])} == {
        "app", "monitoring"
    }  # fmt: skip
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        for mount in service.get("volumes", ()):
            source = mount.partition(":")[0]
            assert not source.startswith(".") or (ROOT / source).exists(), mount


def test_prometheus_reads_the_rules_and_a_job_named_helix() -> None:
    folder = ROOT / "deploy/prometheus"
    read = yaml.safe_load((folder / "prometheus.yml").read_text())
    assert [(folder / name).is_file() for name in read["rule_files"]] == [True]
    (job,) = read["scrape_configs"]
    assert job["job_name"] == "helix"
    assert job["static_configs"][0]["targets"] == ["app:8080"]


def test_the_image_installs_the_tested_versions_by_their_hashes() -> None:
    locked = re.findall(
        r"^(\S+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
        (ROOT / "requirements.lock").read_text(),
        re.MULTILINE,
    )
    assert len(locked) > 50
    assert len(locked) == (ROOT / "requirements.lock").read_text().count("==")
    tested = re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    versions = {_plain(name): version for name, version in tested}
    assert {_plain(name): version for name, version, _ in locked}.items() <= versions.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    made = re.search(r"^IMAGE = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert made is not None
    extras = [project["optional-dependencies"][extra] for extra in made[1].split()]
    needed = {
        _plain(re.split(r"[\[<>=;~ ]", each)[0])
        for each in (*project["dependencies"], *chain.from_iterable(extras))
    }
    assert needed <= {_plain(name) for name, _, _ in locked}
    assert "--require-hashes -r requirements.lock" in (ROOT / "Dockerfile").read_text()


def test_the_image_has_what_each_kind_of_source_needs() -> None:
    image = (ROOT / "Dockerfile").read_text().rpartition("FROM ")[2]
    assert re.search(r"apt-get install .* git openssh-client ca-certificates", image)
    made = re.search(r"^IMAGE = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert made is not None
    assert {kind.extra for kind in KINDS.values() if kind.extra} <= set(made[1].split())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_image_runs_as_nobody() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert f"USER {NOBODY}:{NOBODY}" in lines
    assert lines.index(f"USER {NOBODY}:{NOBODY}") > max(
        number for number, line in enumerate(lines) if line.startswith(("RUN ", "COPY "))
    )
    (command,) = (line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    _options_of(yaml.safe_load(command))
