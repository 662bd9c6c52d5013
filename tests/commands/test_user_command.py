"""`helix user` and `helix group`: accounts, roles and groups by hand."""

from __future__ import annotations

import re

import psycopg
import pytest

from helix.library.keys import create_key
from helix.library.people.invitations import accept, first_link, invite, purpose_of
from helix.library.people.passwords import person_of_password
from tests.support.audit_log import last_command
from tests.support.cli_runner import helix


@pytest.fixture
def values(database_url: str) -> dict[str, str]:
    return {"DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
            "COLUMNS": "140", "HELIX_URL": "https://helix.example.com/"}  # fmt: skip


def test_a_person_is_added_with_a_link_that_sets_a_password(values: dict[str, str]) -> None:
    done = helix("user", "add", "Ada@Example.com", "--tenant", "acme", "--role", "owner", **values)
    assert done.returncode == 0, done.stderr
    link = re.fullmatch(
        r"https://helix\.example\.com/web/sign-in\.html#link=([\w-]{43})\n", done.stdout
    )
    assert link and "ada@example.com" not in done.stdout
    assert last_command(values["DATABASE_URL"]) == "helix user add"
    with psycopg.connect(values["DATABASE_URL"]) as connection:
        purpose = purpose_of(connection, link[1])
        assert (purpose.email, purpose.resets) == ("ada@example.com", True)
        person, tenant = accept(connection, link[1], "correct horse")
        assert tenant is None  # no new one: helix user add had made her a member
        assert person_of_password(connection, " ADA@example.com", "correct horse") == person
    again = helix("user", "add", "ada@example.com", "--tenant", "beta", **values)
    assert (again.returncode, again.stdout) == (0, "")  # who has an account keeps it
    assert "beta has no owner: `helix user set ada@example.com --tenant beta" in again.stderr
    listed = helix("user", "list", **values).stdout
    assert re.search(r"ada@example\.com +acme +owner", listed)
    assert re.search(r"ada@example\.com +beta +reader", listed)
    assert "acme" not in helix("user", "list", "--tenant", "beta", **values).stdout
    same = helix("user", "add", "ada@example.com", "--tenant", "acme", **values)
    assert (same.returncode, same.stderr) == (0, "ada@example.com is an owner of acme\n")


def test_where_nobody_has_an_account_it_is_said_and_how_one_is_added(
    values: dict[str, str],
) -> None:
    told = helix("user", "list", **values).stdout
    assert told == "nobody has an account: `helix user add ada@example.com` adds one\n"
    told = helix("user", "list", "--tenant", "acme", **values).stdout
    assert "in acme: `helix user add ada@example.com --tenant acme`" in told


def test_a_password_comes_from_a_pipe(values: dict[str, str]) -> None:
    made = helix("user", "add", "ada@example.com", "--password", stdin="long enough\n", **values)
    assert (made.returncode, made.stdout) == (0, ""), made.stderr
    short = helix("user", "set", "ada@example.com", "--password", stdin="short\n", **values)
    assert short.returncode != 0 and "10 to 1000 characters" in short.stderr
    with psycopg.connect(values["DATABASE_URL"]) as connection:
        assert person_of_password(connection, "ada@example.com", "long enough")
        assert person_of_password(connection, "ada@example.com", "long enough ") is None
        assert person_of_password(connection, "eve@example.com", "long enough") is None
        assert person_of_password(connection, "a\x00da@example.com", "long enough") is None
        ((stored,),) = connection.execute("SELECT password_hash FROM people").fetchall()
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_passkeys_are_listed_and_taken_away_and_a_reset_ends_all_and_tokens(
    values: dict[str, str],
) -> None:
    helix("user", "add", "ada@example.com", "--password", stdin="long enough\n", **values)
    url, email = values["DATABASE_URL"], "ada@example.com"
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("phone", "laptop", "key"):
            connection.execute(
                "INSERT INTO passkeys (person_id, name, credential_id, public_key, user_handle,"
                " sign_count) VALUES (1, %s, %s, '', 'h', 0)",
                (name, name.encode()),
            )
        assert "laptop" in helix("user", "passkeys", email, **values).stdout
        assert last_command(url) == "helix user add"
        left = helix("user", "passkeys", email, "--remove", "2", **values).stdout
        assert "phone" in left and "laptop" not in left
        assert last_command(url) == "helix user passkeys"
        again = helix("user", "passkeys", email, "--remove", "2", **values)
        assert again.returncode != 0 and "has no passkey 2" in again.stderr
        create_key(connection, "default", person_id=1)
        helix("user", "set", email, "--password", stdin="another one\n", **values)
        assert connection.execute("SELECT FROM passkeys").fetchall() == []
        assert connection.execute("SELECT FROM api_keys WHERE revoked_at IS NULL").fetchall() == []


def test_roles_change_and_the_last_owner_stays(values: dict[str, str]) -> None:
    for email, role in (("ada@example.com", "owner"), ("bob@example.com", "reader")):
        helix("user", "add", email, "--role", role, **values)
    refused = helix("user", "set", "ada@example.com", "--role", "reader", **values)
    assert refused.returncode != 0 and "would have no owner" in refused.stderr
    assert helix("user", "set", "bob@example.com", "--role", "owner", **values).returncode == 0
    assert helix("user", "set", "ada@example.com", "--role", "none", **values).returncode == 0
    assert "ada" not in helix("user", "list", "--tenant", "default", **values).stdout
    unknown = helix("user", "set", "eve@example.com", "--role", "owner", **values)
    assert unknown.returncode != 0 and "there is no account" in unknown.stderr
    assert helix("user", "set", "bob@example.com", **values).returncode == 2
    assert helix("user", "add", "not an address", **values).returncode != 0


def test_a_disabled_account_opens_nothing_until_it_is_enabled(values: dict[str, str]) -> None:
    helix("user", "add", "ada@example.com", "--password", stdin="long enough\n", **values)
    assert helix("user", "disable", "ada@example.com", **values).returncode == 0
    with psycopg.connect(values["DATABASE_URL"], autocommit=True) as connection:
        assert person_of_password(connection, "ada@example.com", "long enough") is None
        assert "disabled" in helix("user", "list", **values).stdout
        helix("user", "set", "ada@example.com", "--enable", **values)
        assert person_of_password(connection, "ada@example.com", "long enough")


def test_groups_have_members_of_their_tenant(values: dict[str, str]) -> None:
    helix("user", "add", "ada@example.com", "--tenant", "acme", **values)
    helix("user", "add", "bob@example.com", "--tenant", "beta", **values)
    assert helix("group", "add", "research", "--tenant", "acme", **values).returncode == 0
    twice = helix("group", "add", "research", "--tenant", "acme", **values)
    assert twice.returncode != 0 and "already" in twice.stderr
    shown = helix("group", "members", "research", "--tenant", "acme", "--add", "ada@example.com",
                  **values)  # fmt: skip
    assert "ada@example.com" in shown.stdout
    assert last_command(values["DATABASE_URL"]) == "helix group members"
    other = helix("group", "members", "research", "--tenant", "acme", "--add", "bob@example.com",
                  **values)  # fmt: skip
    assert other.returncode != 0
    assert re.search(r"research +local +1", helix("group", "list", **values).stdout)
    left = helix("group", "members", "research", "--tenant", "acme", "--remove", "ada@example.com",
                 **values)  # fmt: skip
    assert left.returncode == 0 and "ada" not in left.stdout


def test_the_first_link_is_one_and_ends_with_the_first_account(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        stale, link = first_link(connection, "default"), first_link(connection, "default")
        assert stale and link
        with pytest.raises(Exception, match="was used or has ended"):
            accept(connection, stale, "long enough", "eve@example.com")
        person, _ = accept(connection, link, "long enough", "Ada@example.com", "Ada")
        ((email, role),) = connection.execute(
            "SELECT email, role FROM people p JOIN members m ON m.person_id = p.id"
        ).fetchall()
        assert (email, role) == ("ada@example.com", "owner")
        with pytest.raises(Exception, match="was used or has ended"):
            accept(connection, link, "long enough", "eve@example.com")
        assert first_link(connection, "default") is None
        taken = invite(connection, "default", "ada@example.com", "reader", person)
        with pytest.raises(Exception, match="has an account already"):
            accept(connection, taken, "another one")
