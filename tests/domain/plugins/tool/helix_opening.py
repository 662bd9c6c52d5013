"""A tool that tells when a shop is open."""

from pydantic import Field

from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput


class Shop(Arguments):
    """The shop that is asked about."""

    town: str = Field(max_length=40, description="Where the shop is.")


async def opening_hours(arguments: Shop, context: ToolContext) -> ToolOutput:
    """The hours of the one shop that there is."""
    if arguments.town != "Leiden":
        raise ToolFailure(f"There is no shop in {arguments.town}.")
    return ToolOutput((f"The shop in {arguments.town} is open from 9 to 5.",))


OPENING_HOURS = Tool(
    "opening_hours", Shop, opening_hours, description="Tells when the shop of a town is open."
)
