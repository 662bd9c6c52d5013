"""The table of commands: what it names is there, and is loaded only when it is called."""

from __future__ import annotations

from helix.cli import COMMANDS
from tests.support.cli_runner import helix

SHOWN = 60
"""Characters of help that a terminal of 80 columns shows beside the longest name."""


def test_every_command_of_the_table_is_there() -> None:
    for name in COMMANDS:
        done = helix(name, "--help")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"Usage: helix {name} ")


def test_every_command_is_listed_with_its_whole_help() -> None:
    listed = helix("--help").stdout.splitlines()
    for name, command in COMMANDS.items():
        assert len(command.help) <= SHOWN, name
        assert [name, command.help] in [line.split(maxsplit=1) for line in listed]


def test_a_mistyped_command_is_told_the_one_that_is_meant() -> None:
    done = helix("aks")
    assert done.returncode == 2
    assert done.stderr.endswith("Error: No such command 'aks'. Did you mean 'ask'?\n")


def test_a_wrong_value_of_an_option_is_told_in_words_of_ours_alone() -> None:
    done = helix("mcp", "--print-config", "foo")
    assert done.returncode == 2
    told = "Error: Invalid value for '--print-config': 'foo' is not one of 'stdio', "
    assert told in done.stderr, done.stderr


def test_a_span_of_time_that_is_none_is_told() -> None:
    done = helix("keys", "create", "--expires", "90x")
    assert done.returncode == 2
    told = "helix: '90x' is no span of time: give a number and m, h, d or w, as 90d\n"
    assert done.stderr == told
