"""The durable engine's (DBOS) records of runs: queries, cancelling, forgetting.

The workflows themselves are in pipelines/runs/workflow.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from dbos import DBOS

ABSENT = "absent"
"""The status of a workflow that DBOS knows nothing of."""

_ALIVE = ("PENDING", "ENQUEUED", "DELAYED")

list_workflows = partial(DBOS.list_workflows_async, load_input=False, load_output=False)


def workflow_id_of(run_id: int) -> str:
    """The id of a run's workflow."""
    return f"run-{run_id}"


async def forget_run(run_id: int) -> None:
    """Forget the run's workflow, which has ended, so that it can be queued anew."""
    await DBOS.delete_workflows_async([workflow_id_of(run_id)], delete_children=True)


async def cancel_run_workflow(run_id: int) -> None:
    """Stop the run's workflow and its files' at their next step."""
    await DBOS.cancel_workflow_async(workflow_id_of(run_id), cancel_children=True)


async def busy_executors() -> set[str]:
    """Names of the workers, dead ones too, that have something under way."""
    pending = await list_workflows(status="PENDING")
    return {status.executor_id for status in pending if status.executor_id}


async def take_over(executor: str) -> None:
    """Queue again what a dead worker had under way."""
    await asyncio.to_thread(DBOS._recover_pending_workflows, [executor])  # its only way in


async def lost_runs(running: Sequence[int]) -> dict[int, str]:
    """The runs of ``running`` whose workflow has ended or is ABSENT, with its status."""
    if not running:
        return {}
    keys = {workflow_id_of(run_id): run_id for run_id in running}
    workflows = await list_workflows(workflow_ids=list(keys))
    statuses = {status.workflow_id: str(status.status) for status in workflows}
    lost = {run_id: statuses.get(key, ABSENT) for key, run_id in keys.items()}
    return {run_id: status for run_id, status in lost.items() if status not in _ALIVE}


async def lost_files(running: Sequence[int]) -> list[tuple[int, int]]:
    """(run, n) of files of ``running`` whose workflow ended without an outcome of theirs."""
    if not running:
        return []
    workflows = await list_workflows(
        name="file",
        parent_workflow_id=[workflow_id_of(run_id) for run_id in running],
        status=["ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
        limit=1000,
    )
    # "run-12-file-3", as pipelines/runs/workflow.py names it
    parts = [status.workflow_id.split("-") for status in workflows]
    return [(int(run_id), int(n)) for _, run_id, _, n in parts]


async def forget(hours: float) -> None:
    """Delete the engine's records of runs that ended so long ago; ``runs`` keeps its own."""
    before = datetime.now(UTC) - timedelta(hours=hours)
    expired = await list_workflows(
        name="run",
        status=["SUCCESS", "ERROR", "CANCELLED"],
        completed_before=before.isoformat(),
        limit=100,
    )
    if expired:
        keys = [status.workflow_id for status in expired]
        await DBOS.delete_workflows_async(keys, delete_children=True)
