"""`helix runs` of a tenant: what it lists, shows and cancels is the tenant's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from helix.cli import cli
from tests.support.live_server import live, upload
from tests.support.sample_documents import pdf


def test_runs_of_a_tenant_in_the_terminal(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"DATABASE_URL": database_url, "HELIX_LLM": "offline",
              "HELIX_EMBEDDER": "offline", "COLUMNS": "120"}  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)

    def runs(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, ["runs", *arguments])
        return done.exit_code, done.output

    with live(database_url) as client:
        told = {
            tenant: upload(client, pdf(f"Of {tenant}."), "n.pdf", source_uri=uri, tenant_id=tenant)
            for tenant, uri in (("alpha", "handbook"), ("beta", "secret"))
        }
    of_beta = str(told["beta"].json()["run_id"])
    assert of_beta in runs("--tenant", "beta")[1]
    assert of_beta not in runs("--tenant", "alpha")[1].split()
    assert "secret" in runs("show", of_beta, "--tenant", "beta")[1]
    assert "secret" in runs("--tenant", "beta", "show", of_beta)[1]
    foreign = runs("cancel", of_beta, "--tenant", "alpha")
    assert foreign == (1, f"helix: there is no run {of_beta}: `helix runs -v` lists them\n")
    assert runs("cancel", of_beta) == foreign
    assert runs("show", of_beta, "--tenant", "no tenant")[0] == 2
