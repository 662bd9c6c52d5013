"""POST /v1/documents/batch and …/metadata: many documents changed by one request."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.metadata import checked_changes
from helix.domain.scope import checked_tags
from helix.errors import BadRequest
from helix.library.access import Row
from helix.library.batches import (
    MOST,
    Report,
    delete_documents,
    label_documents,
    rename_documents,
    reread_documents,
)
from helix.library.document_list import DocumentFilter
from helix.library.documents import must_change
from helix.library.metadata import edit_metadata
from helix.library.pagination import check_name
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.document_filters import KNOWN_PARAMETERS, Narrowed

DocumentId = Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)]

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


class Batch(BaseModel):
    """The action to take on a list of documents."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["delete", "label", "rename", "reread"]
    ids: list[DocumentId]
    add: list[str] = Field([], description="Labels to give (label)")
    remove: list[str] = Field([], description="Labels to take away (label)")
    titles: list[str] = Field([], description="One for each of ids, in their order (rename)")
    tenant_id: str | None = None

    def checked(self) -> Batch:
        """This request, its texts trimmed and each id once; raises BadRequest."""
        if not self.ids:
            raise BadRequest("ids is empty: name the documents, by their ids")
        if len(self.ids) > MOST:
            raise BadRequest(f"{len(self.ids)} documents; the limit of a request is {MOST}")
        self._check_fields()
        update: Row = {
            "add": list(checked_tags(self.add)),
            "remove": list(checked_tags(self.remove)),
            "titles": [check_name("title", title, 500) for title in self.titles],
        }
        if self.action == "label" and not update["add"] + update["remove"]:
            raise BadRequest("nothing to change: send add, remove or both, lists of labels")
        if both := set(update["add"]) & set(update["remove"]):
            raise BadRequest(f"the label {min(both)!r} is in add and in remove")
        if not all(update["titles"]):
            raise BadRequest("a title is empty: leave out the documents that keep theirs")
        return self.model_copy(update=update)

    def _check_fields(self) -> None:
        belong = {"add": "label", "remove": "label", "titles": "rename"}
        for name, action in belong.items():
            if getattr(self, name) and action != self.action:
                raise BadRequest(f"{name} does not go with {self.action}: it is for {action}")
        if self.action == "rename" and len(self.titles) != len(self.ids):
            raise BadRequest(f"{len(self.ids)} ids and {len(self.titles)} titles: send one each")
        if len(set(self.ids)) < len(self.ids):
            raise BadRequest("an id is there twice")


class MetadataChange(BaseModel):
    """Metadata to change, of the documents with these ids or else of all that the address names."""

    model_config = ConfigDict(extra="forbid")

    metadata: dict[str, Any] = Field(description="Values by key; null takes one away")
    ids: list[DocumentId] | None = Field(None, min_length=1, max_length=100_000)
    tenant_id: str | None = None


@router.post(
    "/documents/metadata", summary="Change the metadata of many documents",
    dependencies=[KNOWN_PARAMETERS],
)  # fmt: skip
async def metadata(caller: CurrentCaller, wanted: Narrowed, asked: MetadataChange) -> Row:
    """Merge `metadata` into that of documents: all of them or none.

    They are those of `ids`, those that the filters of GET /v1/documents leave, or both.
    """
    caller, patch = caller.for_tenant(asked.tenant_id), checked_changes(asked.metadata)
    if not patch:
        raise BadRequest("metadata is empty: name the keys to change")
    if asked.ids is None and wanted == DocumentFilter():
        raise BadRequest("no documents are named: send ids, or filters in the address")
    library = caller.library
    if asked.ids is not None and caller.edits is not None:
        await must_change(library, *asked.ids)
    edited = await library.change(partial(
        edit_metadata, patch=patch, tenant=library.tenant, filters=wanted, ids=asked.ids,
        edits=caller.edits,
    ))  # fmt: skip
    caller.changed(f"metadata of {edited.changed} documents" if edited.changed else "")
    return {"matched": edited.matched, "changed": edited.changed}


@router.post("/documents/batch", summary="Change many documents")
async def batch(caller: CurrentCaller, batch: Batch) -> Row:
    """Each document is changed as a whole or not at all, whatever becomes of the others.

    `documents` has the error of each, null where it was changed; `runs` those that read them again.
    """
    caller, asked = caller.for_tenant(batch.tenant_id), batch.checked()
    library = caller.library
    if asked.action == "delete":
        report = await delete_documents(library, asked.ids)
    elif asked.action == "label":
        report = await label_documents(library, asked.ids, asked.add, asked.remove)
    elif asked.action == "rename":
        titles = dict(zip(asked.ids, asked.titles, strict=True))
        report = await rename_documents(library, titles)
    else:
        web_imports = caller.services.settings.web_imports
        report = await reread_documents(library, asked.ids, web_imports)
        if report.runs:
            caller.services.on_run_created()
    caller.changed(f"{asked.action} of {report.changed} documents" if report.changed else "")
    return report_json(report)


def report_json(report: Report) -> Row:
    """``report`` as it is told."""
    failed = sum(error is not None for error in report.errors.values())
    return {
        "done": len(report.errors) - failed,
        "failed": failed,
        "documents": [{"id": n, "error": error} for n, error in report.errors.items()],
        "runs": report.runs,
    }
