"""``helix usage``: what people and keys used, as a table, JSON or CSV, and the limits of that."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from helix.commands.console import LARGEST_ID, in_database, print_table
from helix.commands.periods import span_of
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import NotFound
from helix.library.audit import record_command
from helix.library.keys import list_keys
from helix.library.people.persons import find_person
from helix.library.usage_days import BY, By, Wanted, to_csv, totals_of, usage_report
from helix.library.usage_limits import Holder, UsageLimits, list_limits, set_limits
from helix.telemetry.usage_meter import today

if TYPE_CHECKING:
    from helix.storage.connections import Connected

usage = typer.Typer(name="usage", help="What people and keys used, and the limits of that.")
Tenant = Annotated[str, typer.Option(help="Whose members and keys.")]
Form = Literal["table", "json", "csv"]
_MOST = 10**12


@usage.callback(invoke_without_command=True)
def report(
    context: typer.Context,
    since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="How far back, such as 7d or 4w.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help=f"Told apart; may be given again: {', '.join(BY)}.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How it is printed.")] = "table",
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Show what was used this month (UTC), or since some time: questions, tokens, their cost.

    Without --by: who, space and model. The cost leaves out calls whose price is not known.
    """
    if context.invoked_subcommand is not None:
        return
    chosen: list[By] = [name for name in BY if name in (by or ("who", "space", "model"))]
    if set(by or ()) - set(BY):
        raise typer.BadParameter(f"--by is one of {', '.join(BY)}")
    first = today() - span_of(since) if since else today().replace(day=1)
    wanted = Wanted(tenant_name(tenant), min(first, today()), today(), chosen)
    rows = in_database(lambda connection: usage_report(connection, wanted))
    if form == "csv":
        sys.stdout.buffer.write(to_csv(rows))
    elif form == "json":
        typer.echo(json.dumps({"rows": rows, "totals": totals_of(rows)}))
    else:
        _print(rows, chosen)


def _print(rows: Sequence[dict[str, Any]], by: Sequence[By]) -> None:
    lines = [[*(_name(row, name) for name in by), *_counts(row)] for row in rows]
    lines.append(["all", *[""] * (len(by) - 1), *_counts(totals_of(rows))])
    print_table([*by, "asked", "refused", "votes", "tokens", "US$"], lines)


def _name(row: dict[str, Any], by: By) -> str:
    match by:
        case "who":
            return row["email"] or _key(row)
        case "key":
            return _key(row) if row["key_id"] else ""
        case "space":
            named = row["space"] or f"space {row['space_id']}"
            return "" if row["space_id"] is None else str(named)
        case _:
            return str(row[by] or "")


def _key(row: dict[str, Any]) -> str:
    return " ".join(filter(None, (f"key {row['key_id']}", row["key"])))


def _counts(row: dict[str, Any]) -> list[str]:
    tokens = sum(row[f"{kind}_tokens"] for kind in ("input", "output", "thought"))
    # "+": there were calls whose price is not known
    cost = f"{row['cost_usd']:.4f}{'+' if row['unpriced'] else ''}"
    votes = f"+{row['votes_up']} -{row['votes_down']}"
    return [f"{row['questions']:,}", f"{row['refusals']:,}", votes, f"{tokens:,}", cost]


@usage.command()
def limits(tenant: Tenant = DEFAULT_TENANT) -> None:
    """Show the limits of a tenant; those of everybody are for members without their own."""
    whose = tenant_name(tenant)
    rows = in_database(lambda connection: list_limits(connection, whose))
    print_table(["whose", "limits"], [
        [row["email"] or (_key(row) if row["key_id"] else "everybody"), _told(UsageLimits.of(row))]
        for row in rows
    ])  # fmt: skip


def _told(limits: UsageLimits) -> str:
    names = {"cost_usd": "US dollars"}
    return ", ".join(
        f"{most:,} {names.get(measure, measure)} a {period}"
        for measure, period, most in limits.drawn()
    )


Questions = Annotated[int | None, typer.Option(min=0, max=_MOST, help="Questions a day or month.")]
Tokens = Annotated[int | None, typer.Option(min=0, max=_MOST, help="Tokens, in and out.")]
Cost = Annotated[float | None, typer.Option(min=0, max=_MOST, help="US dollars.")]


@usage.command()
def limit(
    email: Annotated[str | None, typer.Argument(metavar="[EMAIL]", help="A member.")] = None,
    key: Annotated[int | None, typer.Option(min=1, max=LARGEST_ID, help="A key's number.")] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Each member who has no limits of their own.")
    ] = False,
    questions_day: Questions = None,
    questions_month: Questions = None,
    tokens_day: Tokens = None,
    tokens_month: Tokens = None,
    cost_usd_day: Cost = None,
    cost_usd_month: Cost = None,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Limit what somebody may use, from their next question on; what is not named has no limit.

    With no number at all their limits are taken away. Days and months are those of UTC.
    """
    if (email is not None) + (key is not None) + everybody != 1:
        raise typer.BadParameter("give one of EMAIL, --key and --everybody")
    given = UsageLimits(
        questions_day, questions_month, tokens_day, tokens_month, cost_usd_day, cost_usd_month
    )

    def change(connection: Connected) -> None:
        person = find_person(connection, email) if email else None
        if email and person is None:
            raise _no_account(connection, tenant, email)
        holder = Holder(tenant_name(tenant), person.id if person else None, key)
        set_limits(connection, holder, given)
        about = f"person {person.id}" if person else f"key {key}" if key else "everybody"
        record_command(connection, "helix usage limit", tenant, f"limits of {about}")

    in_database(change)
    whose = email or (f"key {key}" if key else "everybody")
    typer.echo(f"{whose}: {_told(given) or 'no limits'}")


def _no_account(connection: Connected, tenant: str, named: str) -> NotFound:
    """The error for an address that is nobody's; a key may have it as its name."""
    keys = [f"--key {key.id}" for key in list_keys(connection, tenant) if key.name == named]
    hint = f"a key is called so: {' or '.join(keys)}" if keys else "`helix user list` has them"
    return NotFound(f"there is no account of {named}: {hint}")
