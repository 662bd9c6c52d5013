"""``helix study take`` and ``review``: taking a quiz and reviewing due cards in the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from helix.commands.console import one_line
from helix.commands.scope_options import TenantOption
from helix.commands.service.address import ServerOption
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest, NotFound
from helix.telemetry.logs import configure_logging

if TYPE_CHECKING:
    from helix.commands.service.study import StudyService
    from helix.library.access import Row
    from helix.study.repetition import Rating

Result = TypeVar("Result")

_RATINGS: Mapping[str, Rating] = {"1": "again", "2": "hard", "3": "good", "4": "easy"}
_END, _UNDO = "q", "u"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def take(
    number: Annotated[int, typer.Argument(min=1, help="A quiz, as `helix study list` has it.")],
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Take a quiz, or go on with it: each answer is shown with the sentence that proves it."""
    run_with_set(lambda study: _take(study, number), number, server, tenant)


def review(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Cards at most.")] = 20,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Review the due cards, then new ones."""
    run_study(lambda study: _review(study, limit), server, tenant)


def run_study(
    action: Callable[[StudyService], Awaitable[Result]], server: str | None, tenant: str
) -> Result:
    """The result of ``action`` on the tenant's sets, at a server or in the database."""
    from helix.commands.service.study import study_service

    configure_logging("warning")

    async def connected() -> Result:
        async with study_service(server, tenant_name(tenant)) as study:
            return await action(study)

    return asyncio.run(connected())


def run_with_set(
    action: Callable[[StudyService], Awaitable[Result]],
    number: int,
    server: str | None,
    tenant: str,
) -> Result:
    """The result of ``run_study`` on a set; without one, the error says how to list them."""
    try:
        return run_study(action, server, tenant)
    except NotFound:
        raise NotFound(f"there is no study set {number}: `helix study list` lists them") from None


async def _take(study: StudyService, number: int) -> None:
    quiz = await study.read_set(number)
    if quiz["kind"] != "quiz":
        raise BadRequest(f"set {number} is of kind {quiz['kind']}: `helix study list` has quizzes")
    attempt = await study.open_attempt(number)
    items = [item for item in quiz["items"] if str(item["id"]) not in attempt["answers"]]
    for place, item in enumerate(items, len(quiz["items"]) - len(items) + 1):
        typer.echo(f"\n{place} of {len(quiz['items'])}  {_question(item['body'])}")
        answers = _answers(item)
        for key, text, _ in answers:
            typer.echo(f"  {key}  {text}")
        choice = _ask_choice({key: value for key, _, value in answers})
        if choice is None:
            typer.echo(f"`helix study take {number}` goes on here")
            return
        _print_review(await study.answer(attempt["id"], item["id"], choice[0]), answers)
    scored = await study.finish(attempt["id"])
    typer.echo(f"\n{scored['right']} of {scored['of']} right")


async def _review(study: StudyService, limit: int) -> None:
    page = await study.due(limit)
    cards, place = page["cards"], 0
    if not cards:
        typer.echo("no card is due")
    while place < len(cards):
        card = cards[place]
        typer.echo(f"\n{place + 1} of {len(cards)}  {one_line(card['body']['front'])}")
        if _line("Enter turns it, q ends: ") in (None, _END):
            return
        typer.echo(f"  {one_line(card['body']['back'])}")
        _print_sources(card["sources"], card["body"]["back"])
        intervals = {rating: _interval(card["intervals"][rating]) for rating in _RATINGS.values()}
        buttons = "  ".join(f"{key} {name} ({intervals[name]})" for key, name in _RATINGS.items())
        choice = _ask_choice({**_RATINGS, _UNDO: _UNDO}, f"  {buttons}  u undo  q end: ")
        if choice is None:
            return
        if choice[0] == _UNDO:
            place = await _undone(study, place)
        else:
            await study.review(card["id"], choice[0])
            place += 1


async def _undone(study: StudyService, place: int) -> int:
    """Undo the review of the card before; returns its index, or ``place`` where there is none."""
    if place == 0:
        typer.echo("  there is no review to undo")
        return 0
    await study.undo_review()
    return place - 1


def _question(body: Row) -> str:
    return one_line(body.get("question") or f"True or false: {body.get('statement')}")


def _answers(item: Row) -> list[tuple[str, str, Any]]:
    """The answers of a question: the key to press, the text, and the value to send."""
    if item["kind"] == "true_false":
        return [("t", "true", True), ("f", "false", False)]
    options = item["body"]["options"]
    return [(str(n), one_line(option), n - 1) for n, option in enumerate(options, 1)]


def _print_review(reviewed: Row, answers: list[tuple[str, str, Any]]) -> None:
    right = next(text for _, text, value in answers if value == reviewed["key"])
    typer.echo("  right" if reviewed["right"] else f"  not right: {right}")
    _print_sources(reviewed["sources"])


def _print_sources(sources: list[Row], previous: str = "") -> None:
    for source in sources:
        quote = one_line(source["quote"])
        where = ", ".join(filter(None, (source["title"], source.get("label") or "")))
        typer.echo(f"  {one_line(where)}" + ("" if quote == one_line(previous) else f": {quote}"))


def _ask_choice(
    choices: Mapping[str, Any], text: str = "  your answer, q ends: "
) -> tuple[Any] | None:
    """The chosen value, as a tuple of one; None: the learner ends."""
    while (line := _line(text)) not in (None, _END):
        if line in choices:
            return (choices[line],)
        typer.echo(f"  one of {', '.join(choices)}, or {_END}")
    return None


def _line(text: str) -> str | None:
    """A line from the terminal, without blanks around it; None at the end of the input."""
    typer.echo(text, nl=False)
    try:
        return input().strip().lower()
    except EOFError:
        typer.echo()
        return None


def _interval(seconds: int) -> str:
    if seconds < _HOUR:
        return f"{max(1, round(seconds / _MINUTE))} min"
    return f"{round(seconds / _HOUR)} h" if seconds < _DAY else f"{round(seconds / _DAY)} d"
