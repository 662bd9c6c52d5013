"""Plugins: found by entry points, used beside Helix's own, named where they fail."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import psycopg
import pytest
from llama_index.core.base.llms.types import ChatMessage

from helix.agent.schema_driver import calls_schema
from helix.agent.tools import TOOLS, all_tools
from helix.domain.file_kinds import media_of, sniff, supported_name
from helix.domain.plugins import LLMS, PluginFailed, plugins
from helix.errors import SettingsError
from helix.providers.factories import build_embedder, build_llm
from helix.settings import Settings, load_settings
from pipelines.readers import UnreadableFile
from pipelines.sandbox import Sandbox
from tests.domain.plugins.conftest import Install
from tests.support.cli_runner import helix
from tests.support.repository import ROOT

pytestmark = pytest.mark.processes

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
SUBTITLES = (
    b"1\n00:00:01,000 --> 00:00:02,000\nThe lamp\nis lit.\n\n2\n00:00:03 --> 00:00:04\nBye.\n"
)


def settings(**values: object) -> Settings:
    return load_settings(**{"database_url": "embedded", "embedder": "offline", **values})


async def test_a_provider_answers_and_embeds(install: Install) -> None:
    install("provider")
    chosen = settings(llm="echo:Ada", embedder="echo")
    llm = build_llm(chosen)
    stream = await llm.model.astream_chat([ChatMessage("Who says so?")])
    assert [response.delta async for response in stream] == ["Ada says so [1]."]
    assert (llm.identity, build_embedder(chosen).identity) == ("echo:Ada", "echo:1536")
    assert llm.silence == chosen.model_timeout


async def test_a_reader_reads_files_of_its_name_within_the_sandbox(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (sniff(SUBTITLES, "a.srt"), supported_name("a.srt")) == ("text", False)
    target = install("reader")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{target}")
    plugins.cache_clear()
    assert (sniff(SUBTITLES, "a.srt"), supported_name("a.SRT")) == ("srt", True)
    assert (media := media_of("srt")) and media.suffixes == (".srt",)
    sandbox = Sandbox()
    try:
        assert (await sandbox.read("srt", SUBTITLES)).text == "The lamp is lit.\n\nBye."
        with pytest.raises(UnreadableFile, match="a subtitle without its times"):
            await sandbox.read("srt", b"1\nno times\n")
    finally:
        await sandbox.aclose()


def test_a_source_gives_files_once(
    install: Install, durable_database_url: str, tmp_path: Path
) -> None:
    install("source", "broken")
    notes = tmp_path / "notes.json"
    notes.write_text(json.dumps({"lamp": "# Lamp\n\nThe lamp of the hall is lit at nine.\n"}))
    given = {"DATABASE_URL": durable_database_url, **OFFLINE}
    for outcome in ("added", "unchanged"):
        done = helix("ingest", f"shelf:{notes}", **given)
        assert done.returncode == 0 and outcome in done.stdout, done.stdout + done.stderr
    torn = helix("ingest", "torn:there", **given)
    assert torn.returncode == 1
    assert "ConnectionError: there is away" in torn.stdout + torn.stderr
    twins = helix("ingest", "twins:x", **given)
    assert "2 added, 0 replaced, 0 unchanged, 4 failed" in twins.stdout, twins.stdout + twins.stderr
    assert "another file of the source has this name" in twins.stdout + twins.stderr
    with psycopg.connect(durable_database_url) as connection:
        found = connection.execute("SELECT source_uri FROM documents ORDER BY 1").fetchall()
    assert found == [
        (f"shelf:{notes}/lamp.md",),
        ("torn:there/first.md",),
        ("twins:x/last.md",),
        ("twins:x/twin.md",),
    ]


def test_a_tool_is_told_to_models_behind_helixs_own(install: Install) -> None:
    install("tool")
    *own, tool = all_tools()
    assert tuple(own) == TOOLS and tool.about() == "Tells when the shop of a town is open."
    assert "opening_hours" in json.dumps(calls_schema([tool]))


def test_broken_plugins_are_named_and_the_rest_goes_on(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install("broken", "tool")
    with caplog.at_level(logging.ERROR):
        names = [tool.name for tool in all_tools()]
    assert names == [*(tool.name for tool in TOOLS), "opening_hours"]
    assert sorted(record.getMessage().rpartition(": ")[2] for record in caplog.records) == [
        "Helix itself has one of this name", "it is no Tool of this name with a description",
    ]  # fmt: skip
    for name, reason in (
        ("torn:x", "it wants 'BROKEN_API_KEY', which is not set"),
        ("absent", "No module named 'helix_absent'"),
    ):  # fmt: skip
        with pytest.raises(PluginFailed, match=r"helix-broken 1\.0") as failed:
            build_llm(settings(llm=name))
        assert reason in str(failed.value) and "\n" not in str(failed.value)
    with pytest.raises(SettingsError, match="HELIX_LLM=empty: its provider gave a NoneType"):
        build_llm(settings(llm="empty"))
    assert build_llm(settings(llm="offline")).quotes_only
    with pytest.raises(SettingsError, match=r"'nobody': it knows absent, anthropic, .*torn"):
        build_llm(settings(llm="nobody"))


def test_the_first_of_two_packages_has_the_name(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    target = install("provider")
    second = target / "aaa-1.dist-info"
    second.mkdir()
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: aaa\nVersion: 1\n")
    (second / "entry_points.txt").write_text("[helix.llms]\necho = elsewhere:llm\n")
    plugins.cache_clear()
    assert plugins(LLMS)["echo"].package == "aaa 1"
    assert "the plugin 'echo' of helix-echo 1.0" in caplog.text
    assert "aaa 1 has one of this name" in caplog.text


def test_the_command_lists_them(install: Install) -> None:
    assert helix("plugins", **OFFLINE).stdout == "no plugins are installed\n"
    plugins.cache_clear()
    install("broken", "provider", "reader")
    listed = helix("plugins", **OFFLINE)
    assert listed.returncode == 1
    lines = listed.stdout.splitlines()
    assert "ok   helix.readers srt (helix-srt 1.0, helix_srt:read)" in lines
    assert sum(line.startswith("FAIL") for line in lines) == 5
    assert "helix_broken:TOOL) cannot be used: it is no Tool" in listed.stdout
    assert "helix_broken:TEXT) cannot be used: it is no function" in listed.stdout
    assert len(lines) == 12 and "helix_absent" in listed.stdout


def test_nothing_is_looked_for_where_helix_has_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert build_llm(settings(llm="offline")).quotes_only
    assert (sniff(b"# A", "a.md"), sniff(b"A", ""), supported_name("b.PDF")) == (
        "markdown", "text", True,
    )  # fmt: skip
    with pytest.raises(TypeError):
        supported_name("a.srt")
