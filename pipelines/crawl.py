"""``python -m pipelines.crawl URL``: bring the pages of a docs site into Helix."""

from __future__ import annotations

from typing import Annotated

import typer

from helix.domain.crawl_limits import DEPTH, PAGES
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.settings import load_settings
from helix.telemetry.logs import configure_logging
from pipelines.crawler.options import DELAY_MS, CrawlOptions
from pipelines.program import (
    RUN_INTERRUPTED,
    Detach,
    Metadata,
    Tags,
    Tenant,
    metadata_option,
    one_line_errors,
    run,
    tags_option,
)


def crawl(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to start: a page of the site.")],
    prefix: Annotated[
        str | None, typer.Option(help="Part of the site to stay in, as /docs/; the URL's if none.")
    ] = None,
    pages: Annotated[int, typer.Option(help="Pages to ask for at most.")] = PAGES,
    depth: Annotated[int, typer.Option(help="Links to follow from the start at most.")] = DEPTH,
    delay: Annotated[int, typer.Option(help="Milliseconds between two requests.")] = DELAY_MS,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST[:PORT]", help="A host whose address may be private."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="Take PDFs and the like too.")] = False,
    tag: Tags = None,
    meta: Metadata = None,
    tenant: Tenant = DEFAULT_TENANT,
    detach: Detach = False,
) -> None:
    """Crawl a docs site: its sitemap's pages, or what its links lead to, under one path.

    Keeps to robots.txt. A page that did not change costs one short request. A page that fails is
    named and the rest goes in; the exit status is then 1.
    """
    options: dict[str, object] = {
        "url": url,
        "prefix": prefix,
        "pages": pages,
        "depth": depth,
        "delay_ms": delay,
        "files": files,
        "allow_hosts": allow_host or [],
    }
    with one_line_errors("crawl", RUN_INTERRUPTED):
        checked = CrawlOptions.from_dict(options)
        settings = load_settings()
        configure_logging("warning")
        from pipelines.runs.foreground import start_and_follow  # the durable engine takes a second

        # with the hosts of this terminal's settings: a server's worker may carry the run out
        allowed = checked.allowing(settings.allow_hosts)
        wanted = allowed.to_dict() | tags_option(tag) | metadata_option(meta)
        failed = start_and_follow(settings, "crawl", wanted, detach, tenant_name(tenant))
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    run(crawl)
